//! Instructions of a gang that are no longer in flight: they are complete, or, if they store, sent. The change is made once for
//! each class of equal domains, as in [`gangs`](super::gangs).

use super::WarpTable;
use super::scoreboard::Hazard;
use crate::place::{Place, each};
use crate::schedule::Together;
use crate::sm::facts::OpFacts;
use crate::sm::fixed_list::FixedList;
use crate::sm::observe::Books;

impl WarpTable {
    /// If a gang is in lockstep and none of its warps waits for what is in flight, to exit, to be regrouped
    /// or behind a fence: the domain that stands for its domains.
    #[inline(always)]
    fn goes_on_as_one(&self, gang: Together) -> Option<usize> {
        let leader = self.class_of(gang)?;
        let goes_on = self.domains[leader].going_on() >> gang.index() & 1 != 0;
        goes_on.then_some(leader)
    }

    /// An instruction of a warp is complete, where domains, or warps, may stand for others. Most often nothing changes
    /// for the warp's next instruction: then its domain stays in its class.
    #[inline(never)]
    pub(super) fn completed_specially(
        &mut self,
        slot: u16,
        facts: &OpFacts,
        code: &[OpFacts],
        books: &mut Books,
    ) -> bool {
        let Place { domain, index } = self.place(slot);
        self.isolate_warps(index, 1 << domain);
        self.scoreboard.release(slot, facts);
        let warp = &mut self.warps[slot as usize];
        warp.landed(facts.is_memory());
        let (quiet, head) = (warp.in_flight == 0, warp.buffer.head());
        let sets = self.sets(domain as usize);
        if sets.clear >> index & 1 == 0 {
            let Some(pc) = head else {
                self.check_settling(slot, books);
                return quiet;
            };
            let hazard = self.hazard(slot, &code[pc as usize]);
            if sets.held_back(index) != hazard {
                self.touch(domain, books);
                self.domains[domain as usize].hold_back(index, hazard);
            }
        }
        quiet
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
        let memory = facts.is_memory();
        let Some(slot) = self.kept_as_one(gang).filter(|_| !self.in_step) else {
            let kept = self.kept_slots(gang);
            kept.for_each(|slot| self.scoreboard.release(slot, facts));
            self.parts_landed(gang, memory, code, books);
            return true;
        };
        self.scoreboard.release(slot, facts);
        self.kept_landed(gang, slot, memory, code, books)
    }

    /// A store of a gang has left the pipeline. Returns whether any of its warps may have waited for that.
    pub fn gang_store_sent(&mut self, gang: Together, code: &[OpFacts], books: &mut Books) -> bool {
        if let Some(slot) = self.kept_as_one(gang).filter(|_| !self.in_step) {
            return self.kept_landed(gang, slot, true, code, books);
        }
        self.parts_landed(gang, true, code, books);
        true
    }

    /// An instruction of a gang, for which the warp of this slot stands, is no longer in flight. Returns whether any
    /// of its warps may have waited for that.
    #[inline(always)]
    fn kept_landed(
        &mut self,
        gang: Together,
        slot: u16,
        memory: bool,
        code: &[OpFacts],
        books: &mut Books,
    ) -> bool {
        let Some(leader) = self.goes_on_as_one(gang) else {
            return self.landed_in_classes(gang, slot, memory, code, books);
        };
        self.landed_as_one(leader, slot, memory, code, books);
        false
    }

    /// An instruction of a gang with domains of several classes is no longer in flight: one look at each class
    /// tells whether something held back the next instruction, and which warps wait for what is in flight.
    #[inline(never)]
    fn landed_in_classes(
        &mut self,
        gang: Together,
        slot: u16,
        memory: bool,
        code: &[OpFacts],
        books: &mut Books,
    ) -> bool {
        let (domains, index) = (gang.domains(), gang.index());
        let (mut held_back, mut going_on) = (0, 0);
        let mut left = self.classes.leaders();
        while left != 0 {
            let leader = left.trailing_zeros() as usize;
            left &= left - 1;
            let (domain, class) = (&self.domains[leader], self.members(leader));
            let those = |set: u64| (set >> index & 1).wrapping_neg() & class;
            held_back |= those(!domain.clear);
            going_on |= those(domain.going_on());
        }
        let warp = &mut self.warps[slot as usize];
        warp.landed(memory);
        if held_back & domains != 0 {
            let head = warp.buffer.head();
            let hazard = head.map(|pc| self.hazard(slot, &code[pc as usize]));
            let changes = self.not_held_back_by(hazard, held_back & domains, index);
            self.change_hazard(index, changes, hazard, books);
        }
        domains & !going_on != 0
    }

