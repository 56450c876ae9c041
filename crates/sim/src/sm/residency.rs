//! Blocks coming and leaving, barriers opening, warps retiring.

use super::*;

impl Sm {
    /// Blocks whose time has come.
    pub(super) fn take_arrivals(&mut self, now: u64, launched: &Launched) {
        while let Some(&(at, number)) = self.arrivals.front() {
            if at.get() > now {
                break;
            }
            self.arrivals.pop_front();
            self.touch_all();
            self.count_active(now);
            self.start_block(number, now, launched);
        }
    }

    #[inline(never)]
    pub(super) fn start_block(&mut self, number: u64, now: u64, launched: &Launched) {
        let free = self.blocks.iter().position(Option::is_none);
        let block = free.expect("the dispatcher sends a block only where there is room") as u16;
        let warps = launched.warps_per_block() as u16;
        let first = block * warps;
        self.threads
            .start_block(block, first, number, &launched.grid, &launched.code);
        let arrival = BlockArrival {
            block,
            homes: first..first + warps,
            slices: self.slices,
            domains: self.domains.len() as u16,
            schedulers: self.schedulers,
        };
        self.model
            .launched(&arrival, &self.threads, &mut self.groups);
        if self.pools {
            let mut block = ResidentBlock::new(arrival, number);
            block.threads = block.live_threads(&self.threads);
            let index = block.arrival.block as usize;
            self.blocks[index] = Some(block);
            return self.follow_groups(launched);
        }
        for (slot, home, slice) in arrival.slots() {
            let place = self.place(slot);
            self.slots[slot as usize] = Slot::new(place, block, now);
            let domain = &mut self.domains[place.domain as usize];
            domain.clear_warp(place.index);
            domain.resident |= 1 << place.index;
            self.policy.launched(place, self.next_age, block);
            self.next_age += 1;
            let event = WarpEvent::Launched {
                block: number,
                warp: (home - first) * self.slices + slice,
            };
            self.tell(now, slot, event);
        }
        self.blocks[block as usize] = Some(ResidentBlock::new(arrival, number));
        self.follow_groups(launched);
    }

    /// Lets the warps of an opened barrier go.
    pub(super) fn release_barrier(
        &mut self,
        block: u16,
        release: Release,
        now: u64,
        launched: &Launched,
    ) {
        if let Some(pool) = self.model.pool() {
            pool.released(block, release.id, &mut self.groups);
        } else {
            for slot in &release.slots {
                self.tell(now, *slot, WarpEvent::Released);
                self.let_go(Hold::Barrier, *slot);
            }
        }
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
        if self.pools {
            return; // its slots have other warps now
        }
        self.touch_all(); // as on arrival
        let slots = &self.slots;
        let mut warps = release.slots.iter().map(|&slot| slots[slot as usize].place);
        self.policy.released(block, &mut warps);
        self.end_phase(block, &release.slots, now);
    }

    /// A finished warp with nothing in flight leaves; with the last one its block does.
    pub(super) fn retire(&mut self, slot: u16, now: u64) {
        let place = self.place(slot);
        self.last_retired = now;
        self.touch_all();
        let domain = &mut self.domains[place.domain as usize];
        domain.leaving &= !(1 << place.index);
        domain.retired |= 1 << place.index;
        self.policy.finished(place);
        self.tell(now, slot, WarpEvent::Retired);
        let index = self.slots[slot as usize].block as usize;
        let Some(block) = &mut self.blocks[index] else {
            return;
        };
        block.retired += 1;
        if block.retired < block.warps {
            return;
        }
        self.end_phase(index as u16, &[], now);
        self.count_active(now + 1);
        let block = self.blocks[index].take().expect("looked at above");
        for (slot, _, _) in block.arrival.slots() {
            let place = self.place(slot);
            self.domains[place.domain as usize].clear_warp(place.index);
            self.groups.free(slot);
            self.tell(now, slot, WarpEvent::Left);
        }
        self.block_left(&block);
    }

    /// A block is done and out of its slots.
    pub(super) fn block_left(&mut self, block: &ResidentBlock) {
        self.model.left(&block.arrival);
        self.stats.counters.blocks += 1;
        self.completed += 1;
        if self.machine.gpu.flush_l1_when_idle && self.blocks.iter().all(Option::is_none) {
            self.ldst.invalidate_data();
        }
    }

    /// A finished warp leaves, once fetch notices it, when nothing of it is in flight any more.
    /// To be called whenever one of these may have become true: fetch looks nowhere else.
    pub(super) fn check_leaving(&mut self, slot: u16) {
        let Place { domain, index } = self.place(slot);
        let domain = &mut self.domains[domain as usize];
        let noticed = domain.retired >> index & 1 != 0;
        if !noticed && self.slots[slot as usize].is_settled() {
            domain.leaving |= 1 << index;
            self.stirred.fetch = true;
        }
    }
}
