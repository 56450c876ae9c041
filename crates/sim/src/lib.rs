//! The simulated machine: modules, launches, and running them on the engine.
//!
//! What it is made of has crates of its own, whose names this one hands on: [`exec`] says what instructions do, the SM when they do it,
//! [`memory`] what happens beyond the SM.

pub mod gpu;
pub mod progress;

pub use warpsim_exec as exec;
pub use warpsim_memory as memory;
pub use warpsim_memory::{replacement, time};
use warpsim_sm::sm;
pub use warpsim_sm::{
    GatedPipe, area, config, divergence, fetch, gated_pipes, mechanism, observe, occupancy, phases,
    place, power, prefetch, schedule, stats, virtual_storage,
};

#[cfg(test)]
extern crate self as warpsim_sim;

// The bench that the integration tests use, for unit tests that reach further inside.
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod bench;
