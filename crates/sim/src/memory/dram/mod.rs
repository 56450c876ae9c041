//! DRAM: a [`channel`] takes the requests of its L2 slices and hands them to a model of what lies
//! behind, [`gddr`] with its banks and buses or [`simple`], a latency and a bandwidth.

pub mod channel;
pub mod gddr;
pub mod simple;
