//! Writeback: results of the units go to registers, and their instructions are complete.

use super::Sm;
use super::facts::OpFacts;
use super::launch::Launched;
use super::memory::Slots;
use super::units::Done;
use crate::schedule::Together;
use crate::time::Cycle;

impl Sm {
    /// ALU results whose time has come.
    #[inline]
    pub(super) fn write_back(&mut self, now: Cycle, launched: &Launched) {
        while let Some(done) = self.units.pop(now) {
            let facts = &launched.facts[done.pc as usize];
            if self.results_are_special {
                self.write_back_specially(done, now, facts, launched);
                continue;
            }
            self.collectors.write(done.slot, &facts.write_banks);
            self.residents.complete_here(done.slot, facts, launched);
            self.residents.follow(launched);
            if facts.control && self.front.waits_for_branches() {
                self.residents.resolve(done.slot);
            }
        }
    }

    /// An ALU result that more hear of than its warp.
    #[inline(never)]
    fn write_back_specially(
        &mut self,
        done: Done,
        now: Cycle,
        facts: &OpFacts,
        launched: &Launched,
    ) {
        if self.residents.books.plans() {
            return self.write_back_gang(done, now, facts, launched);
        }
        self.collectors.write(done.slot, &facts.write_banks);
        self.residents.complete(done.slot, facts, launched);
        self.residents.follow(launched);
        if facts.control && self.front.waits_for_branches() {
            self.residents.resolve(done.slot);
        }
    }

    /// An ALU result where warps may go in gangs: with it, those of the other warps of its gang that come
    /// next in the same cycle.
    #[inline(never)]
    fn write_back_gang(&mut self, done: Done, now: Cycle, facts: &OpFacts, launched: &Launched) {
        let gang = match done.slices {
            0 => {
                let gang = self.pop_gang(done, now);
                for slot in self.residents.warps.slots_of(gang) {
                    self.collectors.write(slot, &facts.write_banks);
                }
                gang
            }
            // Its collectors are ideal: no bank is busy with it.
            slices => Together::new(self.residents.warps.place(done.slot), 1, slices),
        };
        match gang.len() {
            1 => self.residents.complete(done.slot, facts, launched),
            _ => self.residents.complete_gang(gang, facts, launched),
        }
        self.residents.follow(launched);
        if facts.control && self.front.waits_for_branches() {
            for slot in self.residents.warps.slots_of(gang) {
                self.residents.resolve(slot);
            }
        }
    }

    /// The warps of a home warp, that of `done` the first, whose results of one instruction come one behind
    /// the other in this cycle: takes those of the others.
    #[inline]
    fn pop_gang(&mut self, done: Done, now: Cycle) -> Together {
        let warps = &self.residents.warps;
        let Some(mut gang) = warps.gang_of(Slots::one(done.slot)) else {
            return Together::alone(warps.place(done.slot));
        };
        while let Some(next) = self.units.peek(now)
            && next.slices == 0
            && next.pc == done.pc
            && let Some(next) = warps.gang_of(Slots::one(next.slot))
            && let Some(more) = gang.with(next)
        {
            self.units.pop(now);
            gang = more;
        }
        gang
    }
}
