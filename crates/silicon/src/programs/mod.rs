//! Random whole programs: `generate` makes one from a seed as a [`tree`], [`emit`] writes it
//! out as PTX, [`run`] runs it on simulated machines, [`judge`] compares, [`shrink`] makes one
//! that shows a difference small, [`campaign`] does that with many, [`record`] keeps what a real
//! GPU computed.
//!
//! What a program computes does not depend on timing or on which threads run together: threads
//! share nothing without a barrier between, accumulators change by one commutative operation
//! each, warp operations name members that are known to come.

pub mod campaign;
pub mod emit;
mod generate;
pub mod judge;
mod newer;
pub mod record;
pub mod recorded;
pub mod run;
pub mod shrink;
mod storage;
mod straight;
mod together;
pub mod tree;

pub use generate::program;
pub use newer::FIRST as NEWER;
