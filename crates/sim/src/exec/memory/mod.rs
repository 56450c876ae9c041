//! Global memory as programs see it: the one image, and what one SM has stored in a quantum.

pub mod image;
pub mod store_buffer;
