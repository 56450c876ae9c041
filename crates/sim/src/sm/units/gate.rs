//! Gates: whether the lanes of a pipeline are on.

use crate::time::Cycle;
use warpsim_ptx::isa::Pipe;

/// Asked before an instruction enters a pipeline.
///
/// # Contract
///
/// Each pipeline of the SM has an integer and a floating-point side, which are gated apart. An
/// instruction enters only in a cycle in which its side is on; a gate that is asked for one that
/// is off may begin to wake it up. Nothing is asked while nobody wants to enter: what a gate does
/// by itself as time passes, it finds out when it is asked again.
pub trait Gate: Send {
    /// The first cycle at or after `now` in which that side of a pipeline is on.
    fn on_at(&mut self, pipeline: usize, side: Pipe, now: Cycle) -> Cycle;
}
