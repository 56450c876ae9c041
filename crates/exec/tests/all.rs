//! What instructions do, from outside: one program for all tests, a module for each subject.

mod functional;
mod layers;
