//! Whole gangs whose warps hold the same. While slices are in [lockstep](super::lockstep), the warp in
//! the first slice of such a gang, whose warps also stand at one PC, stands for all of it: for what
//! they have in their buffers and in flight, for what is owed to them and for the instructions they
//! have issued. What is kept of the others is of the time when it began to, until each is told again
//! what has become of it ([`WarpTable::part`]).
//!
//! Who asks one warp for any of that asks the table, which knows [who stands for it](WarpTable::kept).
//! Everything else that is kept for a warp is always its own.

use super::{Warp, WarpTable};
use crate::sm::facts::OpFacts;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// Whether, while all domains hold the same, the first warp of a whole gang stands for all: they
    /// stand at one PC and have the same in their buffers and in flight.
    #[inline]
    pub fn is_together(&self, first: u16) -> bool {
        self.together >> self.place(first).index & 1 != 0
    }

    /// The slot of which is kept what a warp has in its buffer and in flight.
    #[inline]
    pub(super) fn kept(&self, slot: u16) -> u16 {
        if self.together == 0 || !self.is_together(slot) {
            return slot;
        }
        slot - u16::from(self.place(slot).domain)
    }

    /// The instruction that a ready warp issues next, whichever slot it is kept of.
    pub fn next_of_any(&self, slot: u16) -> Pc {
        self.next_instruction(self.kept(slot))
    }

    /// Whether nothing of a warp is in flight.
    #[inline]
    pub fn is_quiet(&self, slot: u16) -> bool {
        self.warps[self.kept(slot) as usize].in_flight == 0
    }

    /// Whether a warp has nothing in flight and no store on its way.
    #[inline]
    pub fn is_settled(&self, slot: u16) -> bool {
        self.is_quiet(slot) && self.warps[slot as usize].stores == 0
    }

    /// Instructions that a warp has issued.
    pub fn issued_so_far(&self, slot: u16) -> u64 {
        let (own, kept) = (&self.warps[slot as usize], self.kept(slot));
        own.instructions + self.issued_for_others(kept, slot)
    }

    /// Of the instructions that the first warp of a gang has issued, those that it stood for `slot` in.
    fn issued_for_others(&self, first: u16, slot: u16) -> u64 {
        let warp = &self.warps[first as usize];
        match first == slot {
            true => 0,
            false => warp.instructions - warp.stands_since,
        }
    }

    /// Whether, while all domains hold the same, the warps of a whole gang have the same in their
    /// buffers and the same holds it back.
    #[inline]
    pub(super) fn heads_alike(&self, first: u16, code: &[OpFacts]) -> bool {
        self.is_together(first) || self.buffers_alike(first) && self.held_alike(first, code)
    }

    /// Of a whole gang whose warps stand at one PC the first stands for all from now on,
    /// if they have the same in flight.
    #[inline]
    pub(super) fn bring_together(&mut self, first: u16, code: &[OpFacts]) -> bool {
        self.is_together(first) || self.compare(first, code)
    }

    #[inline(never)]
    fn compare(&mut self, first: u16, code: &[OpFacts]) -> bool {
        if !self.buffers_alike(first) {
            return false;
        }
        let all = self.whole(first);
        let flying = |slot: u16| {
            let warp = &self.warps[slot as usize];
            (warp.in_flight, warp.memory_in_flight, warp.ahead)
        };
        if all.clone().all(|slot| flying(slot) == flying(first)) && self.scoreboard.owes_alike(all)
        {
            let warp = &mut self.warps[first as usize];
            warp.stands_since = warp.instructions;
            self.together |= 1 << warp.place.index;
            return true;
        }
        self.held_alike(first, code)
    }

    /// Whether the same holds back the instruction that the warps of a whole gang have in their
    /// buffers.
    #[inline(never)]
    fn held_alike(&self, first: u16, code: &[OpFacts]) -> bool {
        let Some(pc) = self.warps[first as usize].buffer.head() else {
            return true;
        };
        let facts = &code[pc as usize];
        let hazard = self.hazard(first, facts);
        let same = |slot| self.hazard(slot, facts) == hazard;
        self.whole(first).all(same)
    }

    #[inline]
    pub(super) fn buffers_alike(&self, first: u16) -> bool {
        let all = self.whole(first);
        let all = &self.warps[all.start as usize..all.end as usize];
        all.iter().all(|warp| warp.buffer == all[0].buffer)
    }

    /// The warps of which what they have in flight has to be noted, for a whole gang: all of them, or
    /// the first, which stands for them.
    #[inline]
    pub(super) fn kept_mut(&mut self, first: u16) -> &mut [Warp] {
        let count = match self.is_together(first) {
            true => 1,
            false => self.domains.count(),
        };
        &mut self.warps[first as usize..first as usize + count]
    }

    /// Every warp stands for itself: all are told what has become of them.
    pub(super) fn tell_all(&mut self) {
        let mut left = std::mem::take(&mut self.together);
        while left != 0 {
            let index = left.trailing_zeros() as u16;
            left &= left - 1;
            let first = index * self.domains.count() as u16;
            let all = self.whole(first);
            let issued = self.issued_for_others(first, first + 1);
            let its = &mut self.warps[all.start as usize..all.end as usize];
            if let Some((first, others)) = its.split_first_mut() {
                for warp in others {
                    warp.buffer = first.buffer;
                    warp.in_flight = first.in_flight;
                    warp.memory_in_flight = first.memory_in_flight;
                    warp.instructions += issued;
                }
            }
            self.scoreboard.owe_alike(all);
        }
    }
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
