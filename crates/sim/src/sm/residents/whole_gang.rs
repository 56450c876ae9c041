//! What happens to the warps of a whole gang, one in every slice, at once: an instruction of theirs
//! is complete, they come to a barrier and are let go. The same as for each of them in turn; where
//! slices are in lockstep (`warps/lockstep`) they stay so.

use super::Residents;
use super::ownership::BarrierAt;
use super::plan::waits_for_data;
use super::static_warps::note_arrival;
use crate::place::Place;
use crate::sm::facts::{OpFacts, Traffic};
use crate::sm::launch::Launched;
use crate::sm::memory::MemoryEvent;
use crate::sm::warps::Hold;

impl Residents {
    /// As [`complete`](Residents::complete), for a whole gang whose warp in the first slice is
    /// `first`.
    pub fn complete_whole_gang(&mut self, first: u16, facts: &OpFacts, launched: &Launched) {
        let Residents { warps, books, .. } = self;
        warps.whole_completed(first, facts, &launched.facts, books);
        self.settle_whole_gang(first);
    }

    fn settle_whole_gang(&mut self, first: u16) {
        let warps = &self.warps;
        if warps.alike() && warps.is_running(first) && !warps.is_held(first) {
            return; // none of them waits for that
        }
        for slot in self.warps.whole(first) {
            if self.warps.is_quiet(slot) {
                self.settle_quiet(slot);
            } else if !self.fences_wait_for_stores && self.warps.is_held(slot) {
                self.leave_fence(slot);
            }
        }
    }

    /// If all warps of a whole gang have loaded something in one access, or stored, as `event` and
    /// the first of the events that follow it say: it is complete for all of them. Returns how many
    /// of those that follow are theirs.
    pub fn heard_by_whole_gang(
        &mut self,
        event: MemoryEvent,
        following: &[MemoryEvent],
        launched: &Launched,
    ) -> Option<usize> {
        let (first, pc) = match event {
            MemoryEvent::Loaded { slot, pc } => (slot, Some(pc)),
            MemoryEvent::Stored { slot } => (slot, None),
            _ => return None,
        };
        let others = self.warps.layout().domains() - 1;
        let theirs = following.get(..others)?;
        if others == 0 || self.warps.place(first).domain != 0 {
            return None;
        }
        let of = |slot| match pc {
            Some(pc) => MemoryEvent::Loaded { slot, pc },
            None => MemoryEvent::Stored { slot },
        };
        if !(first + 1..)
            .zip(theirs)
            .all(|(slot, event)| of(slot) == *event)
        {
            return None;
        }
        match pc.map(|pc| &launched.facts[pc as usize]) {
            None => {
                let Residents { warps, books, .. } = self;
                warps.whole_store_sent(first, &launched.facts, books);
                self.settle_whole_gang(first);
            }
            Some(facts) if facts.traffic == Traffic::Copy => return None,
            Some(facts) => self.loaded_by_whole_gang(first, facts, launched),
        }
        Some(others)
    }

    fn loaded_by_whole_gang(&mut self, first: u16, facts: &OpFacts, launched: &Launched) {
        if !self.books.hears_memory() {
            return self.complete_whole_gang(first, facts, launched);
        }
        let Place { index, .. } = self.warps.place(first);
        let domains = self.warps.layout().domains() as u8;
        let places = (0..domains).map(|domain| Place { domain, index });
        let waiting = |r: &Residents| {
            let waits = |place| u64::from(waits_for_data(&r.warps, place));
            let each = || places.clone().rev().map(waits);
            match r.warps.alike() {
                true => waits(Place { domain: 0, index }).wrapping_neg(),
                false => each().fold(0, |all, waits| all << 1 | waits),
            }
        };
        let waited = waiting(self);
        self.complete_whole_gang(first, facts, launched);
        let ready = waited & !waiting(self);
        if ready != 0
            && let Some(plan) = self.books.policy.plan()
        {
            let those = places.filter(|place| ready >> place.domain & 1 != 0);
            those.for_each(|place| plan.made_ready(place));
        }
    }

    /// The warps of a whole gang have come to a barrier that asks nothing else of them.
    pub fn whole_gang_at_barrier(&mut self, first: u16, at: BarrierAt, launched: &Launched) {
        let all = self.warps.whole(first);
        self.books.stats.counters.barriers += all.len() as u64;
        for slot in all.clone() {
            self.go_on(slot, at.pc + 1);
            self.follow(launched);
        }
        if !at.barrier.arrive {
            self.warps
                .hold_whole(first, Hold::Barrier, true, &mut self.books);
        }
        for slot in all {
            let lanes = self.groups.get(slot).mask;
            note_arrival(self, slot, lanes, at, launched);
        }
    }

    /// As [`let_go`](Residents::let_go), for a whole gang.
    pub(super) fn let_whole_gang_go(&mut self, what: Hold, first: u16) {
        self.warps.hold_whole(first, what, false, &mut self.books);
        for slot in self.warps.whole(first) {
            self.settle(slot);
        }
    }
}
