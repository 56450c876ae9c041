//! Pictures of a run, each with its recorder.

pub mod flow;
pub mod gangs;
pub mod page;
pub mod phases;
pub mod watts;
