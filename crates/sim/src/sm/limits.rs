//! How much of everything an SM can keep track of: sets of these are words of the host.

/// Kinds of units.
pub const MOST_KINDS: usize = 4;
/// Sets of units, each with its operand collectors.
pub const MOST_GROUPS: usize = 20;
/// Pipelines.
pub const MOST_PIPELINES: usize = 32;
