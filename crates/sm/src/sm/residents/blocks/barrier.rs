//! A barrier of a block: which threads have come, when it opens, what it has to say then.

use crate::exec::state::{Barrier, Lanes, Threads};
use warpsim_ptx::isa::BoolOp;
use warpsim_ptx::kernel::{Pc, RegId};

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
    /// Where the instruction stands.
    pub pc: Pc,
    /// What it says.
    pub barrier: Barrier,
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
    /// Its number.
    pub id: u8,
    /// Warps that go on.
    pub slots: Vec<u16>,
    /// Results to write, with their values.
    pub results: Vec<(Reduction, u64)>,
}

/// A barrier that has not opened, as one of its warps sees it.
pub struct BarrierWait {
    /// Its number.
    pub id: usize,
    /// The instruction at which the warp waits.
    pub pc: Pc,
    /// Threads that have arrived.
    pub arrived: u32,
    /// Threads it takes.
    pub expected: u32,
}

/// The state of a barrier.
#[derive(Debug, Default)]
pub(in crate::sm::residents) struct BarrierState {
    /// Threads that have arrived.
    arrived: u32,
    /// Threads expected, where the instruction says so.
    expected: Option<u32>,
    /// Threads that arrived so far, by home warp; kept where `expected` is given.
    parts: Vec<(u16, u32)>,
    /// Warps that wait, with the instruction at which they do.
    waiting: Vec<(u16, Pc)>,
    reductions: Vec<Reduction>,
    votes: Votes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    yes: u32,
    no: u32,
}

impl BarrierState {
    /// A group has arrived.
    pub fn arrive(&mut self, arrival: &Arrival, threads: &Threads) {
        self.arrived += arrival.threads;
        self.expected = arrival.barrier.count;
        if self.expected.is_some() {
            self.arrived += self.lacking(arrival, threads);
        }
        if !arrival.barrier.arrive {
            self.waiting.push((arrival.slot, arrival.pc));
        }
        if let Some((op, yes, register)) = arrival.barrier.reduction {
            let mask = arrival.executed;
            self.votes.yes += (yes & mask).count_ones();
            self.votes.no += (!yes & mask).count_ones();
            self.reductions.push(Reduction {
                lanes: arrival.lanes.clone(),
                mask,
                register,
                op,
            });
        }
    }

    /// Warps with so many threads have come together to a barrier that is for all threads, and wait.
    pub fn arrive_together(&mut self, waiting: impl Iterator<Item = (u16, Pc)>, threads: u32) {
        self.arrived += threads;
        self.expected = None;
        self.waiting.extend(waiting);
    }

    /// No warp has come.
    pub fn is_empty(&self) -> bool {
        self.arrived == 0
    }

    /// Threads that have come, and that it takes, where `takers` are all there are.
    pub fn count(&self, takers: u32) -> (u32, u32) {
        (self.arrived, self.expected.unwrap_or(takers))
    }

    /// The instruction at which a warp waits, if it does.
    pub fn waits(&self, slot: u16) -> Option<Pc> {
        let found = self.waiting.iter().find(|w| w.0 == slot);
        found.map(|(_, pc)| *pc)
    }

    /// A barrier with a thread count counts whole warps: threads that a warp lacks, for it is
    /// cut short by the block's end or they have exited, count as soon as the others are here.
    /// A warp may come in several groups, a group may hold threads of several warps.
    fn lacking(&mut self, arrival: &Arrival, threads: &Threads) -> u32 {
        match arrival.lanes {
            Lanes::Static(home) => self.lacking_of(*home, arrival.threads, threads),
            Lanes::Gathered(homes) => {
                let executed = |lane: &usize| arrival.executed >> lane & 1 != 0;
                (0..homes.len())
                    .filter(executed)
                    .map(|lane| self.lacking_of(homes[lane], 1, threads))
                    .sum()
            }
        }
    }

    /// Notes that so many threads of a warp have come; what it lacks if they are its last.
    fn lacking_of(&mut self, home: u16, came: u32, threads: &Threads) -> u32 {
        let at = self.parts.iter().position(|p| p.0 == home);
        let at = at.unwrap_or_else(|| {
            self.parts.push((home, 0));
            self.parts.len() - 1
        });
        self.parts[at].1 += came;
        let live = threads.warps[home as usize].live;
        if self.parts[at].1 == live.count_ones() {
            live.count_zeros()
        } else {
            0
        }
    }

    /// Opens if all that take part are here.
    pub fn open(&mut self, id: usize, takers: u32) -> Option<Release> {
        if self.arrived == 0 || self.arrived < self.expected.unwrap_or(takers) {
            return None;
        }
        let votes = std::mem::take(&mut self.votes);
        self.arrived = 0;
        self.expected = None;
        self.parts.clear();
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
            id: id as u8,
            slots: self.waiting.drain(..).map(|(slot, _)| slot).collect(),
            results,
        })
    }
}

impl BarrierWait {
    /// In words.
    pub fn describe(&self) -> String {
        let BarrierWait {
            id,
            arrived,
            expected,
            ..
        } = self;
        format!("barrier {id}: {arrived} of {expected} threads have arrived")
    }
}
