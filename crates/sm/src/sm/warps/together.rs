//! Gangs whose warps are equal. Warps of a home warp with one PC, equal buffers and equal instructions in flight share one
//! record of these, of the registers that they are owed and of the instructions that they have issued: that of the first warp. The
//! records of the others are out of date meanwhile. They are brought up to date when one of the warps goes its own way. It does not
//! matter whether their slices are in [lockstep](super::lockstep).
//!
//! Code that needs any of this for one warp asks the table [where it is kept](WarpTable::kept). Everything else that is
//! kept for a warp is always its own.

use super::domain::assign;
use super::{Warp, WarpTable};
use crate::place::each;
use crate::schedule::Together;
use crate::sm::facts::OpFacts;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// The slot of the warp at `index` of a domain.
    #[inline]
    pub(super) fn slot_in(&self, domain: usize, index: u8) -> u16 {
        index as u16 * self.domains.len() as u16 + domain as u16
    }

    /// The slot where the buffer of a warp is kept, and what it has in flight.
    #[inline]
    pub fn kept(&self, slot: u16) -> u16 {
        if self.standing == 0 {
            return slot;
        }
        let place = self.place(slot);
        let leader = self.together[place.index as usize].leader_of(place.domain as usize);
        self.slot_in(leader, place.index)
    }

    /// The domains among these, a bit each, whose warp at `index` stands for itself, and perhaps for others.
    #[inline]
    pub(super) fn kept_among(&self, domains: u64, index: u8) -> u64 {
        match self.together.get(index as usize) {
            Some(classes) => domains & classes.leaders(),
            None => domains,
        }
    }

    /// If the first warp of a gang stands for all of it, and for no other: its slot.
    #[inline(always)]
    pub fn kept_as_one(&self, gang: Together) -> Option<u16> {
        if self.as_one >> gang.index() & 1 != 0 {
            let all = gang.slices() == self.slices; // as most often
            return all.then(|| self.slot_in(0, gang.index()));
        }
        let first = gang.leader();
        let classes = self.together.get(first.index as usize)?;
        let all = classes.members(first.domain as usize) == gang.domains();
        all.then(|| self.slot_in(first.domain as usize, first.index))
    }

    /// If, besides, the domains of the gang are a class: the leader of that, and the slot.
    #[inline(always)]
    pub(super) fn held_as_one(&self, gang: Together) -> Option<(usize, u16)> {
        let slot = self.kept_as_one(gang)?;
        Some((self.class_of(gang)?, slot))
    }

    /// If the domains of a gang are a class: the leader of that.
    #[inline(always)]
    pub(super) fn class_of(&self, gang: Together) -> Option<usize> {
        if self.classes.is_one() && gang.slices() == self.slices {
            return Some(0); // as most often
        }
        let leader = gang.leader().domain as usize;
        let all = self.members(leader) == gang.domains();
        (all && !self.in_step).then_some(leader)
    }

    /// The slots that are kept of a gang. None of its warps stands for a warp outside it any more.
    #[inline]
    pub fn kept_slots(&mut self, gang: Together) -> impl Iterator<Item = u16> + Clone + use<> {
        let (domains, index) = (gang.domains(), gang.index());
        self.isolate_warps(index, domains);
        let first = self.slot_in(0, index);
        each(self.kept_among(domains, index)).map(move |d| first + d as u16)
    }

    /// No warp at `index` in these domains, a bit each, stands for one in another, or has one there that
    /// stands for it.
    #[inline]
    pub(super) fn isolate_warps(&mut self, index: u8, domains: u64) {
        if self.standing == 0 {
            return;
        }
        let classes = &self.together[index as usize];
        let leader = classes.leader_of(domains.trailing_zeros() as usize);
        // Most often they are one class, or each is by itself; all of them hold whole classes.
        if classes.members(leader) != domains && domains != classes.all() && classes.any() {
            self.take_warps_out(index, domains);
        }
    }

    #[inline(never)]
    fn take_warps_out(&mut self, index: u8, domains: u64) {
        let mut left = domains;
        while left != 0 {
            let classes = &mut self.together[index as usize];
            let leader = classes.leader_of(left.trailing_zeros() as usize);
            let class = classes.members(leader);
            left &= !class;
            if class & !domains != 0 {
                let second = classes.split(leader, class & domains);
                self.standing -= u32::from(!classes.any());
                self.as_one &= !(1 << index);
                self.tell(leader, second, index);
                self.note_special();
            }
        }
    }

    /// No warp stands for another.
    pub(super) fn part_warps(&mut self) {
        for index in 0..self.together.len() {
            if self.together[index].any() {
                let all = self.together[index].all();
                each(all).for_each(|d| self.isolate_warps(index as u8, 1 << d));
            }
        }
    }

    /// Where to fetch from for a warp.
    #[inline]
    pub fn fetch_pc(&self, slot: u16) -> Pc {
        self.warps[self.kept(slot) as usize].buffer.fetch_pc()
    }

    /// How many instructions a warp has in its buffer.
    pub fn buffered(&self, slot: u16) -> u8 {
        self.warps[self.kept(slot) as usize].buffer.len()
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
        let (own, kept) = (self.warps[slot as usize].instructions, self.kept(slot));
        match kept == slot {
            true => own,
            false => own.wrapping_add(self.warps[kept as usize].issued_for_others()),
        }
    }

    /// Whether the warps at `index` in the domains of a class have the same in their buffers and the
    /// same holds it back.
    #[inline]
    pub(super) fn heads_alike(&self, leader: usize, index: u8, code: &[OpFacts]) -> bool {
        let members = self.members(leader);
        if members.is_power_of_two() {
            return true;
        }
        if self.standing != 0 {
            let classes = &self.together[index as usize];
            if members & !classes.members(classes.leader_of(leader)) == 0 {
                return true;
            }
        }
        self.held_alike(members, index, code)
    }

    #[inline(never)]
    fn held_alike(&self, domains: u64, index: u8, code: &[OpFacts]) -> bool {
        let slot = |d: usize| self.kept(self.slot_in(d, index));
        let first = slot(domains.trailing_zeros() as usize);
        let buffer = self.warps[first as usize].buffer;
        let facts = buffer.head().map(|pc| &code[pc as usize]);
        let hazard = facts.map(|facts| self.hazard(first, facts));
        each(domains).map(slot).all(|slot| {
            self.warps[slot as usize].buffer == buffer
                && facts.map(|facts| self.hazard(slot, facts)) == hazard
        })
    }

    /// The warps of a gang stand at one PC: from now on the first stands for all that have the same as itself
    /// in their buffers and in flight.
    #[inline]
    pub(super) fn bring_together(&mut self, gang: Together) {
        if self.in_step || self.together.is_empty() {
            return;
        }
        let (domains, index) = (gang.domains(), gang.index());
        self.isolate_warps(index, domains);
        let others = self.kept_among(domains, index);
        if !others.is_power_of_two() {
            self.compare(others, index);
        }
    }

    #[inline(never)]
    fn compare(&mut self, kept: u64, index: u8) {
        let first = kept.trailing_zeros() as usize;
        for second in each(kept & !(1 << first)) {
            let (a, b) = (self.slot_in(first, index), self.slot_in(second, index));
            let buffer = |slot: u16| self.warps[slot as usize].buffer;
            if buffer(a) == buffer(b) && self.flies_like(a, b) {
                self.stand_for_second(first, second, index);
            }
        }
    }

    /// Whether two warps have the same in flight.
    #[inline]
    fn flies_like(&self, a: u16, b: u16) -> bool {
        let flying = |warp: &Warp| (warp.in_flight, warp.memory_in_flight, warp.ahead);
        let in_flight = |slot: u16| flying(&self.warps[slot as usize]);
        in_flight(a) == in_flight(b) && self.scoreboard.owes_alike(a, b)
    }

    /// Tells the warp of a domain what has become of it while that of a leader stood for it. If others
    /// stay with it, it stands for them.
    #[inline]
    fn tell(&mut self, leader: usize, domain: usize, index: u8) {
        let (from, to) = (self.slot_in(leader, index), self.slot_in(domain, index));
        let first = &self.warps[from as usize];
        let (buffer, issued) = (first.buffer, first.issued_for_others());
        let (in_flight, memory) = (first.in_flight, first.memory_in_flight);
        let warp = &mut self.warps[to as usize];
        (warp.buffer, warp.in_flight, warp.memory_in_flight) = (buffer, in_flight, memory);
        warp.stands_since = warp.instructions;
        warp.instructions = warp.instructions.wrapping_add(issued);
        self.scoreboard.copy(from, to);
    }

    /// A warp stands for another, and for the warps that this one stands for; all have the same in their buffers and in
    /// flight. Of each, the instructions are kept that it has issued beyond the first's.
    fn stand_for_second(&mut self, first: usize, second: usize, index: u8) {
        let classes = &mut self.together[index as usize];
        let (joins, alone) = (classes.members(second), classes.is_alone(first));
        self.standing += u32::from(!classes.any());
        classes.merge(first, second);
        assign(&mut self.as_one, index, classes.is_one());
        self.special = true;
        let leads = self.slot_in(first, index) as usize;
        if alone {
            self.warps[leads].stands_since = self.warps[leads].instructions;
        }
        let for_all = self.warps[leads].issued_for_others();
        let led = self.slot_in(second, index) as usize;
        let for_second = match joins.is_power_of_two() {
            true => 0,
            false => self.warps[led].issued_for_others(),
        };
        for d in each(joins) {
            let slot = self.slot_in(d, index) as usize;
            let counted = if slot == led { 0 } else { for_second };
            let issued = self.warps[slot].instructions.wrapping_add(counted);
            self.warps[slot].instructions = issued.wrapping_sub(for_all);
        }
    }
}

#[cfg(test)]
#[path = "tests/together.rs"]
mod tests;
