//! A barrier of a block: which threads have come, when it opens, and what it gives to them then.

use crate::exec::state::{Barrier, LANES, Lanes, Threads};
use warpsim_ptx::isa::BoolOp;
use warpsim_ptx::kernel::RegId;

/// A `bar.red` whose result is written when the barrier opens.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    pub lanes: Lanes,
    pub mask: u32,
    pub register: RegId,
    pub op: BoolOp,
}

/// A barrier of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct BarrierState {
    /// Threads that have come.
    arrived: u32,
    /// Threads that it takes, where the instruction says so.
    expected: Option<u32>,
    /// Threads that have come, by home warp, where the instruction says how many it takes.
    by_home: Vec<(u16, u32)>,
    /// Warps that wait.
    pub waiting: Vec<u16>,
    pub reductions: Vec<Reduction>,
    yes: u32,
    no: u32,
}

/// Some lanes of a warp that have executed a barrier.
pub(super) struct Arrival<'a> {
    pub slot: u16,
    pub lanes: &'a Lanes,
    pub executed: u32,
    /// Threads that the arrival stands for.
    pub threads: u32,
    pub barrier: Barrier,
}

impl BarrierState {
    pub fn is_empty(&self) -> bool {
        self.arrived == 0
    }

    pub fn arrive(&mut self, arrival: &Arrival, threads: &Threads) {
        let barrier = &arrival.barrier;
        self.arrived += arrival.threads;
        self.expected = barrier.count;
        if self.expected.is_some() {
            self.arrived += self.lacking(arrival, threads);
        }
        if !barrier.arrive {
            self.waiting.push(arrival.slot);
        }
        if let Some((op, yes, register)) = barrier.reduction {
            self.yes += (yes & arrival.executed).count_ones();
            self.no += (!yes & arrival.executed).count_ones();
            self.reductions.push(Reduction {
                lanes: arrival.lanes.clone(),
                mask: arrival.executed,
                register,
                op,
            });
        }
    }

    /// A barrier that says how many threads it takes counts whole warps: the threads that a warp lacks count as soon as
    /// all that it has are here.
    fn lacking(&mut self, arrival: &Arrival, threads: &Threads) -> u32 {
        let mut lacking = 0;
        let mut came = |home: u16, count: u32| {
            let at = self.by_home.iter().position(|(other, _)| *other == home);
            let at = at.unwrap_or_else(|| {
                self.by_home.push((home, 0));
                self.by_home.len() - 1
            });
            self.by_home[at].1 += count;
            let live = threads.warps[usize::from(home)].live;
            if self.by_home[at].1 == live.count_ones() {
                lacking += live.count_zeros();
            }
        };
        match arrival.lanes {
            Lanes::Static(home) => came(*home, arrival.threads),
            Lanes::Gathered(homes) => (0..LANES)
                .filter(|lane| arrival.executed >> lane & 1 != 0)
                .for_each(|lane| came(homes[lane], 1)),
        }
        lacking
    }

    /// Opens, if as many threads have come as it takes: `takers`, where the instruction does not say.
    pub fn open(&mut self, takers: u32) -> Option<BarrierState> {
        let opens = self.arrived > 0 && self.arrived >= self.expected.unwrap_or(takers);
        opens.then(|| std::mem::take(self))
    }

    /// What a `bar.red` gives to its threads.
    pub fn result(&self, op: BoolOp) -> u64 {
        match op {
            BoolOp::And => u64::from(self.no == 0),
            BoolOp::Or => u64::from(self.yes != 0),
            BoolOp::Xor => u64::from(self.yes & 1),
            BoolOp::Popc => u64::from(self.yes),
        }
    }
}
