//! The time that memory takes beyond the SM: interconnect, L2 slices, DRAM channels. It holds no
//! data; what kernels see is in `exec::memory`.
//!
//! [`system::MemorySystem`] is what the rest of the GPU talks to. Behind it a request goes
//! through a `network`, an `l2` slice and perhaps `dram`. `cache` has the parts that L2
//! slices and the SM's own caches are built from. Every part follows the wake contract of
//! [`time`](crate::time).

pub(crate) mod address_map;
pub(crate) mod cache;
pub mod choices;
pub(crate) mod clock;
pub(crate) mod divide;
pub(crate) mod dram;
pub(crate) mod history;
pub(crate) mod inflight;
pub(crate) mod l2;
pub(crate) mod network;
pub mod packet;
pub(crate) mod ring;
pub(crate) mod stats;
pub mod system;
#[cfg(test)]
mod testing;
pub(crate) mod wake;
