//! Instruction semantics compared with what a real GPU computes.
//!
//! [`catalogue`] lists instruction forms, [`operands`] says on which values they run,
//! [`plan`] writes both for `host/verify.cpp`, which runs them on a GPU; [`record`] keeps
//! what came back, small enough to commit; [`simulate`] runs the same here and
//! [`compare`] compares.

pub mod catalogue;
pub mod combinations;
pub mod compare;
pub mod form;
pub mod gpu;
mod kind;
pub mod operands;
pub mod plan;
pub mod programs;
mod random;
pub mod record;
pub mod simulate;
mod ulp;
pub mod verify;
mod ways;

/// What an NVIDIA H200 computed for every form, as [`record`] keeps it.
pub const RECORDED: &str = include_str!("../results/h200.txt");

/// What it computed for random programs, as [`programs::record`] keeps it.
pub const RECORDED_PROGRAMS: &str = include_str!("../results/h200-programs.txt");
