//! The time that memory takes beyond the SM: interconnect, L2 slices, DRAM channels. It holds no
//! data; what kernels see is in `exec::memory`.
//!
//! [`system::MemorySystem`] is what the rest of the GPU talks to. Behind it a request goes
//! through a `network`, an `l2` slice and perhaps `dram`. `cache` has the parts that L2
//! slices and the SM's own caches are built from. Every part follows the wake contract of
//! [`time`](crate::time).

mod address_map;
pub mod cache;
pub mod choices;
pub mod clock;
pub mod divide;
mod dram;
mod history;
mod inflight;
mod l2;
pub mod network;
pub mod packet;
pub mod replacement;
pub mod ring;
pub mod stats;
pub mod system;
#[cfg(test)]
mod testing;
pub mod time;
mod wake;

// A replacement policy in a file of its own is the same inside this crate and outside (`docs/guide`).
extern crate self as warpsim_sim;
