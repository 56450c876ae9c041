//! What is kept of runs: records under keys, in a folder that several machines' results can be merged into.

pub(crate) mod key;
pub mod merge;
pub mod record;
pub(crate) mod seal;
pub mod store;
