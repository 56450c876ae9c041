//! Studies: one program for all tests, a module for each subject.

mod beside;
mod browser;
mod claims;
mod common;
mod conduct;
mod damaged;
mod docs;
mod errors;
mod figures;
mod files;
mod inputs;
mod repeats;
mod reports;
mod sizes;
