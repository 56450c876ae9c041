//! What the page is given and shows: one program for all tests, a module for each subject.

mod adds_up;
mod browser;
mod common;
mod says;
mod typed;
mod window;
