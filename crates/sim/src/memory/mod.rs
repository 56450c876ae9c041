//! Memory beyond the SM: interconnect, L2 slices, DRAM channels. Timing only: data lives in
//! [`image::GlobalMemory`].

pub mod image;
pub mod packet;
pub mod store_buffer;
