//! What a warp has in flight, and whether that holds back its next instruction.

use super::scoreboard::{Hazard, Scoreboard};
use super::{Rules, Warp, WarpTable};
use crate::place::Place;
use crate::sm::facts::OpFacts;
use crate::sm::observe::Books;

/// What a warp is left with when one of its instructions is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landed {
    /// Nothing of it is in flight any more.
    pub quiet: bool,
    /// The warp waits for something other than instructions, data or units.
    pub held: bool,
}

impl WarpTable {
    /// An instruction of a warp is executed: it leaves the buffer and is in flight.
    #[inline(always)]
    pub fn issued(&mut self, slot: u16, facts: &OpFacts) {
        debug_assert_eq!(self.kept(slot), slot, "one of several that are kept as one");
        let warp = &mut self.warps[slot as usize];
        warp.buffer.pop();
        warp.instructions += 1;
        warp.in_flight += 1;
        warp.memory_in_flight += facts.is_memory() as u16;
        self.scoreboard.reserve(slot, facts);
    }

    /// An instruction of a warp is complete: its registers are free. Returns what that leaves the warp
    /// with.
    #[inline(always)]
    pub fn completed(
        &mut self,
        slot: u16,
        facts: &OpFacts,
        code: &[OpFacts],
        books: &mut Books,
    ) -> Landed {
        if self.special {
            let quiet = self.completed_specially(slot, facts, code, books);
            let held = self.is_held(slot);
            return Landed { quiet, held };
        }
        self.scoreboard.release(slot, facts);
        let warp = &mut self.warps[slot as usize];
        warp.landed(facts.is_memory());
        let (quiet, Place { domain, index }) = (warp.in_flight == 0, warp.place);
        let buffered = warp.buffer.head().is_some();
        let domain = &self.domains[domain as usize];
        let is = |set: u64| set >> index & 1 != 0;
        let held = is(domain.held);
        if !is(domain.clear) {
            // Most often nothing has been fetched yet that it could hold back.
            if buffered {
                self.check_hazard_again(slot, code, books);
            } else if is(domain.stopped) {
                self.note_settling(slot, books);
            }
        }
        Landed { quiet, held }
    }

    /// A store of a warp has left the pipeline.
    pub fn store_sent(&mut self, slot: u16, code: &[OpFacts], books: &mut Books) {
        self.isolate_slot(slot);
        let warp = &mut self.warps[slot as usize];
        warp.in_flight -= 1;
        warp.memory_in_flight -= 1;
        self.check_hazard(slot, code, books);
    }

    /// A warp of a virtual block is ahead of siblings, or not any more: instructions that access
    /// shared memory, which read register number `token`, wait until it is not.
    pub fn set_ahead(
        &mut self,
        slot: u16,
        ahead: bool,
        token: usize,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        if self.warps[slot as usize].ahead != ahead {
            self.isolate_slot(slot);
            self.warps[slot as usize].ahead = ahead;
            self.scoreboard.owe(slot, token, ahead);
            self.check_hazard(slot, code, books);
        }
    }

    /// [`check_hazard`](Self::check_hazard), compiled apart from the path of instructions that need no check.
    #[inline(never)]
    fn check_hazard_again(&mut self, slot: u16, code: &[OpFacts], books: &mut Books) {
        self.check_hazard(slot, code, books);
    }

    /// Finds out anew what holds back the instruction at the head of a warp's buffer.
    #[inline(always)]
    pub(super) fn check_hazard(&mut self, slot: u16, code: &[OpFacts], books: &mut Books) {
        let warp = &self.warps[slot as usize];
        let Some(pc) = warp.buffer.head() else {
            return self.check_settling(slot, books);
        };
        let facts = &code[pc as usize];
        let hazard = hazard(slot, warp, facts, &self.scoreboard, &self.rules);
        let Place { domain, index } = warp.place;
        if !self.domains[domain as usize].is_held_back_by(index, hazard) {
            self.touch(domain, books);
            self.domains[domain as usize].hold_back(index, hazard);
        }
    }

    #[inline(always)]
    pub(super) fn hazard(&self, slot: u16, facts: &OpFacts) -> Hazard {
        let warp = &self.warps[slot as usize];
        hazard(slot, warp, facts, &self.scoreboard, &self.rules)
    }

    /// Finds out anew what a warp that is held by the divergence model has in flight: it waits
    /// for that before its threads can be regrouped.
    #[inline(always)]
    pub fn check_settling(&mut self, slot: u16, books: &mut Books) {
        if self.is_stopped(slot) {
            self.note_settling(slot, books);
        }
    }

    #[inline(never)]
    fn note_settling(&mut self, slot: u16, books: &mut Books) {
        let (domain, bit) = self.find(slot);
        let noted = (
            domain.settling & bit != 0,
            domain.settling_memory & bit != 0,
        );
        if noted != self.warps[slot as usize].settling() {
            self.edit(slot, books).note_settling();
        }
    }

    /// Registers that the instruction at the head of a warp's buffer needs and that are owed.
    pub fn owed(&self, slot: u16, code: &[OpFacts]) -> Vec<usize> {
        let kept = self.kept(slot);
        let head = self.warps[kept as usize].buffer.head();
        let facts = head.map(|pc| &code[pc as usize]);
        facts.map_or(Vec::new(), |f| self.scoreboard.owed(kept, f).collect())
    }

    /// A finished warp can leave, once fetch notices it, when nothing of it is in flight any
    /// more. To be called whenever one of these may have become true: fetch looks nowhere else.
    pub fn check_leaving(&mut self, slot: u16) {
        let Place { domain, index } = self.place(slot);
        let noticed = self.sets(domain as usize).retired >> index & 1 != 0;
        if !noticed && self.is_settled(slot) {
            self.isolate(1 << domain);
            self.domains[domain as usize].leaving |= 1 << index;
            self.stirred.fetch = true;
        }
    }
}

/// What holds back an instruction of a warp.
#[inline(always)]
pub(super) fn hazard(
    slot: u16,
    warp: &Warp,
    facts: &OpFacts,
    board: &Scoreboard,
    rules: &Rules,
) -> Hazard {
    if warp.is_owed_nothing() {
        debug_assert_eq!(board.check(slot, facts), Hazard::default());
        return Hazard::default();
    }
    let hazard = board.check(slot, facts);
    match rules.one_in_flight {
        true => behind_all(warp, hazard),
        false => hazard,
    }
}

/// What holds back an instruction that waits for everything in flight, beside what it reads and writes.
#[inline(never)]
fn behind_all(warp: &Warp, mut hazard: Hazard) -> Hazard {
    hazard.any |= warp.in_flight != 0;
    hazard.memory |= warp.memory_in_flight != 0;
    hazard
}