    /// Of the warps at `index` in these domains, a bit each, that something holds back, those for which something
    /// else was noted than this holds back their next instruction, or, if they have none, that may wait for what is in flight.
    #[inline(always)]
    fn not_held_back_by(&self, hazard: Option<Hazard>, domains: u64, index: u8) -> u64 {
        match hazard {
            Some(by) if !by.any => domains,
            Some(by) => domains & self.having(index, |domain| domain.differs_from(by)),
            None => domains & self.having(index, |domain| domain.stopped),
        }
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

    /// An instruction of a gang is no longer in flight, where several of its warps stand for themselves, or others.
    #[inline(never)]
    fn parts_landed(&mut self, gang: Together, memory: bool, code: &[OpFacts], books: &mut Books) {
        let index = gang.index();
        self.stirred.join = true;
        // Warps for which the completion comes to the same are changed together.
        let mut found: FixedList<(Option<Hazard>, u64), 8> = FixedList::default();
        for slot in self.kept_slots(gang) {
            let domain = self.place(slot).domain as usize;
            if self.in_step {
                self.warps[slot as usize].landed(memory);
                self.check_hazard(slot, code, books);
                continue;
            }
            let stands_for = match self.together.get(index as usize) {
                Some(classes) => classes.members(domain),
                None => 1 << domain,
            };
            let (hazard, changes) = self.landed_for(slot, stands_for, memory, code);
            match found.iter_mut().find(|(same, _)| *same == hazard) {
                Some((_, domains)) => *domains |= changes,
                None => found.push((hazard, changes)),
            }
        }
        for &(hazard, changes) in found.iter() {
            self.change_hazard(index, changes, hazard, books);
        }
    }

    /// An instruction of a warp, which stands for those in these domains, a bit each, is no longer in flight. Returns
    /// what holds back their next one, if there is one, and for which of them that has to be noted.
    #[inline(never)]
    fn landed_for(
        &mut self,
        slot: u16,
        domains: u64,
        memory: bool,
        code: &[OpFacts],
    ) -> (Option<Hazard>, u64) {
        let warp = &mut self.warps[slot as usize];
        warp.landed(memory);
        let (head, index) = (warp.buffer.head(), warp.place.index);
        let hazard = head.map(|pc| self.hazard(slot, &code[pc as usize]));
        let changes = match hazard {
            Some(hazard) => self.having(index, |d| d.differs_from(hazard) & !d.clear),
            None => self.having(index, |d| d.stopped & !d.clear),
        };
        (hazard, changes & domains)
    }

    /// Something else than was noted holds back the next instruction of the warps at `index` in these domains, a bit each,
    /// if they have one; else these may wait for what is in flight. Only now they are no longer in classes with others.
    #[inline(always)] // most often there are none
    fn change_hazard(
        &mut self,
        index: u8,
        domains: u64,
        hazard: Option<Hazard>,
        books: &mut Books,
    ) {
        if domains != 0 {
            self.change_hazard_of(index, domains, hazard, books);
        }
    }

    #[inline(never)]
    fn change_hazard_of(
        &mut self,
        index: u8,
        domains: u64,
        hazard: Option<Hazard>,
        books: &mut Books,
    ) {
        self.isolate(domains);
        self.stirred.join |= domains != self.classes.all();
        for leader in each(domains & self.classes.leaders()) {
            if let Some(hazard) = hazard {
                self.touch_alike(leader, books);
                self.domains[leader].hold_back(index, hazard);
                continue;
            }
            for d in each(self.members(leader)) {
                let slot = self.slot_in(d, index);
                self.isolate_slot(slot);
                self.check_settling(slot, books);
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
