//! Observers listen to what the pipeline does; the pipeline does not know who listens, and
//! pays a test of a null pointer when none does.

mod detail;
mod several;

pub use crate::divergence::{Path, PathKind};
pub use crate::power::lanes::Gate;
pub use detail::Detail;
pub use several::Observers;

use crate::stats::{EnergyCounters, MemoryCounters, SmCounters, WarpState};
use crate::time::Cycle;
use std::io;
use warpsim_ptx::kernel::{Kernel, Pc};

/// Something a hardware warp did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpEvent {
    /// Came with its block.
    Launched {
        /// Number of the block in the grid.
        block: u64,
        /// Number of the warp in the block.
        warp: u16,
    },
    /// From this cycle on the warp is in another state than in the cycle before. Counted from
    /// [`WarpEvent::Launched`] to the cycle of [`WarpEvent::Left`], that one included, or from
    /// [`WarpEvent::Formed`] to [`WarpEvent::Dissolved`], that cycle not included, the states
    /// are those that the statistics count.
    State(WarpState),
    /// From now on these lanes of the warp hold threads of this static warp. Told before the
    /// warp first issues, and again before it issues with other threads.
    Holds {
        /// Number of the threads' block in the grid.
        block: u64,
        /// Number of their static warp in the block.
        warp: u16,
        /// Where they are, each on its own lane.
        lanes: u32,
    },
    /// Issued an instruction.
    Issued {
        /// The instruction.
        pc: Pc,
        /// Active lanes.
        lanes: u32,
    },
    /// What the instruction that it issued asks of memory.
    Accessed {
        /// The instruction.
        pc: Pc,
        /// Accesses that its lanes' addresses became.
        transactions: u32,
        /// Cycles that the banks of shared memory take, 0 where it is not used.
        bank_cycles: u32,
    },
    /// A load was looked up in the L1 data cache. Told at the end of the cycles that run together.
    LookedUp {
        /// The instruction.
        pc: Pc,
        /// The line was there.
        hit: bool,
    },
    /// Arrived at a barrier.
    Barrier {
        /// Its number.
        id: u8,
        /// It waits until the barrier opens; `bar.arrive` does not.
        waits: bool,
    },
    /// The barrier opened.
    Released,
    /// A warp of a virtual block goes on to its next logical block.
    NextBlock {
        /// Number of the logical block in the grid.
        block: u64,
        /// Number of the warp in the block whose thread indices it takes.
        warp: u16,
    },
    /// Finished; its block may have to wait for other warps.
    Retired,
    /// Its block has left the SM, and the warp with it. This cycle was its last.
    Left,
    /// Was formed from threads of the SM, in models whose warps do not belong to a block.
    Formed,
    /// Its threads are in other warps from this cycle on, or have exited.
    Dissolved,
    /// From now on it goes together with other warps of the same 32 threads, or alone, where warps
    /// are joined into gangs.
    Ganged {
        /// The slices of the gang's warps, a bit each, its own among them; 0 when it has exited.
        slices: u8,
    },
}

/// What an observer wants to hear of an SM. What nobody wants to hear takes no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wants {
    /// Nothing that its warps do.
    #[default]
    Nothing,
    /// What its [warps](Observer::warp) do.
    Warps,
    /// That, and [details](Observer::detail) and [lanes](Observer::lanes).
    Details,
}

/// An observer.
pub trait Observer {
    /// `slot` of `sm` did something in `cycle`. An SM's cycles never go back, but SMs are up to
    /// a quantum apart.
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent);

    /// What it wants to hear of this SM, the same throughout a launch. It may hear of more: others listen, too.
    fn wants(&self, _sm: u16) -> Wants {
        Wants::Warps
    }

    /// Something about `slot` of `sm` for those that [want](Observer::wants) details. In order with what warps
    /// do, but where it says that it is told later.
    fn detail(&mut self, _cycle: Cycle, _sm: u16, _slot: u16, _detail: Detail) {}

    /// A gate of lanes is another in `cycle` than before, for those that [want](Observer::wants) details. `pipe` is
    /// a place in [`gated_pipes`](crate::gated_pipes), and `number` counts the gates of that pipe. Every gate is on when the first launch begins.
    ///
    /// It is told when power catches up, which may be late: cycles of one gate never go back, but they may lie
    /// before those of what was told of other gates and of warps. All of a launch is told before it
    /// [ends](Observer::ended).
    fn lanes(&mut self, _cycle: Cycle, _sm: u16, _pipe: u16, _number: u16, _gate: Gate) {}

    /// A launch of `kernel` begins; `files` names source files by number.
    fn launched(&mut self, _cycle: Cycle, _kernel: &Kernel, _files: &[(u32, String)]) {}

    /// The launch has ended: `cycle` is the first that does not belong to it.
    fn ended(&mut self, _cycle: Cycle) {}

    /// Cycles between two samples that it wants to hear of, if it wants any.
    fn samples_every(&self) -> Option<u64> {
        None
    }

    /// So much energy was spent from cycle `from` up to cycle `to`, by the whole machine.
    fn sample(&mut self, _from: Cycle, _to: Cycle, _spent: &EnergyCounters) {}

    /// From cycle `from` up to cycle `to` this was counted, by all SMs together and beyond them. Told with
    /// the sample of energy.
    fn counted(&mut self, _from: Cycle, _to: Cycle, _sm: &SmCounters, _memory: &MemoryCounters) {}

    /// Nothing more will come, and the run has not failed. What is returned is for the user.
    fn complete(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
}
