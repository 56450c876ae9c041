//! Memory as programs see it: the one image of global memory, what one SM has stored in a period,
//! and what a warp's threads have for themselves.

pub mod bytes;
pub mod image;
pub mod local;
pub mod store_buffer;
pub mod variables;
