//! The network between SMs and memory partitions: one [`crossbar`] in each direction, and the
//! [`inbox`] in which an SM finds its replies.

pub mod crossbar;
pub mod flits;
pub mod inbox;
mod lines;
mod ports;

/// Core cycles from an SM's injection to the packet's first network tick: within a cycle the
/// network steps before the SMs run.
pub const INJECTION_CYCLES: u64 = 1;

/// Core cycles from a packet's last network tick to its SM: within a cycle SMs look for packets
/// before the network steps.
pub const DELIVERY_CYCLES: u64 = 1;
