//! What a host program has: a device, arguments for kernels, buffers of elements, and whether a result is right.

pub mod args;
pub(crate) mod compare;
pub mod device;
pub(crate) mod element;
pub mod machine_code;
pub(crate) mod session;
pub mod simulated;
