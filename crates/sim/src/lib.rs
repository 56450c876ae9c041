//! The simulated machine.
//!
//! [`exec`] says what instructions do, `sm` when they do it, [`memory`] what happens
//! beyond the SM; `schedule`, `fetch`, `divergence` and [`power`] hold the mechanisms
//! that papers are about, one file each.

pub mod area;
pub mod config;
pub mod divergence;
pub mod exec;
pub mod fetch;
pub mod gpu;
pub mod mechanism;
pub mod memory;
pub mod observe;
pub mod occupancy;
pub mod phases;
mod place;
pub mod power;
pub mod progress;
pub mod schedule;
mod sm;
pub mod stats;
pub mod time;
pub mod virtual_storage;

// The bench that the integration tests use, for unit tests that reach further inside.
#[cfg(test)]
extern crate self as warpsim_sim;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod bench;
