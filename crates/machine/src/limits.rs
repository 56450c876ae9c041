//! How much of everything can be kept track of, whatever the machine. Sets of what is on an SM are words of the host.

/// Domains: schedulers of all slices.
pub const MOST_DOMAINS: usize = 64;
/// Kinds of units.
pub const MOST_KINDS: usize = 4;
/// Sets of units, each with its operand collectors.
pub const MOST_GROUPS: usize = 20;
/// Pipelines.
pub const MOST_PIPELINES: usize = 32;

/// Bytes of the largest request for memory.
pub const LARGEST_REQUEST: u32 = 128;
