//! Resident blocks: who takes part in a barrier and when it opens, and when a block is done.

use crate::divergence::BlockArrival;
use crate::exec::state::{Barrier, Lanes, Threads};
use warpsim_ptx::isa::BoolOp;
use warpsim_ptx::kernel::{Pc, RegId};

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
    /// Slots of warps that have exited since the block's last barrier.
    pub exits: Vec<u16>,
    /// In a pool of warps: threads it came with, and those that have left.
    pub threads: u32,
    /// Threads that have exited and left.
    pub gone: u32,
    /// As far as they have been used: many kernels have none, and blocks come often.
    barriers: Vec<BarrierState>,
}

#[derive(Debug, Default)]
struct BarrierState {
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

impl ResidentBlock {
    /// A block that has just come.
    pub fn new(arrival: BlockArrival, number: u64) -> ResidentBlock {
        let warps = arrival.slots().count() as u32;
        ResidentBlock {
            arrival,
            number,
            retired: 0,
            warps,
            exits: Vec::new(),
            threads: 0,
            gone: 0,
            barriers: Vec::new(),
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

    /// A group has arrived; says what opens. Barriers wait for `takers` threads, or for all
    /// that live.
    pub fn arrive(
        &mut self,
        arrival: Arrival,
        takers: Option<u32>,
        threads: &Threads,
    ) -> Option<Release> {
        let live = takers.unwrap_or_else(|| self.live_threads(threads));
        let id = arrival.barrier.id as usize % BARRIERS;
        if self.barriers.len() <= id {
            self.barriers.resize_with(id + 1, BarrierState::default);
        }
        let state = &mut self.barriers[id];
        state.arrived += arrival.threads;
        state.expected = arrival.barrier.count;
        if state.expected.is_some() {
            state.arrived += state.lacking(&arrival, threads);
        }
        if !arrival.barrier.arrive {
            state.waiting.push((arrival.slot, arrival.pc));
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
        state.open(id, live)
    }

    /// Threads have exited, which may open a barrier; calls `f` for each that does.
    pub fn recheck(&mut self, takers: Option<u32>, threads: &Threads, mut f: impl FnMut(Release)) {
        if self.barriers.iter().all(|b| b.arrived == 0) {
            return;
        }
        let live = takers.unwrap_or_else(|| self.live_threads(threads));
        for (id, state) in self.barriers.iter_mut().enumerate() {
            if let Some(release) = state.open(id, live) {
                f(release);
            }
        }
    }

    /// Who has arrived at a barrier and how many threads it takes.
    pub fn arrivals(&self, id: u8, threads: &Threads) -> (u32, u32) {
        let live = self.live_threads(threads);
        let state = self.barriers.get(id as usize);
        state.map_or((0, live), |b| (b.arrived, b.expected.unwrap_or(live)))
    }

    /// The barrier that a warp waits at.
    pub fn waits_at(
        &self,
        slot: u16,
        takers: Option<u32>,
        threads: &Threads,
    ) -> Option<BarrierWait> {
        let live = takers.unwrap_or_else(|| self.live_threads(threads));
        let mut all = self.barriers.iter().enumerate();
        all.find_map(|(id, b)| {
            let (_, pc) = b.waiting.iter().find(|w| w.0 == slot)?;
            Some(BarrierWait {
                id,
                pc: *pc,
                arrived: b.arrived,
                expected: b.expected.unwrap_or(live),
            })
        })
    }
}

impl BarrierState {
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

    /// Opens if everybody is here.
    fn open(&mut self, id: usize, live: u32) -> Option<Release> {
        if self.arrived == 0 || self.arrived < self.expected.unwrap_or(live) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::state::HomeWarp;

    /// A block of two warps with 32 and 16 threads.
    fn block() -> (ResidentBlock, Threads) {
        let warp = |live| HomeWarp {
            live,
            ..HomeWarp::default()
        };
        let threads = Threads {
            warps: vec![warp(u32::MAX), warp(0xffff)],
            ..Threads::default()
        };
        let arrival = BlockArrival {
            block: 0,
            homes: 0..2,
            slices: 1,
            domains: 1,
            schedulers: 1,
        };
        (ResidentBlock::new(arrival, 0), threads)
    }

    /// Whether a barrier for 64 threads opens when these come.
    fn opens(block: &mut ResidentBlock, threads: &Threads, lanes: &Lanes, executed: u32) -> bool {
        let arrival = Arrival {
            slot: 0,
            lanes,
            executed,
            threads: executed.count_ones(),
            pc: 7,
            barrier: Barrier {
                id: 3,
                count: Some(64),
                arrive: false,
                reduction: None,
            },
        };
        block.arrive(arrival, None, threads).is_some()
    }

    #[test]
    fn a_short_warp_counts_whole() {
        let (mut block, threads) = block();
        assert!(!opens(&mut block, &threads, &Lanes::Static(1), 0xffff));
        let wait = block.waits_at(0, None, &threads).unwrap();
        assert_eq!(
            (wait.id, wait.pc, wait.arrived, wait.expected),
            (3, 7, 32, 64)
        );
        assert!(opens(&mut block, &threads, &Lanes::Static(0), u32::MAX));
        assert!(block.waits_at(0, None, &threads).is_none());
    }

    #[test]
    fn a_short_warp_that_comes_in_parts_counts_whole_with_its_last() {
        let (mut block, threads) = block();
        assert!(!opens(&mut block, &threads, &Lanes::Static(0), u32::MAX));
        assert!(!opens(&mut block, &threads, &Lanes::Static(1), 0x00ff));
        assert!(opens(&mut block, &threads, &Lanes::Static(1), 0xff00));
    }

    #[test]
    fn groups_of_several_warps_count_for_each() {
        let (mut block, threads) = block();
        let mixed = Lanes::Gathered(Box::new(std::array::from_fn(|k| (k < 16).into())));
        assert!(!opens(&mut block, &threads, &mixed, 0xffff_0000));
        assert!(!opens(&mut block, &threads, &mixed, 0x0000_ffff));
        assert!(opens(&mut block, &threads, &Lanes::Static(0), 0xffff));
    }
}
