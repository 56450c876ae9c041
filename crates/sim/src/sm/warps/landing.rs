//! Instructions of a gang that are no longer in flight: they are complete, or, of stores, sent. Once for each
//! class of domains that hold the same, as in [`gangs`](super::gangs).

use super::WarpTable;
use crate::place::each;
use crate::schedule::Together;
use crate::sm::facts::OpFacts;
use crate::sm::observe::Books;

impl WarpTable {
    /// If a gang is in lockstep and none of its warps waits for what is in flight, to exit, to be regrouped
    /// or behind a fence: the domain and the slot that stand for it.
    #[inline(always)]
    fn goes_on_as_one(&self, gang: Together) -> Option<(usize, u16)> {
        let (leader, slot) = self.held_as_one(gang)?;
        let domain = &self.domains[leader];
        let goes_on = domain.going_on() >> gang.index() & 1 != 0;
        goes_on.then_some((leader, slot))
    }

    /// An instruction of a gang is complete, as [`completed`](WarpTable::completed). Returns whether any of
    /// its warps may have waited for that.
    #[inline]
    pub fn gang_completed(
        &mut self,
        gang: Together,
        facts: &OpFacts,
        code: &[OpFacts],
        books: &mut Books,
    ) -> bool {
        if let Some((leader, slot)) = self.goes_on_as_one(gang) {
            self.scoreboard.release(slot, facts);
            self.landed_as_one(leader, slot, facts.is_memory(), code, books);
            return false;
        }
        self.parts_completed(gang, facts, code, books);
        true
    }

    #[inline(never)]
    fn parts_completed(
        &mut self,
        gang: Together,
        facts: &OpFacts,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        match self.kept_as_one(gang) {
            Some(slot) => self.scoreboard.release(slot, facts),
            None => self
                .kept_slots(gang)
                .for_each(|slot| self.scoreboard.release(slot, facts)),
        }
        self.gang_landed(gang, facts.is_memory(), code, books);
    }

    /// As [`store_sent`](WarpTable::store_sent), for a gang. Returns whether any of its warps may have
    /// waited for that.
    pub fn gang_store_sent(&mut self, gang: Together, code: &[OpFacts], books: &mut Books) -> bool {
        if let Some((leader, slot)) = self.goes_on_as_one(gang) {
            self.landed_as_one(leader, slot, true, code, books);
            return false;
        }
        self.gang_landed(gang, true, code, books);
        true
    }

    /// An instruction of a gang that [goes on as one](Self::goes_on_as_one) is no longer in flight.
    #[inline(always)]
    fn landed_as_one(
        &mut self,
        leader: usize,
        slot: u16,
        memory: bool,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let warp = &mut self.warps[slot as usize];
        warp.landed(memory);
        let index = warp.place.index;
        if self.domains[leader].clear >> index & 1 == 0 {
            self.check_class_hazard(leader, slot, code, books);
        }
    }

    /// An instruction of a gang is no longer in flight.
    fn gang_landed(&mut self, gang: Together, memory: bool, code: &[OpFacts], books: &mut Books) {
        match self.kept_as_one(gang).filter(|_| !self.in_step) {
            Some(slot) => self.landed_in_classes(gang, slot, memory, code, books),
            None => self.parts_landed(gang, memory, code, books),
        }
    }

    /// The same, where its first warp stands for those of several classes.
    fn landed_in_classes(
        &mut self,
        gang: Together,
        slot: u16,
        memory: bool,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let warp = &mut self.warps[slot as usize];
        warp.landed(memory);
        let (head, index) = (warp.buffer.head(), warp.place.index);
        let hazard = head.map(|pc| self.hazard(slot, &code[pc as usize]));
        for leader in self.classes_of(gang) {
            let domain = &self.domains[leader];
            if domain.clear >> index & 1 != 0 {
                continue;
            }
            match hazard {
                Some(hazard) if domain.held_back(index) != hazard => {
                    self.touch_class(leader, books);
                    self.domains[leader].hold_back(index, hazard);
                }
                None if domain.stopped >> index & 1 != 0 => {
                    for d in each(self.members(leader)) {
                        let slot = self.slot_in(d, index);
                        self.isolate_slot(slot);
                        self.check_settling(slot, books);
                    }
                }
                _ => {}
            }
        }
    }

    /// The same, where it does not.
    fn parts_landed(&mut self, gang: Together, memory: bool, code: &[OpFacts], books: &mut Books) {
        for slot in self.kept_slots(gang) {
            self.warps[slot as usize].landed(memory);
        }
        let index = gang.index();
        for leader in self.classes_of(gang) {
            let domain = &self.domains[leader];
            if domain.clear >> index & 1 != 0 {
                continue;
            }
            let stopped = domain.stopped >> index & 1 != 0;
            if !self.in_step && !stopped && self.heads_alike(leader, index, code) {
                let slot = self.kept(self.slot_in(leader, index));
                self.check_class_hazard(leader, slot, code, books);
                continue;
            }
            for d in each(self.members(leader)) {
                let slot = self.slot_in(d, index);
                self.isolate_slot(slot);
                self.check_hazard(slot, code, books);
            }
        }
    }

    /// Finds out anew what holds back the instruction that warps in the domains of a class have at the
    /// head of their buffers, if any, while the same holds back each and this one.
    #[inline(always)]
    fn check_class_hazard(
        &mut self,
        leader: usize,
        slot: u16,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let index = self.place(slot).index;
        let Some(pc) = self.warps[slot as usize].buffer.head() else {
            return;
        };
        let hazard = self.hazard(slot, &code[pc as usize]);
        if self.domains[leader].held_back(index) != hazard {
            self.touch_class(leader, books);
            self.domains[leader].hold_back(index, hazard);
        }
    }
}
