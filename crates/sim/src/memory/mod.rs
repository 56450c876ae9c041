//! Memory beyond the SM: interconnect, L2 slices, DRAM channels. Timing only: data lives in
//! `image::GlobalMemory`.
//!
//! [`system::MemorySystem`] is what the rest of the GPU talks to. [`tags`] and [`mshr`] are
//! also what the SM's own caches are built from.

pub mod address_map;
pub mod channel;
pub mod clock;
pub mod dram;
pub mod inflight;
pub mod interconnect;
pub mod l2;
pub mod mshr;
pub mod packet;
pub mod simple_dram;
pub mod stats;
pub mod system;
pub mod tags;
#[cfg(test)]
mod testing;
pub mod wake;
