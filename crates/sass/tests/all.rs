//! Machine code: one program for all tests, a module for each subject.

mod bench;
mod divergence;
mod faults;
mod opcodes;
mod tools;
