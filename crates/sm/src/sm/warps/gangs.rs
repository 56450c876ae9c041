//! What the warps of a gang do together: it is done once for each class of domains that hold the same,
//! see [`lockstep`](super::lockstep). As if each warp did it in turn.

use super::domain::assign;
use super::edit::{Edit, note_settling};
use super::{Hold, WarpTable};
use crate::place::each;
use crate::place::{HomeSlots, Place};
use crate::schedule::Together;
use crate::sm::facts::OpFacts;
use crate::sm::memory::Slots;
use crate::sm::observe::Books;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// The classes of the domains of a gang, by their leaders; no other domain is in them.
    #[inline]
    pub(super) fn classes_of(
        &mut self,
        gang: Together,
    ) -> impl Iterator<Item = usize> + Clone + use<> {
        let domains = gang.domains();
        self.isolate(domains);
        each(domains & self.classes.leaders())
    }

    /// The slots of a gang.
    #[inline]
    pub fn slots_of(&self, gang: Together) -> HomeSlots {
        gang.slots(self.layout)
    }

    /// The slots of a whole gang, by that of its warp in the first slice.
    #[inline]
    pub fn whole(&self, first: u16) -> std::ops::Range<u16> {
        first..first + self.domains.len() as u16
    }

    /// The gang that one warp of every slice is, by the slot of that in the first.
    #[inline]
    pub fn whole_gang(&self, first: u16) -> Together {
        let schedulers = self.layout.schedulers() as u8;
        Together::new(self.place(first), schedulers, self.slices)
    }

    /// A gang has issued an instruction, which is in flight now.
    #[inline]
    pub fn gang_issued(&mut self, gang: Together, facts: &OpFacts) {
        match self.kept_as_one(gang) {
            Some(slot) => self.note_issued(slot, facts),
            None => self.parts_issued(gang, facts),
        }
    }

    #[inline(never)]
    fn parts_issued(&mut self, gang: Together, facts: &OpFacts) {
        for slot in self.kept_slots(gang) {
            self.note_issued(slot, facts);
        }
    }

    /// A gang, whose domains have had their turn with it, has issued an instruction, which leads it to `next`: as
    /// [`gang_issued`](Self::gang_issued) and then [`refresh_gang`](Self::refresh_gang).
    #[inline]
    pub fn gang_steps(
        &mut self,
        gang: Together,
        facts: &OpFacts,
        target: bool,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let Some(slot) = self.kept_as_one(gang).filter(|_| !self.in_step) else {
            self.parts_issued(gang, facts);
            let target = self.waits_for_target(gang, target, next);
            return self.refresh_parts(gang, target, next, code, books);
        };
        self.note_issued(slot, facts);
        let target = self.waits_for_target(gang, target, next);
        if self.warps[slot as usize].buffer.head().is_none() {
            return self.run_dry(gang, target); // as most often
        }
        let Some(leader) = self.class_of(gang) else {
            return self.refresh_classes(gang, slot, target, next, code, books);
        };
        self.touch_class(leader, books);
        self.refresh_kept(leader, slot, target, next, code);
    }

    /// The warps of a gang go on at `next`. Whether they wait for it as for the `target` of a branch: not where fetch has
    /// known it; then nothing else is in their buffers, or on its way there, as of [`Edit::follow_path`].
    #[inline(always)]
    fn waits_for_target(&mut self, gang: Together, target: bool, next: Pc) -> bool {
        if self.rules.fetch.oracle {
            self.follow_path(gang, next);
            return false;
        }
        target
    }

    #[inline(never)] // as on few machines
    fn follow_path(&mut self, gang: Together, next: Pc) {
        for slot in self.kept_slots(gang) {
            self.warps[slot as usize].buffer.go_on_at(next);
        }
    }

    /// The warps of a gang, whose domains have had their turn with it, have nothing in their buffers any more. `target`:
    /// they wait for that of a branch.
    #[inline(always)]
    fn run_dry(&mut self, gang: Together, target: bool) {
        let (index, control) = (gang.index(), u64::from(target) << gang.index());
        self.stirred.join |= gang.slices() != self.slices;
        self.stirred.issue |= gang.domains();
        self.stirred.fetch = true;
        let mut left = gang.domains() & self.classes.leaders();
        while left != 0 {
            let leader = left.trailing_zeros() as usize;
            left &= left - 1;
            debug_assert_eq!(self.members(leader) & !gang.domains(), 0);
            let domain = &mut self.domains[leader];
            debug_assert!(domain.accounted > self.now && domain.stopped >> index & 1 == 0);
            domain.control |= control;
            domain.wants_fetch |= 1 << index;
            domain.empty_head(index);
        }
    }

    /// A warp has issued an instruction, and with it the warps that it stands for.
    #[inline(always)]
    fn note_issued(&mut self, slot: u16, facts: &OpFacts) {
        self.scoreboard.reserve(slot, facts);
        let warp = &mut self.warps[slot as usize];
        warp.buffer.pop();
        warp.instructions = warp.instructions.wrapping_add(1);
        warp.in_flight += 1;
        warp.memory_in_flight += facts.is_memory() as u16;
    }

    /// The warps of a gang, and their domains, stand for none but these.
    #[inline]
    pub fn isolate_gang(&mut self, gang: Together) {
        self.isolate(gang.domains());
        self.isolate_warps(gang.index(), gang.domains());
    }

    /// The warps of a gang, and their domains, stand for themselves alone.
    pub fn part_gang(&mut self, gang: Together) {
        self.isolate_each(gang.domains());
        each(gang.domains()).for_each(|d| self.isolate_warps(gang.index(), 1 << d));
    }

    /// The warps of a gang have executed an instruction, which leads all of them to `next`. `target`:
    /// they wait for what is there.
    pub fn refresh_gang(
        &mut self,
        gang: Together,
        target: bool,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let target = self.waits_for_target(gang, target, next);
        if let Some((leader, slot)) = self.held_as_one(gang) {
            self.touch_class(leader, books);
            return self.refresh_kept(leader, slot, target, next, code);
        }
        self.refresh_parts(gang, target, next, code, books);
    }

    /// The head of a buffer is looked at anew, for a class of domains and a warp that stands for the gang's warps in it.
    #[inline]
    fn refresh_kept(&mut self, leader: usize, slot: u16, target: bool, next: Pc, code: &[OpFacts]) {
        // What the instruction goes through is asked only by policies that look at warps, and no domain
        // stands for another then.
        refresh(self.edit_kept(leader, slot), target, next, code);
    }

    /// The heads of a gang's buffers are looked at anew, class by class.
    #[inline(never)]
    fn refresh_parts(
        &mut self,
        gang: Together,
        target: bool,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let index = gang.index();
        self.bring_together(gang);
        if let Some(slot) = self.kept_as_one(gang).filter(|_| !self.in_step) {
            return self.refresh_classes(gang, slot, target, next, code, books);
        }
        for leader in self.classes_of(gang) {
            if !self.in_step && self.heads_alike(leader, index, code) {
                self.touch_class(leader, books);
                let slot = self.kept(self.slot_in(leader, index));
                self.refresh_kept(leader, slot, target, next, code);
                continue;
            }
            for d in each(self.members(leader)) {
                refresh(self.edit(self.slot_in(d, index), books), target, next, code);
            }
        }
    }

    /// Finds out anew what depends on the heads of a gang's buffers, where its domains are of several classes. The buffers are
    /// kept in this slot.
    #[inline(never)]
    fn refresh_classes(
        &mut self,
        gang: Together,
        slot: u16,
        target: bool,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        self.for_classes(gang, slot, books, |edit| {
            refresh(edit, target, next, code);
            (target, false)
        });
    }

    /// Changes the buffer of the first warp of a gang, which stands for its warps in several classes, and what that means to
    /// the sets: it is found out for one class, and is the same for the others. `change` says whether warps wait for the
    /// target of a branch from then on, and whether fetch waits for one.
    #[inline(always)]
    fn for_classes(
        &mut self,
        gang: Together,
        slot: u16,
        books: &mut Books,
        change: impl FnOnce(Edit<'_>) -> (bool, bool),
    ) {
        let mut classes = self.classes_of(gang);
        let Some(first) = classes.next() else {
            return;
        };
        self.stirred.join |= gang.slices() != self.slices;
        self.stirred.issue |= gang.domains();
        self.stirred.fetch = true;
        self.pass_turn(first, books);
        let (target, fetch) = change(self.edit_kept(first, slot));
        let (index, bit) = (gang.index(), 1 << gang.index());
        let control = if target { bit } else { 0 };
        let unresolved = if fetch { bit } else { 0 };
        let head = self.domains[first].head_of(index);
        for leader in classes {
            self.pass_turn(leader, books);
            let domain = &mut self.domains[leader];
            domain.control |= control;
            domain.unresolved |= unresolved;
            if let Some(head) = &head {
                domain.take_head(index, head);
                continue;
            }
            domain.wants_fetch |= bit;
            domain.empty_head(index);
            if domain.stopped & bit != 0 {
                note_settling(domain, &self.warps[slot as usize], index);
            }
        }
    }

    /// Puts what was fetched from `pc` for a gang, for which the warp of this slot stands, and whose next instruction is `next`,
    /// into its buffers.
    #[inline(always)] // it is done for nearly every instruction
    pub fn decode_kept(
        &mut self,
        gang: Together,
        slot: u16,
        pc: Pc,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        let Some(leader) = self.class_of(gang) else {
            return self.decode_classes(gang, slot, pc, next, code, books);
        };
        self.touch_class(leader, books);
        let mut edit = self.edit_kept(leader, slot);
        edit.decode(pc, next, code);
        edit.refresh_head(next, code);
    }

    /// Puts what was fetched into the buffer of a gang with domains of several classes.
    #[inline(never)]
    fn decode_classes(
        &mut self,
        gang: Together,
        slot: u16,
        pc: Pc,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        self.for_classes(gang, slot, books, |mut edit| {
            let waits = edit.decode(pc, next, code);
            edit.refresh_head(next, code);
            (false, waits)
        });
    }

    /// Puts what was fetched from `pc` for a gang, whose next instruction is `next`, into its buffers.
    pub fn decode_gang(
        &mut self,
        gang: Together,
        pc: Pc,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        if let Some(slot) = self.kept_as_one(gang).filter(|_| !self.in_step) {
            return self.decode_kept(gang, slot, pc, next, code, books);
        }
        let index = gang.index();
        let kept = self.kept_slots(gang);
        let first =
            self.warps[self.kept(self.slot_in(gang.leader().domain.into(), index)) as usize].buffer;
        if self.in_step
            || !kept
                .clone()
                .all(|slot| self.warps[slot as usize].buffer == first)
        {
            for slot in self.slots_of(gang) {
                self.edit(slot, books).decode(pc, next, code);
            }
            return self.refresh_gang(gang, false, next, code, books);
        }
        // A warp may stand for warps in several classes.
        let mut buffer = first;
        for leader in self.classes_of(gang) {
            self.touch_class(leader, books);
            let mut edit = self.edit_class(leader, index);
            edit.warp.buffer = first;
            edit.decode(pc, next, code);
            buffer = edit.warp.buffer;
        }
        for slot in kept {
            self.warps[slot as usize].buffer = buffer;
        }
        self.refresh_gang(gang, false, next, code, books);
    }

    /// The warps of a gang wait for something, or do not any more.
    pub fn hold_gang(&mut self, gang: Together, what: Hold, held: bool, books: &mut Books) {
        let index = gang.index();
        for leader in self.classes_of(gang) {
            if self.in_step {
                let slot = self.slot_in(leader, index);
                self.edit(slot, books).hold(what, held);
            } else {
                self.touch_class(leader, books);
                self.edit_class(leader, index).hold(what, held);
            }
        }
    }

    /// If these slots begin with several warps of a home warp, one slice behind the other: their gang,
    /// and the slots behind them. Where an observer wants to hear of each warp there is none.
    pub fn first_gang<'a>(&self, slots: &'a [u16]) -> Option<(Together, &'a [u16])> {
        let first = *slots.first().filter(|_| !self.in_step)?;
        let all = self.domains.len();
        if let Some((row, behind)) = slots.split_at_checked(all)
            && self.layout.schedulers() == 1
            && all > 1
            && self.place(first).domain == 0
            && row.iter().copied().eq(self.whole(first))
        {
            return Some((self.whole_gang(first), behind)); // as most often
        }
        let mut gang = self.gang_of(Slots::one(first))?;
        let mut count = 1;
        for (slot, next) in (first + 1..).zip(&slots[1..]) {
            let more = self
                .gang_of(Slots::one(*next))
                .and_then(|more| gang.with(more));
            let Some(more) = more.filter(|_| slot == *next) else {
                break;
            };
            (gang, count) = (more, count + 1);
        }
        (count > 1).then(|| (gang, &slots[count..]))
    }

    /// These warps as a gang, if they are of one home warp. Only where every slice has one scheduler.
    #[inline]
    pub fn gang_of(&self, slots: Slots) -> Option<Together> {
        let Place { domain, index } = self.place(slots.first);
        let ends = u16::from(domain) + slots.count;
        let of_one = self.layout.schedulers() == 1 && ends <= self.layout.slices();
        let slices = ((1u16 << slots.count) - 1) << domain;
        of_one.then(|| Together::new(Place { domain: 0, index }, 1, slices as u8))
    }

    /// A gang's next instructions are on their way: it is not to be fetched for before they have come.
    #[inline(always)]
    pub fn gang_fetch_under_way(&mut self, gang: Together) {
        let index = gang.index();
        if let Some((leader, _)) = self.held_as_one(gang) {
            return assign(&mut self.domains[leader].wants_fetch, index, false);
        }
        for leader in self.classes_of(gang) {
            assign(&mut self.domains[leader].wants_fetch, index, false);
        }
    }

    /// The warps of a gang wait for a line of instructions, or do not any more. Returns whether all of them did before,
    /// and whether any did.
    pub fn set_gang_missing(&mut self, gang: Together, missing: bool) -> (bool, bool) {
        let (mut all, mut any) = (true, false);
        for leader in self.classes_of(gang) {
            let set = &mut self.domains[leader].missing;
            let was = *set >> gang.index() & 1 != 0;
            assign(set, gang.index(), missing);
            (all, any) = (all & was, any | was);
        }
        (all, any)
    }
}

/// The head of a warp's buffer is looked at anew. `target`: the warp waits for what is at `next`.
#[inline]
fn refresh(mut edit: Edit<'_>, target: bool, next: Pc, code: &[OpFacts]) {
    if target {
        edit.wait_for_target();
    }
    edit.refresh_head(next, code);
}
