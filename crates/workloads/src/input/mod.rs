//! Inputs: random numbers, graphs, arrays in files.

pub(crate) mod graph;
pub mod npy;
pub(crate) mod random;
