//! Resident blocks: who takes part in a barrier and when it opens, and when a block is done.

use crate::divergence::BlockArrival;
use crate::exec::state::{Barrier, Lanes, Threads};
use warpsim_ptx::isa::BoolOp;
use warpsim_ptx::kernel::RegId;

/// Barriers a block has.
pub const BARRIERS: usize = 16;

/// A block on an SM.
#[derive(Debug)]
pub struct ResidentBlock {
    /// Its home warps and slots.
    pub arrival: BlockArrival,
    /// Number in the grid.
    pub number: u64,
    /// Warps that have retired.
    pub retired: u32,
    /// Warps it came with.
    pub warps: u32,
    barriers: [BarrierState; BARRIERS],
}

#[derive(Debug, Default)]
struct BarrierState {
    /// Threads that have arrived.
    arrived: u32,
    /// Threads expected, where the instruction says so.
    expected: Option<u32>,
    waiting: Vec<u16>,
    reductions: Vec<Reduction>,
    votes: Votes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    yes: u32,
    no: u32,
}

/// A `bar.red` result to write when the barrier opens.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Threads it is for.
    pub lanes: Lanes,
    /// Lanes of them.
    pub mask: u32,
    /// Destination.
    pub register: RegId,
    op: BoolOp,
}

/// A barrier that has opened.
#[derive(Debug, Default)]
pub struct Release {
    /// Warps that go on.
    pub slots: Vec<u16>,
    /// Results to write, with their values.
    pub results: Vec<(Reduction, u64)>,
}

/// A group that has executed a barrier instruction.
pub struct Arrival<'a> {
    /// Its slot.
    pub slot: u16,
    /// Its threads.
    pub lanes: &'a Lanes,
    /// Lanes that executed.
    pub executed: u32,
    /// Threads the arrival stands for.
    pub threads: u32,
    /// The instruction.
    pub barrier: Barrier,
}

impl ResidentBlock {
    /// A block that has just come.
    pub fn new(arrival: BlockArrival, number: u64) -> ResidentBlock {
        let warps = arrival.slots().count() as u32;
        ResidentBlock {
            arrival,
            number,
            retired: 0,
            warps,
            barriers: Default::default(),
        }
    }

    /// Threads that have not exited.
    pub fn live_threads(&self, threads: &Threads) -> u32 {
        self.arrival
            .homes
            .clone()
            .map(|h| threads.warps[h as usize].live.count_ones())
            .sum()
    }

    /// A group has arrived; says what opens.
    pub fn arrive(&mut self, arrival: Arrival, threads: &Threads) -> Option<Release> {
        let live = self.live_threads(threads);
        let id = arrival.barrier.id as usize % BARRIERS;
        let state = &mut self.barriers[id];
        state.arrived += arrival.threads;
        state.expected = arrival.barrier.count;
        if !arrival.barrier.arrive {
            state.waiting.push(arrival.slot);
        }
        if let Some((op, yes, register)) = arrival.barrier.reduction {
            let mask = arrival.executed;
            state.votes.yes += (yes & mask).count_ones();
            state.votes.no += (!yes & mask).count_ones();
            state.reductions.push(Reduction {
                lanes: arrival.lanes.clone(),
                mask,
                register,
                op,
            });
        }
        state.open(live)
    }

    /// Threads have exited, which may open a barrier; calls `f` for each that does.
    pub fn recheck(&mut self, threads: &Threads, mut f: impl FnMut(Release)) {
        if self.barriers.iter().all(|b| b.arrived == 0) {
            return;
        }
        let live = self.live_threads(threads);
        for state in &mut self.barriers {
            if let Some(release) = state.open(live) {
                f(release);
            }
        }
    }

    /// The barrier that `slot` waits at: id, threads arrived, threads expected.
    pub fn barrier_of(&self, slot: u16, threads: &Threads) -> Option<(usize, u32, u32)> {
        let live = self.live_threads(threads);
        let id = self
            .barriers
            .iter()
            .position(|b| b.waiting.contains(&slot))?;
        let b = &self.barriers[id];
        Some((id, b.arrived, b.expected.unwrap_or(live)))
    }
}

impl BarrierState {
    /// Opens if everybody is here.
    fn open(&mut self, live: u32) -> Option<Release> {
        if self.arrived == 0 || self.arrived < self.expected.unwrap_or(live) {
            return None;
        }
        let votes = std::mem::take(&mut self.votes);
        self.arrived = 0;
        self.expected = None;
        let results = self.reductions.drain(..).map(|r| {
            let value = match r.op {
                BoolOp::And => (votes.no == 0) as u64,
                BoolOp::Or => (votes.yes != 0) as u64,
                BoolOp::Xor => (votes.yes & 1) as u64,
                BoolOp::Popc => votes.yes as u64,
            };
            (r, value)
        });
        let results = results.collect();
        Some(Release {
            slots: std::mem::take(&mut self.waiting),
            results,
        })
    }
}
