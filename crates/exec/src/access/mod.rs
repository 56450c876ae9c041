//! Loads, stores and atomics in all state spaces.

mod all_lanes;
pub mod atomic;
pub(crate) mod copy;
pub(crate) mod load_store;
pub(crate) mod mbarrier;
pub(crate) mod spaces;
