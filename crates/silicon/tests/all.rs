//! What instructions compute: one program for all tests, a module for each subject.

mod combinations;
mod gangs;
mod programs;
mod silicon;
