//! Numbers from records: metrics, samples of repeats, averages over workloads, and what is derived from those.

pub(crate) mod average;
pub mod behind;
pub(crate) mod metric;
pub mod sample;
pub mod sensitivity;
pub mod sizes;
pub(crate) mod trade_off;
