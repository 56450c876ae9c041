//! Runs a kernel of machine code without timing.
//!
//! A few blocks are resident at a time and their warps take turns; so do the groups of threads into which a warp has
//! divided ([`group`]), so that threads that wait for one another end.

mod banks;
mod code;
mod gate;
mod group;
mod launch;

pub use banks::Banks;
pub use code::Code;
pub use launch::{Launch, run};
