//! Memory: the data that kernels see ([`image`], [`store_buffer`]), and the time it takes
//! beyond the SM (interconnect, L2 slices, DRAM channels), which holds no data.
//!
//! [`system::MemorySystem`] is what the rest of the GPU talks to. [`tags`] and [`mshr`] are
//! also what the SM's own caches are built from.

pub mod address_map;
mod arrivals;
pub mod channel;
pub mod clock;
pub(crate) mod divide;
pub mod dram;
pub mod image;
pub mod inbox;
pub mod inflight;
pub mod interconnect;
pub mod l2;
pub mod mshr;
pub mod packet;
mod ports;
pub mod simple_dram;
pub mod stats;
pub mod store_buffer;
pub mod system;
pub mod tags;
#[cfg(test)]
mod testing;
pub mod wake;
