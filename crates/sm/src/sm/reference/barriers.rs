//! Barriers: warps wait at one until as many threads of their block have come as take part.

use super::Sm;
use super::barrier::{Arrival, BarrierState};
use super::blocks::Block;
use crate::exec::state::{Barrier, LANES, Lanes};
use crate::sm::launch::Launched;
use crate::time::Cycle;

/// Barriers that a block has by number. It has two sets, so that those of two iterations can be under way.
pub(super) const BARRIERS: usize = 16;

impl Sm {
    /// Lanes of a warp have executed a barrier.
    pub(super) fn arrive_at_barrier(
        &mut self,
        slot: u16,
        executed: u32,
        barrier: Barrier,
        now: Cycle,
        launched: &Launched,
    ) {
        if self.pools {
            return self.arrive_pooled(slot, executed, barrier, now, launched);
        }
        let group = self.groups.get(slot);
        let threads = self.model.barrier_threads(slot, group, &self.threads);
        let warp = &mut self.warps[usize::from(slot)];
        let block = warp.block;
        if !barrier.arrive {
            warp.waits.barrier = true;
            warp.phase_ended = now;
            self.policy.waits(warp.place, block, now);
        }
        let lanes = self.groups.get(slot).lanes.clone();
        let arrival = Arrival {
            slot,
            lanes: &lanes,
            executed,
            threads,
            barrier,
        };
        self.arrive(
            block,
            self.barrier_set(block, slot),
            &arrival,
            now,
            launched,
        );
    }

    /// A warp of a pool arrives at the barrier of each of its blocks.
    fn arrive_pooled(
        &mut self,
        slot: u16,
        executed: u32,
        barrier: Barrier,
        now: Cycle,
        launched: &Launched,
    ) {
        let Some(pool) = self.model.pool() else {
            return;
        };
        let group = self.groups.get(slot);
        let (arriving, lanes) = (
            pool.barrier_lanes(slot, executed, group),
            group.lanes.clone(),
        );
        for (block, part) in self.blocks_of(&lanes, arriving) {
            if let Some(pool) = self.model.pool().filter(|_| !barrier.arrive) {
                pool.barrier(slot, block, barrier.id, part);
            }
            let arrival = Arrival {
                slot,
                lanes: &lanes,
                executed: executed & part,
                threads: part.count_ones(),
                barrier,
            };
            self.arrive(block, 0, &arrival, now, launched);
        }
    }

    fn arrive(
        &mut self,
        number: u16,
        set: usize,
        arrival: &Arrival,
        now: Cycle,
        launched: &Launched,
    ) {
        let takers = self.barrier_takers(number, set);
        let Some(block) = &mut self.blocks[usize::from(number)] else {
            return;
        };
        let id = usize::from(arrival.barrier.id) % BARRIERS;
        let state = &mut block.barriers[set * BARRIERS + id];
        state.arrive(arrival, &self.threads);
        if let Some(opened) = takers.and_then(|takers| state.open(takers)) {
            self.open_barrier(number, id, &opened, now, launched);
        }
    }

    /// Threads of a block have exited, or gone on to another iteration: some of its barriers may open.
    pub(super) fn recheck_barriers(&mut self, number: u16, now: Cycle, launched: &Launched) {
        let at = |block: &Option<Block>, i: usize| {
            block.as_ref().is_some_and(|b| !b.barriers[i].is_empty())
        };
        for set in 0..2 {
            let Some(takers) = self.barrier_takers(number, set) else {
                continue;
            };
            for id in 0..BARRIERS {
                let i = set * BARRIERS + id;
                if !at(&self.blocks[usize::from(number)], i) {
                    continue;
                }
                let block = self.blocks[usize::from(number)].as_mut();
                if let Some(opened) = block.and_then(|block| block.barriers[i].open(takers)) {
                    self.open_barrier(number, id, &opened, now, launched);
                }
            }
        }
    }

    /// A barrier opens: results are written, and the warps that waited go on.
    fn open_barrier(
        &mut self,
        block: u16,
        id: usize,
        opened: &BarrierState,
        now: Cycle,
        launched: &Launched,
    ) {
        for reduction in &opened.reductions {
            let value = opened.result(reduction.op);
            for lane in (0..LANES).filter(|lane| reduction.mask >> lane & 1 != 0) {
                let (lanes, register) = (&reduction.lanes, reduction.register);
                launched
                    .code
                    .write_register(lanes, register, lane, value, &mut self.threads);
            }
        }
        if let Some(pool) = self.model.pool() {
            return pool.released(block, id as u8, &mut self.groups);
        }
        for slot in &opened.waiting {
            self.warps[usize::from(*slot)].waits.barrier = false;
            self.tell_release(*slot);
            self.settle(*slot);
        }
        let mut places = opened
            .waiting
            .iter()
            .map(|slot| self.layout.place_of(*slot));
        self.policy.released(block, &mut places);
        self.end_phase(block, &opened.waiting, now);
    }

    /// How many threads a barrier of a set takes that does not say so itself; none while it may not open.
    fn barrier_takers(&self, number: u16, set: usize) -> Option<u32> {
        let block = self.blocks[usize::from(number)].as_ref()?;
        let live = |home: u16| self.threads.warps[usize::from(home)].live.count_ones();
        let homes = block.arrival.homes.clone();
        let Some(turns) = &block.iterations else {
            let said = self.model.barrier_takers(number);
            return Some(said.unwrap_or_else(|| homes.map(live).sum()));
        };
        // It is for the warps that are still in its iteration, and none of the next opens while one is left there.
        let lowest = turns.lowest();
        let those = homes
            .zip(0..)
            .filter(|(_, warp)| turns.runs_in(*warp, lowest));
        (lowest % 2 == set as u64).then(|| those.map(|(home, _)| live(home)).sum())
    }

    /// The set of barriers that a warp arrives at.
    fn barrier_set(&self, number: u16, slot: u16) -> usize {
        let block = self.blocks[usize::from(number)].as_ref();
        let turns =
            block.and_then(|block| Some((block.arrival.homes.start, block.iterations.as_ref()?)));
        turns.map_or(0, |(first, turns)| {
            let warp = self.groups.get(slot).first_home().saturating_sub(first);
            (turns.iteration(warp) % 2) as usize
        })
    }

    /// The blocks of the threads on these lanes, with the lanes of each.
    pub(super) fn blocks_of(&self, lanes: &Lanes, mask: u32) -> Vec<(u16, u32)> {
        let mut blocks: Vec<(u16, u32)> = Vec::new();
        lanes.each_home(mask, |home, part| {
            let block = self.threads.warps[usize::from(home)].block;
            match blocks.iter_mut().find(|(other, _)| *other == block) {
                Some((_, all)) => *all |= part,
                None => blocks.push((block, part)),
            }
        });
        blocks
    }
}
