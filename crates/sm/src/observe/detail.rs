//! What an observer hears of warps only if it [asks](super::Observer::wants) for it.

use crate::divergence::Path;
use crate::time::Cycle;
use warpsim_ptx::kernel::RegId;

/// Something about a hardware warp that only few observers want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail<'a> {
    /// What the divergence model holds for the warp from this cycle on, the path that runs first. Told
    /// when it comes, when it is formed, and when this changes; but the path that runs goes straight on with
    /// each instruction that it issues, and that is not told: it is behind the instruction that it issued last.
    Paths(&'a [Path]),
    /// The instruction that it issues in this cycle is executed by these of its active lanes alone: its guard is false
    /// in the others.
    Executed {
        /// The lanes.
        lanes: u32,
    },
    /// The value that an instruction owed to this register has come: nothing waits for it any more. The number is
    /// that in [`Kernel::registers`](warpsim_ptx::kernel::Kernel).
    Written {
        /// The register.
        register: RegId,
    },
    /// An instruction has entered its pipe in this cycle in two halves. Told at the end of the cycles that run together.
    Folded {
        /// The cycle in which the warp issued it.
        issued: Cycle,
        /// Cycles that it keeps the entry of its pipe, both halves together.
        cycles: u16,
    },
}
