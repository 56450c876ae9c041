//! The streaming multiprocessor, and what it is chosen from.
//!
//! [`sm`] says when instructions happen, `exec` what they do; [`schedule`], [`fetch`], [`divergence`], [`power`] and
//! [`prefetch`] hold the mechanisms that papers are about, one file each. [`config`] reads machines with all of them.

pub mod area;
pub mod config;
pub mod divergence;
pub mod fetch;
mod fixed_list;
pub mod mechanism;
pub mod observe;
pub mod occupancy;
pub mod phases;
pub mod power;
pub mod prefetch;
pub mod schedule;
pub mod sm;
pub mod stats;
pub mod virtual_storage;

pub use sm::{GatedPipe, gated_pipes};
pub use warpsim_exec as exec;
use warpsim_machine::lanes;
pub use warpsim_machine::place;
pub use warpsim_memory as memory;
pub use warpsim_memory::{replacement, time};

// A mechanism in a file of its own is the same inside this crate and outside (`docs/guide`).
extern crate self as warpsim_sim;
