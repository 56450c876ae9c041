//! Warps that belong to the SM rather than to a block (see
//! [`divergence::pool`](crate::divergence::pool)): slots are filled and emptied as warps are
//! formed and dissolve, and blocks count their threads. Phases from barrier to barrier are those
//! of static warps: there are none here.

use super::*;
use crate::exec::state::{Barrier, Lanes};
use block::Arrival;

impl Sm {
    /// Brings a slot in line with what the model put there.
    pub(super) fn follow_pooled(&mut self, slot: u16, launched: &Launched) {
        let place = self.place(slot);
        self.touch(place.domain);
        let fresh = self.groups.seen(slot);
        let (state, pc) = (self.groups.get(slot).state, self.groups.get(slot).pc);
        let resident = self.domains[place.domain as usize].resident >> place.index & 1 != 0;
        if resident && (fresh || state == GroupState::Free) {
            self.dissolve(slot, place);
        }
        if state == GroupState::Free {
            return;
        }
        if fresh {
            self.settle_in(slot, place, pc);
        }
        let domain = &mut self.domains[place.domain as usize];
        let released = domain.barrier >> place.index & 1 != 0;
        let is = |wanted| state == wanted;
        assign(&mut domain.running, place.index, is(GroupState::Running));
        assign(&mut domain.stopped, place.index, is(GroupState::Stopped));
        domain.hold(Hold::Barrier, place.index, is(GroupState::Held));
        let buffer = &mut self.slots[slot as usize].buffer;
        if is(GroupState::Running) && buffer.head() != Some(pc) {
            buffer.flush(pc);
            domain.unresolved &= !(1 << place.index);
            if self.machine.fetch.ideal {
                buffer.fill(pc, 1, launched.infos.len() as u32, 1);
            }
        }
        domain.settling &= !(1 << place.index);
        domain.settling_memory &= !(1 << place.index);
        self.update_head(slot, launched);
        if is(GroupState::Running) {
            self.policy.pooled(place, self.groups.get(slot));
            if released {
                self.tell(self.now, slot, WarpEvent::Released);
            }
        }
        if is(GroupState::Stopped) {
            self.check_settling(slot);
            self.settle(slot);
        }
    }

    /// A warp leaves its slot: its threads are elsewhere.
    fn dissolve(&mut self, slot: u16, place: Place) {
        self.domains[place.domain as usize].clear_warp(place.index);
        self.policy.finished(place);
        self.tell(self.now, slot, WarpEvent::Dissolved);
    }

    /// A warp comes to a slot. Stores that others sent from there are still on their way.
    fn settle_in(&mut self, slot: u16, place: Place, pc: Pc) {
        let group = self.groups.get(slot);
        let home = group
            .lanes
            .home(group.mask.trailing_zeros() as usize % LANES);
        let block = self.threads.warps[home as usize].block;
        let state = &mut self.slots[slot as usize];
        *state = Slot {
            stores: state.stores,
            ..Slot::new(place, block, self.now)
        };
        state.buffer.flush(pc);
        self.domains[place.domain as usize].resident |= 1 << place.index;
        self.policy.launched(place, self.next_age, block);
        self.next_age += 1;
        self.tell(self.now, slot, WarpEvent::Formed);
    }

    /// Threads of a block have exited and left; with the last one the block does.
    pub(super) fn threads_gone(&mut self, block: u16, threads: u32) {
        let index = block as usize;
        let Some(resident) = &mut self.blocks[index] else {
            return;
        };
        resident.gone += threads;
        if resident.gone < resident.threads {
            return;
        }
        self.last_retired = self.now;
        self.count_active(self.now + 1);
        if let Some(resident) = self.blocks[index].take() {
            self.block_left(&resident);
        }
    }

    /// The blocks of the threads on the lanes of `mask`, with the lanes of each.
    fn blocks_of(&self, lanes: &Lanes, mask: u32) -> Vec<(u16, u32)> {
        let mut blocks: Vec<(u16, u32)> = Vec::new();
        lanes.each_home(mask, |home, part| {
            let block = self.threads.warps[home as usize].block;
            match blocks.iter_mut().find(|b| b.0 == block) {
                Some(all) => all.1 |= part,
                None => blocks.push((block, part)),
            }
        });
        blocks
    }

    /// Threads have exited: barriers of their blocks may open.
    pub(super) fn exited_pooled(&mut self, slot: u16, now: u64, quantum: &mut Quantum) {
        let lanes = &self.groups.get(slot).lanes;
        for (block, _) in self.blocks_of(lanes, self.effect.executed) {
            self.recheck_barriers(block, now, quantum.launched);
        }
    }

    /// A group has executed a barrier: it arrives at that of each of its blocks.
    pub(super) fn arrive_pooled(
        &mut self,
        slot: u16,
        pc: Pc,
        barrier: Barrier,
        now: u64,
        quantum: &mut Quantum,
    ) {
        let group = self.groups.get(slot);
        let lanes = group.lanes.clone();
        let executed = self.effect.executed;
        let Some(pool) = self.model.pool() else {
            return;
        };
        let arriving = pool.barrier_lanes(slot, executed, group);
        let parts = self.blocks_of(&lanes, arriving);
        self.stats.counters.barriers += 1;
        let (id, waits) = (barrier.id, !barrier.arrive);
        self.tell(now, slot, WarpEvent::Barrier { id, waits });
        for (block, part) in parts {
            if let (false, Some(pool)) = (barrier.arrive, self.model.pool()) {
                pool.barrier(slot, block, barrier.id, part);
            }
            let arrival = Arrival {
                slot,
                lanes: &lanes,
                executed: executed & part,
                threads: part.count_ones(),
                pc,
                barrier,
            };
            let Some(resident) = &mut self.blocks[block as usize] else {
                continue;
            };
            if let Some(release) = resident.arrive(arrival, None, &self.threads) {
                self.release_barrier(block, release, now, quantum.launched);
            }
        }
    }
}
