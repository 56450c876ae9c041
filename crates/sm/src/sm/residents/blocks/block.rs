//! Resident blocks: their barriers, and when they are done.

use super::barrier::{Arrival, BarrierState, BarrierWait, Release};
use super::unevenness::Life;
use crate::divergence::BlockArrival;
use crate::exec::iterations::Iterations;
use crate::exec::state::Threads;
use warpsim_ptx::kernel::Pc;

/// Barriers of a set, of which a block has two.
const BARRIERS: usize = 16;

/// A block on an SM.
#[derive(Debug)]
pub struct ResidentBlock {
    /// Its home warps and slots.
    pub arrival: BlockArrival,
    /// Number in the grid.
    pub number: u64,
    /// Slots of warps that have exited since the block's last barrier.
    pub exits: Vec<u16>,
    /// What it came with, and what of that has left: warps, or threads where warps do not
    /// belong to blocks.
    members: u32,
    gone: u32,
    /// As far as they have been used: many kernels have none, and blocks come often.
    barriers: Vec<BarrierState>,
    /// Which logical block each of its warps runs for, if it is a virtual one.
    pub iterations: Option<Box<Iterations>>,
    /// How unevenly its warps run.
    pub life: Life,
}

impl ResidentBlock {
    /// A block that has just come, with so many members.
    pub fn new(arrival: BlockArrival, number: u64, members: u32) -> ResidentBlock {
        ResidentBlock {
            arrival,
            number,
            exits: Vec::new(),
            members,
            gone: 0,
            barriers: Vec::new(),
            iterations: None,
            life: Life::default(),
        }
    }

    /// So many of its members have left.
    pub fn leave(&mut self, members: u32) {
        self.gone += members;
    }

    /// Whether all of its members have left.
    pub fn is_empty(&self) -> bool {
        self.gone >= self.members
    }

    /// Threads that have not exited.
    pub fn live_threads(&self, threads: &Threads) -> u32 {
        self.arrival
            .homes
            .clone()
            .map(|h| threads.warps[h as usize].live.count_ones())
            .sum()
    }

    /// A group has arrived at a barrier of a set; says what opens. A barrier that does not say how
    /// many threads it is for waits for `takers`; if there are none, it does not open yet.
    pub fn arrive(
        &mut self,
        arrival: &Arrival,
        set: usize,
        takers: Option<u32>,
        threads: &Threads,
    ) -> Option<Release> {
        let (id, state) = self.barrier(arrival.barrier.id, set);
        state.arrive(arrival, threads);
        state.open(id, takers?)
    }

    /// Warps arrive together, with so many threads, at a barrier that names only its number, and wait there, each at an
    /// instruction. Returns what opens, if the barrier does.
    pub fn arrive_together(
        &mut self,
        id: u8,
        waiting: impl Iterator<Item = (u16, Pc)>,
        threads: u32,
        set: usize,
        takers: Option<u32>,
    ) -> Option<Release> {
        let (id, state) = self.barrier(id, set);
        state.arrive_together(waiting, threads);
        state.open(id, takers?)
    }

    /// A barrier of a set, by its number, and its number among all.
    fn barrier(&mut self, id: u8, set: usize) -> (usize, &mut BarrierState) {
        let id = id as usize % BARRIERS + set * BARRIERS;
        if self.barriers.len() <= id {
            self.barriers.resize_with(id + 1, BarrierState::default);
        }
        (id, &mut self.barriers[id])
    }

    /// Whether a warp waits at a barrier.
    pub fn has_arrivals(&self) -> bool {
        self.barriers.iter().any(|b| !b.is_empty())
    }

    /// Sets whose barriers have been used.
    pub fn sets(&self) -> usize {
        self.barriers.len().div_ceil(BARRIERS)
    }

    /// Barriers of a set that open now that fewer threads are to come.
    pub fn recheck(&mut self, set: usize, takers: u32) -> Vec<Release> {
        let all = self.barriers.iter_mut().enumerate();
        let of_set = all.skip(set * BARRIERS).take(BARRIERS);
        of_set.filter_map(|(id, b)| b.open(id, takers)).collect()
    }

    /// How many threads have arrived at a barrier and how many it takes.
    pub fn arrivals(&self, id: u8, takers: u32) -> (u32, u32) {
        let state = self.barriers.get(id as usize);
        state.map_or((0, takers), |b| b.count(takers))
    }

    /// The barrier that a warp waits at.
    pub fn waits_at(&self, slot: u16, takers: u32) -> Option<BarrierWait> {
        let mut all = self.barriers.iter().enumerate();
        all.find_map(|(id, b)| {
            let pc = b.waits(slot)?;
            let (arrived, expected) = b.count(takers);
            Some(BarrierWait {
                id: id % BARRIERS,
                pc,
                arrived,
                expected,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::state::HomeWarp;
    use crate::exec::state::{Barrier, Lanes};
    use crate::place::Layout;

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
            layout: Layout::new(1, 1),
        };
        (ResidentBlock::new(arrival, 0, 2), threads)
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
        block
            .arrive(&arrival, 0, Some(block.live_threads(threads)), threads)
            .is_some()
    }

    #[test]
    fn a_short_warp_counts_whole() {
        let (mut block, threads) = block();
        assert!(!opens(&mut block, &threads, &Lanes::Static(1), 0xffff));
        let wait = block.waits_at(0, 48).unwrap();
        assert_eq!(
            (wait.id, wait.pc, wait.arrived, wait.expected),
            (3, 7, 32, 64)
        );
        assert!(opens(&mut block, &threads, &Lanes::Static(0), u32::MAX));
        assert!(block.waits_at(0, 48).is_none());
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
