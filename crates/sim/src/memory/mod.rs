//! Memory: the data that kernels see ([`image`], [`store_buffer`]), and the time it takes
//! beyond the SM, which holds no data.
//!
//! [`system::MemorySystem`] is what the rest of the GPU talks to. Behind it a request goes
//! through a [`network`], an [`l2`] slice and perhaps [`dram`]. [`cache`] has the parts that L2
//! slices and the SM's own caches are built from. Every part follows the wake contract of
//! [`time`](crate::time).

pub mod address_map;
pub mod cache;
pub mod clock;
pub(crate) mod divide;
pub mod dram;
pub mod image;
pub mod inflight;
pub mod l2;
pub mod network;
pub mod packet;
pub mod stats;
pub mod store_buffer;
pub mod system;
#[cfg(test)]
mod testing;
pub mod wake;
