//! Machines as data, from outside: one program for all tests, a module for each subject.

mod alone;
