//! The time that memory takes beyond the SM: interconnect, L2 slices, DRAM channels. It holds no
//! data; what kernels see is in [`crate::exec::memory`].
//!
//! [`system::MemorySystem`] is what the rest of the GPU talks to. [`tags`] and [`mshr`] are
//! also what the SM's own caches are built from.

pub mod address_map;
mod arrivals;
pub mod channel;
pub mod clock;
pub(crate) mod divide;
pub mod dram;
pub mod inbox;
pub mod inflight;
pub mod interconnect;
pub mod l2;
pub mod mshr;
pub mod packet;
mod ports;
pub mod simple_dram;
pub mod stats;
pub mod system;
pub mod tags;
#[cfg(test)]
mod testing;
pub mod wake;
