//! What instructions do, from outside: one program for all tests, a module for each subject.

mod common;
#[path = "filetests/main.rs"]
mod filetests;
mod functional;
mod layers;
mod races;
