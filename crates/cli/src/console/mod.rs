//! What the program and its user say to each other beside results: progress, errors with exit codes,
//! interruptions, memory that is used up.

pub mod failure;
pub mod interrupt;
pub mod memory;
pub mod progress;
pub mod terminal;
