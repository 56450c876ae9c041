//! The machine from outside: one program for all tests, a module for each subject.

mod barriers;
mod blocks;
mod choices;
mod common;
mod compilers;
mod config;
mod divergence;

#[path = "filetests/main.rs"]
mod filetests;
mod floors;
mod formed_warps;
mod generated;
#[path = "keys/main.rs"]
mod keys;
mod large_kernels;
mod launches;
mod limits;
mod looking;
mod named;
mod network;
mod prefetch;
mod random_machines;
mod refusals;
mod replacement;
mod spills;
mod stalls;
mod timing;
mod unseen;
mod virtual_blocks;
mod visibility;
