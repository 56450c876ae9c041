//! Running what a study needs: one run, many side by side, a shard of them, and the timelines that are drawn.

pub(crate) mod execute;
mod queue;
pub(crate) mod recordings;
pub(crate) mod request;
pub mod runner;
pub(crate) mod shard;
pub(crate) mod subject;
pub(crate) mod timeline;
