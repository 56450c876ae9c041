//! The machine from outside: one program for all tests, a module for each subject.

mod barriers;
mod between;
mod blocks;
mod choices;
mod common;
mod compilers;
mod config;
mod divergence;

#[path = "filetests/main.rs"]
mod filetests;
mod formed_warps;
mod gangs;
mod generated;
mod guide;
#[path = "keys/main.rs"]
mod keys;
mod large_kernels;
mod launches;
mod limits;
mod looking;
mod models;
mod named;
mod network;
mod operands;
mod paths;
mod phases;
mod prefetch;
mod random_machines;
mod refusals;
mod replacement;
mod spills;
mod stalls;
mod threads;
mod timing;
mod virtual_blocks;
mod visibility;
