//! What happens to the warps of a gang at once: their instruction is complete, they come to a barrier, and the barrier opens.
//! Each warp comes to what it would come to if they changed one by one, and slices in lockstep (`warps/lockstep`) stay so.

use super::Residents;
use super::ownership::BarrierAt;
use super::ownership::static_warps::note_arrival;
use super::plan::waits_for_data;
use crate::place::{Place, each};
use crate::schedule::Together;
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::Launched;
use crate::sm::memory::MemoryEvent;
use crate::sm::warps::Hold;
use warpsim_ptx::kernel::Pc;

impl Residents {
    /// An instruction of a gang is complete: its warps may go on that have [waited for it](Residents::complete).
    #[inline]
    pub fn complete_gang(&mut self, gang: Together, facts: &OpFacts, launched: &Launched) {
        if self.books.watch.hears_details() {
            let slots = self.warps.slots_of(gang);
            slots.for_each(|slot| self.tell_written(slot, facts));
        }
        let Residents { warps, books, .. } = self;
        if warps.gang_completed(gang, facts, &launched.facts, books) {
            self.settle_gang(gang);
        }
    }

    /// An instruction of a gang is no longer in flight: those of its warps that wait for that may go on.
    #[inline]
    fn settle_gang(&mut self, gang: Together) {
        let (warps, index) = (&self.warps, gang.index());
        let waits = |leader: &usize| warps.domain(*leader).going_on() >> index & 1 == 0;
        let waiting = each(warps.leaders())
            .filter(waits)
            .fold(0, |all, leader| all | warps.members(leader))
            & gang.domains();
        if waiting != 0 {
            self.settle_these(waiting, index);
        }
    }

    /// An instruction is no longer in flight of the warps at this index in these domains, a bit each, which may have waited for
    /// that.
    #[inline(never)]
    fn settle_these(&mut self, domains: u64, index: u8) {
        let finished = domains & self.warps.finished_at(index);
        self.warps.check_leaving_in(finished, index);
        for domain in each(domains & !finished) {
            let domain = domain as u8;
            let slot = self.warps.slot_at(Place { domain, index });
            if self.warps.is_quiet(slot) {
                self.settle_quiet(slot, self.warps.is_held(slot));
            } else if !self.fences_wait_for_stores && self.warps.is_held(slot) {
                self.leave_fence(slot);
            }
        }
    }

    /// If several warps of a gang have loaded something in one access, or stored, as `event` and the first of
    /// the events that follow it say: it is complete for all of them. Returns how many of those that
    /// follow are theirs.
    pub fn heard_by_gang(
        &mut self,
        event: MemoryEvent,
        following: &[MemoryEvent],
        launched: &Launched,
    ) -> Option<usize> {
        let (slots, pc) = match event {
            MemoryEvent::Loaded { slots, pc } => (slots, Some(pc)),
            MemoryEvent::Stored { slots } => (slots, None),
            _ => return None,
        };
        let warps = &self.warps;
        let mut gang = warps.gang_of(slots)?;
        let mut others = 0;
        if gang.len() < warps.layout().domains() {
            for event in following {
                let slots = match (*event, pc) {
                    (MemoryEvent::Loaded { slots, pc: its }, Some(pc)) if its == pc => slots,
                    (MemoryEvent::Stored { slots }, None) => slots,
                    _ => break,
                };
                let more = warps.gang_of(slots).and_then(|more| gang.with(more));
                let Some(more) = more else {
                    break;
                };
                (gang, others) = (more, others + 1);
            }
        }
        (gang.len() > 1 && self.hear(gang, pc, launched)).then_some(others)
    }

    /// The warps of a gang have loaded what the instruction at `pc` asked for, or stored. Says whether that
    /// can be heard for all at once.
    #[inline]
    fn hear(&mut self, gang: Together, pc: Option<Pc>, launched: &Launched) -> bool {
        match pc.map(|pc| &launched.facts[pc as usize]) {
            None => {
                let Residents { warps, books, .. } = self;
                if warps.gang_store_sent(gang, &launched.facts, books) {
                    self.settle_gang(gang);
                }
            }
            Some(facts) if facts.traffic == Traffic::Copy => return false,
            Some(facts) => self.loaded_by_gang(gang, facts, launched),
        }
        true
    }

    fn loaded_by_gang(&mut self, gang: Together, facts: &OpFacts, launched: &Launched) {
        if !self.books.hears_memory() {
            return self.complete_gang(gang, facts, launched);
        }
        let waiting = |r: &Residents| {
            let waits = |place: Place| u64::from(waits_for_data(&r.warps, place)) << place.domain;
            gang.iter().fold(0, |all, place| all | waits(place))
        };
        let waited = waiting(self);
        self.complete_gang(gang, facts, launched);
        let ready = waited & !waiting(self);
        if ready != 0
            && let Some(plan) = self.books.policy.plan()
        {
            let those = gang.iter().filter(|place| ready >> place.domain & 1 != 0);
            those.for_each(|place| plan.made_ready(place));
        }
    }

    /// The warps of a gang have come to a barrier that asks nothing else of them.
    pub fn gang_at_barrier(&mut self, gang: Together, at: BarrierAt, launched: &Launched) {
        let slots = self.warps.slots_of(gang);
        self.books.stats.counters.barriers += gang.len() as u64;
        if !self.groups.advance_those(slots.clone(), at.pc + 1) {
            for slot in slots.clone() {
                self.go_on(slot, at.pc + 1);
                self.follow(launched);
            }
        }
        if !at.barrier.arrive {
            self.warps
                .hold_gang(gang, Hold::Barrier, true, &mut self.books);
        }
        if at.barrier.count.is_none() && !at.barrier.arrive {
            return self.gang_arrives(gang, at, launched);
        }
        for slot in slots {
            let lanes = self.groups.get(slot).mask;
            note_arrival(self, slot, lanes, at, launched);
        }
    }

    /// The warps of a gang have come to a barrier for all threads of their block, and are held there. It may
    /// open with the last of them: before, their own threads are missing.
    fn gang_arrives(&mut self, gang: Together, at: BarrierAt, launched: &Launched) {
        let BarrierAt { barrier, pc, now } = at;
        let slots = self.warps.slots_of(gang);
        let first = self.warps.slot_at(gang.leader());
        let block = self.warps.warp(first).block;
        self.warps.touch_all(&mut self.books); // as where one arrives
        let mut threads = 0;
        for slot in slots.clone() {
            let group = self.groups.get(slot);
            threads += self.model.barrier_threads(slot, group, &self.threads);
            self.warps.warp_mut(slot).phase_ended = now;
            self.books.policy.waits(self.warps.place(slot), block, now);
        }
        let set = self.barrier_set(block, first);
        let takers = self.barrier_takers(block, set);
        let Some(resident) = &mut self.blocks.slots[block as usize] else {
            return;
        };
        let waiting = slots.map(|slot| (slot, pc));
        let release = resident.arrive_together(barrier.id, waiting, threads, set, takers);
        if let Some(release) = release {
            self.release_barrier(block, release, now, launched);
        }
    }

    /// A barrier has opened: the warps of a gang that waited there go on.
    pub(super) fn let_gang_go(&mut self, what: Hold, gang: Together) {
        self.warps.hold_gang(gang, what, false, &mut self.books);
        self.tell_plan_of_release(gang);
        self.settle_gang(gang);
    }
}
