//! Which likely-convergence point of a branch counts.

use super::Branch;
use warpsim_machine::mechanism::OneOf;
use warpsim_ptx::kernel::Pc;

/// The rule: see [`Likely`](warpsim_ptx::kernel::Likely).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Where the smallest loop around the branch starts over.
    LoopEnd,
    /// The closest branch backwards around it, as in the paper's evaluation.
    Backward,
}

/// As a parameter of the models that have such points.
pub const POINTS: OneOf<Points> = OneOf {
    name: "points",
    words: &["loop-end", "backward"],
    meanings: &[Points::LoopEnd, Points::Backward],
    description: "where threads of a loop are likely to meet when several branches lead back to its start: there, or at the closest of those branches (the paper's rule)",
};

impl Points {
    /// The point of a branch.
    pub fn of(self, branch: &Branch) -> Pc {
        match self {
            Points::LoopEnd => branch.likely.loop_end,
            Points::Backward => branch.likely.backward,
        }
    }
}
