//! What a policy may see of warps beyond which are ready. All of it is free of cost where no policy asks.

use super::Place;
use crate::lanes::Side;
use warpsim_ptx::isa::Pipe;
use warpsim_ptx::kernel::Pc;

/// What a policy may know of the warps of a domain in a cycle, as bit sets by index.
#[derive(Clone, Copy, Default)]
pub struct Facts<'a> {
    /// Warps that have come and not finished.
    pub running: u64,
    /// Waiting at a barrier or fence, for an atomic, or asleep.
    pub waiting: u64,
    /// The next instruction reads a register owed by a global, local or texture load.
    pub long_wait: u64,
    /// The next instruction accesses memory.
    pub accesses: u64,
    /// The next instruction is in the buffer, and the warp waits for nothing but data or units.
    pub known: u64,
    /// More about each warp.
    pub warps: Option<&'a dyn Fn(u8) -> WarpInfo>,
}

impl Facts<'_> {
    /// More about a warp.
    pub fn warp(&self, index: u8) -> WarpInfo {
        self.warps.map(|warp| warp(index)).unwrap_or_default()
    }
}

/// More about a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpInfo {
    /// The instruction in its buffer that comes next, with the pipe it takes.
    pub next: Option<(Pc, Pipe)>,
    /// The pipeline of the lanes that this instruction takes, if it is one of the two.
    pub side: Option<Side>,
    /// Active lanes.
    pub lanes: u32,
    /// Instructions it has issued.
    pub instructions: u64,
}

/// A policy that looks at warps before it chooses.
pub trait Considers {
    /// Looks at the state of a domain and says which of its warps may issue now. Called in every cycle, at
    /// issue, whether or not a warp may: hardware looks at its warps in every cycle.
    fn consider(&mut self, domain: usize, facts: &Facts) -> u64;
}

/// Something that happened in the L1 data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheEvent {
    /// A load found its line.
    Hit,
    /// A load did not, and the line was asked for.
    Miss,
    /// A load did not, and the line had been asked for.
    Merged,
    /// The line that a load asked for has come.
    Fill,
    /// A line that a load had asked for was pushed out by another.
    Evicted,
}

/// A policy that wants to hear what warps do in the L1 data cache.
pub trait HearsCache {
    /// `event` happened to the line with this address; the warp at `place` loads from it, or
    /// (line come, or pushed out) had asked for it.
    fn cache(&mut self, place: Place, event: CacheEvent, line: u64);
}

/// A policy that goes by what the lanes' power is about to do.
pub trait MindsPower {
    /// In this cycle all integer pipelines, and all floating-point ones, are off and not to be
    /// woken, or not. Told before warps are looked at.
    fn blackout(&mut self, sides: [bool; 2]);

    /// Whether it wants to hear of [`sleepers`](MindsPower::sleepers).
    fn avoids_sleepers(&self) -> bool {
        false
    }

    /// These active warps of a domain would find the lanes for their next instruction off or waking up, in all
    /// pipelines that they can take. Told in every cycle that runs, before warps are looked at.
    fn sleepers(&mut self, domain: usize, warps: u64) {
        let _ = (domain, warps);
    }

    /// How long its phases are, if it has any.
    fn phase(&self) -> Option<u64> {
        None
    }

    /// A phase has started. Of the warps of the active sets that are about to use the lanes, so many
    /// have all their lanes active, and so many not. The order of the warps changes when they are
    /// next looked at.
    fn phase_starts(&mut self, full: u32, partial: u32) {
        let _ = (full, partial);
    }
}
