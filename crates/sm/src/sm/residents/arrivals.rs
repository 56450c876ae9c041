//! Blocks coming and leaving, barriers opening, warps retiring.

use super::Residents;
use super::blocks::Coming;
use super::blocks::ResidentBlock;
use super::blocks::barrier::Release;
use crate::divergence::BlockArrival;
use crate::exec::state::LANES;
use crate::observe::WarpEvent;
use crate::place::{Place, each};
use crate::sm::launch::Launched;
use crate::time::Cycle;

impl Residents {
    /// Blocks whose time has come.
    #[inline]
    pub fn take_arrivals(&mut self, now: Cycle, launched: &Launched) {
        if self.blocks.next_arrival() <= now {
            self.bring_in(now, launched);
        }
    }

    #[inline(never)]
    fn bring_in(&mut self, now: Cycle, launched: &Launched) {
        while let Some(what) = self.blocks.take_arrival(now) {
            self.warps.touch_all(&mut self.books);
            match what {
                Coming::Block(number) => {
                    self.count_active(now);
                    if self.blocks.none() {
                        self.blocks.turns.block_comes(now);
                    }
                    self.start_block(number, now, launched);
                }
                Coming::Answer { block, number } => {
                    self.answer_block(block, number, now, launched);
                }
                Coming::LastBlock => self.books.policy.blocks_left(false),
            }
        }
    }

    #[inline(never)]
    fn start_block(&mut self, number: u64, now: Cycle, launched: &Launched) {
        let free = self.blocks.slots.iter().position(Option::is_none);
        let block = free.expect("the dispatcher sends a block only where there is room") as u16;
        let warps = launched.warps_per_block() as u16;
        let first = block * warps;
        self.threads
            .start_block(block, first, number, &launched.grid, &launched.code);
        let arrival = BlockArrival {
            block,
            homes: first..first + warps,
            layout: self.warps.layout(),
        };
        self.model
            .launched(&arrival, &self.threads, &mut self.groups);
        self.ownership.start(self, arrival, number, now);
        if let Some(resident) = &mut self.blocks.slots[block as usize] {
            self.blocks.control.started(resident);
        }
        self.begin_life(block, now);
        self.follow(launched);
    }

    /// How many threads a barrier of a block's set waits for that does not say so itself; `None`
    /// while it may not open.
    pub(super) fn barrier_takers(&self, block: u16, set: usize) -> Option<u32> {
        let model = self.model.barrier_takers(block);
        let resident = self.blocks.get(block)?;
        let control = &self.blocks.control;
        control.barrier_takers(resident, set, model, &self.threads)
    }

    /// Threads of a block have exited, which may open a barrier.
    pub(super) fn recheck_barriers(&mut self, block: u16, now: Cycle, launched: &Launched) {
        let waited_for = self.blocks.get(block);
        if !waited_for.is_some_and(ResidentBlock::has_arrivals) {
            return;
        }
        let sets = waited_for.map_or(0, ResidentBlock::sets);
        for set in 0..sets {
            let Some(takers) = self.barrier_takers(block, set) else {
                continue;
            };
            let Some(resident) = &mut self.blocks.slots[block as usize] else {
                return;
            };
            for release in resident.recheck(set, takers) {
                self.release_barrier(block, release, now, launched);
            }
        }
    }

    /// Lets the warps of an opened barrier go.
    pub(super) fn release_barrier(
        &mut self,
        block: u16,
        release: Release,
        now: Cycle,
        launched: &Launched,
    ) {
        for (result, value) in &release.results {
            for lane in (0..LANES).filter(|l| result.mask >> l & 1 != 0) {
                launched.code.write_register(
                    &result.lanes,
                    result.register,
                    lane,
                    *value,
                    &mut self.threads,
                );
            }
        }
        self.ownership.release(self, block, &release, now);
    }

    /// A finished warp with nothing in flight leaves; with the last one its block does.
    pub fn retire(&mut self, slot: u16, now: Cycle) {
        debug_assert!(self.warps.is_settled(slot));
        self.blocks.last_retired = now;
        self.warps.touch_all(&mut self.books);
        self.warps.edit(slot, &mut self.books).retire();
        self.books.policy.finished(self.warps.place(slot));
        self.books.watch.tell(now, slot, WarpEvent::Retired);
        let block = self.warps.warp(slot).block;
        self.note_finished(slot, block, now);
        self.warps_left(1, block, now);
    }

    /// All warps of a home warp, by their index, retire in a cycle, where every slice has one scheduler. Fetch is told.
    /// Slices that are in lockstep (`warps/lockstep`) stay so.
    pub fn retire_gang(&mut self, index: u8, now: Cycle) {
        self.blocks.last_retired = now;
        self.warps.touch_all(&mut self.books);
        let domains = self.warps.retire_those(index);
        let layout = self.warps.layout();
        let domain = domains.trailing_zeros() as u8;
        let first = layout.slot_at(Place { domain, index });
        let block = self.warps.warp(first).block;
        for domain in each(domains).map(|domain| domain as u8) {
            let place = Place { domain, index };
            let slot = layout.slot_at(place);
            debug_assert!(self.warps.is_settled(slot));
            self.books.policy.finished(place);
            self.note_finished(slot, block, now);
        }
        self.warps_left(domains.count_ones(), block, now);
    }

    /// So many warps of a block have left.
    fn warps_left(&mut self, count: u32, block: u16, now: Cycle) {
        let blocks = &mut self.blocks;
        let Some(resident) = &mut blocks.slots[block as usize] else {
            return;
        };
        resident.leave(count);
        if !blocks.control.is_done(resident) {
            return;
        }
        self.end_phase(block, &[], now);
        self.count_active(now + 1);
        let resident = self.blocks.slots[block as usize].take();
        let resident = resident.expect("looked at above");
        self.end_life(resident.life, now);
        let cleared = self
            .warps
            .clear_rows(&resident.arrival.homes, &mut self.books);
        for (slot, _, _) in resident.arrival.slots() {
            if !cleared {
                self.warps.edit(slot, &mut self.books).clear();
            }
            self.groups.free(slot);
            self.books.watch.tell(now, slot, WarpEvent::Left);
        }
        self.block_left(&resident);
    }

    /// Threads of a block that does not own its warps have exited and left; with the last one the
    /// block does.
    pub(super) fn threads_gone(&mut self, block: u16, threads: u32) {
        let now = self.warps.now();
        let blocks = &mut self.blocks;
        let Some(resident) = &mut blocks.slots[block as usize] else {
            return;
        };
        resident.leave(threads);
        if !blocks.control.is_done(resident) {
            return;
        }
        blocks.last_retired = now;
        self.count_active(now + 1);
        let resident = self.blocks.slots[block as usize].take();
        if let Some(resident) = resident {
            self.block_left(&resident);
        }
    }

    /// A block is done and out of its slots.
    fn block_left(&mut self, block: &ResidentBlock) {
        self.model.left(&block.arrival);
        self.books.stats.counters.blocks += 1;
        self.blocks.completed += 1;
        if self.blocks.none() {
            self.emptied = true;
            self.blocks.turns.emptied(self.warps.now());
        }
    }
}
