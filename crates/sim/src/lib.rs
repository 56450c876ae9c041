//! The simulated machine.
//!
//! [`exec`] says what instructions do, `sm` when they do it, [`memory`] what happens
//! beyond the SM; `schedule`, `fetch`, `divergence`, [`power`], [`replacement`] and [`prefetch`] hold the mechanisms
//! that papers are about, one file each.

pub mod area;
pub mod config;
pub mod divergence;
pub mod fetch;
mod fixed_list;
pub mod gpu;
pub mod mechanism;
pub mod observe;
pub mod occupancy;
pub mod phases;
pub mod power;
pub mod prefetch;
pub mod progress;
pub mod schedule;
mod sm;
pub mod stats;
pub mod virtual_storage;

pub use warpsim_exec as exec;
use warpsim_machine::{lanes, place};
pub use warpsim_memory as memory;
pub use warpsim_memory::{replacement, time};

// A mechanism in a file of its own is the same inside this crate and outside (`docs/guide`).
extern crate self as warpsim_sim;

// The bench that the integration tests use, for unit tests that reach further inside.
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod bench;
