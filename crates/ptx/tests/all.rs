//! Reading PTX: one program for all tests, a module for each subject.

mod arrays;
mod common;
mod corpus;
mod damaged;
mod errors;
mod features;
mod forms;
mod inlining;
mod inspect;
mod likely;
mod lower_corpus;
mod lower_forms;
mod lowering;
mod lowering_errors;
mod mutations;
mod registers;
mod uniformity;
mod vtw;
