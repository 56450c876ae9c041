//! Slices in lockstep. Where the warps of a home warp issue as a gang, the domains of all slices
//! hold the same most of the time: while they do, the first domain stands for all, and what the
//! warps of a *whole gang*, one in every slice, do together is done to its sets once and counted
//! for each. So is what it does to their buffers, to the scoreboard and to what they have in flight,
//! where these hold the same too ([`together`](super::together)).
//!
//! Nobody has to know: a change of one warp alone makes every domain stand for itself first, and
//! at the beginning of a cycle in which all hold the same, the first stands for them again.

use super::accounting::count_cycles;
use super::{Edit, Hold, WarpTable};
use crate::place::Place;
use crate::sm::facts::OpFacts;
use crate::sm::observe::Books;
use crate::stats::SchedulerState;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// Whether the first domain stands for all.
    #[inline]
    pub fn alike(&self) -> bool {
        self.alike
    }

    /// Every domain stands for itself.
    #[inline]
    pub fn part(&mut self) {
        if self.alike {
            self.part_domains();
        }
    }

    #[cold]
    #[inline(never)]
    fn part_domains(&mut self) {
        self.domains.keep_all();
        (self.alike, self.special) = (false, self.in_step);
        self.tell_all();
        self.stir_issue(); // there may be room for some and not for others
    }

    /// Lets the first domain stand for all, if all hold the same. Only where every slice has one
    /// scheduler. To be called before any has its turn.
    pub fn join(&mut self, books: &mut Books) {
        if self.special || self.layout.schedulers() != 1 || self.domains.count() == 1 {
            return;
        }
        let Some((first, others)) = self.domains.split_first() else {
            return;
        };
        // Most often it is one of these that differs.
        let near = |d: &super::Domain| {
            d.clear == first.clear && d.head == first.head && d.resident == first.resident
        };
        let now = self.now;
        if !others.iter().all(near) || !others.iter().all(|d| d.is_like(first, now)) {
            return;
        }
        let looked = |d: &super::Domain| d.due.max(now) == first.due.max(now);
        if self.stirred.issue != 0 {
            self.stirred.issue = !0;
        } else if !others.iter().all(looked) {
            return; // there is room for some and not for others
        }
        for d in 0..self.domains.count() {
            self.pass(d, self.now, books);
        }
        self.domains.keep_first();
        (self.alike, self.special) = (true, true);
    }

    /// The slots of a whole gang, by that of its warp in the first slice.
    #[inline]
    pub fn whole(&self, first: u16) -> std::ops::Range<u16> {
        first..first + self.domains.count() as u16
    }

    /// The warps of a whole gang change alike, while the first domain stands for all.
    #[inline]
    fn touch_whole(&mut self, books: &mut Books) {
        debug_assert!(self.alike);
        self.stirred.issue = !0;
        self.stirred.fetch = true;
        self.pass(0, self.now + (self.turned & 1), books);
    }

    #[inline]
    fn edit_whole(&mut self, first: u16) -> Edit<'_> {
        let warp = &mut self.warps[first as usize];
        Edit {
            domain: &mut self.domains[0],
            index: warp.place.index,
            warp,
            scoreboard: &self.scoreboard,
            rules: &self.rules,
            stirs_fetch: &mut self.stirred.fetch,
            slot: first,
        }
    }

    /// As [`take_turn`](WarpTable::take_turn), for a whole gang, while the first domain stands for
    /// all.
    pub fn take_whole_turn(&mut self, index: u8, passes: u8, room: u64, books: &mut Books) {
        debug_assert!(self.alike);
        let (now, bit, times) = (self.now, 1 << index, self.domains.count() as u64);
        let domain = &mut self.domains[0];
        domain.issue_free = now + passes as u64;
        domain.account(bit, room, times, &mut books.stats.warps);
        books.stats.schedulers.count(SchedulerState::Issued, times);
        count_cycles(domain, now + 1, times, books);
        self.turned = !0;
    }

    /// As [`end_empty_turn`](WarpTable::end_empty_turn), for all domains, for which the first one
    /// stands, where the policy ranks the warps of all alike.
    pub fn end_empty_turns(&mut self, room: u64, books: &mut Books) {
        debug_assert!(self.alike && books.policy.ranks_alike());
        self.pass(0, self.now, books);
        let times = self.domains.count() as u64;
        self.account_stall(0, room, times, books);
        count_cycles(&mut self.domains[0], self.now + 1, times, books);
        self.turned = !0;
    }

    /// The warps of a whole gang have the wrong path in their buffers, and lose it, while the first
    /// domain stands for all. `next` says where each goes on.
    pub fn drop_whole_path(
        &mut self,
        first: u16,
        next: impl Fn(u16) -> Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        self.touch_whole(books);
        let pc = next(first);
        for (slot, warp) in (first..).zip(self.kept_mut(first)).skip(1) {
            warp.buffer.flush(next(slot));
        }
        let mut edit = self.edit_whole(first);
        edit.drop_wrong_path(pc);
        edit.refresh_head(pc, code); // there is none, in any slice
    }

    /// As [`set_missing`](WarpTable::set_missing), for a whole gang whose first warp stands for all.
    pub fn set_whole_missing(&mut self, first: u16, missing: bool) -> bool {
        debug_assert!(self.is_together(first));
        let index = self.place(first).index;
        let set = &mut self.domains[0].missing;
        let was = *set >> index & 1 != 0;
        super::domain::assign(set, index, missing);
        was
    }

    /// The turns of all domains, for which the first one stands and in which nobody issues, are
    /// over, as after [`skip_turn`](WarpTable::skip_turn) or [`stand_still`](WarpTable::stand_still).
    pub fn skip_all_turns(&mut self) {
        self.turned = !0;
    }

    /// As [`issued`](WarpTable::issued), for a whole gang.
    #[inline]
    pub fn whole_issued(&mut self, first: u16, facts: &OpFacts) {
        match self.is_together(first) {
            true => self.scoreboard.reserve(first, facts),
            false => self.scoreboard.reserve_for_all(self.whole(first), facts),
        }
        let memory = facts.is_memory() as u16;
        for warp in self.kept_mut(first) {
            warp.buffer.pop();
            warp.instructions += 1;
            warp.in_flight += 1;
            warp.memory_in_flight += memory;
        }
    }

    /// The warps of a whole gang have executed an instruction, which leads all of them to `next`.
    /// `target`: they wait for what is there.
    pub fn refresh_whole(
        &mut self,
        first: u16,
        target: bool,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        if self.alike && self.bring_together(first, code) {
            self.touch_whole(books);
            let mut edit = self.edit_whole(first);
            if target {
                edit.wait_for_target();
            }
            // What the instruction goes through is asked only by policies that look at warps, and
            // domains are not alike then.
            return edit.refresh_head(next, code);
        }
        for slot in self.whole(first) {
            let mut edit = self.edit(slot, books);
            if target {
                edit.wait_for_target();
            }
            edit.refresh_head(next, code);
        }
    }

    /// Puts what was fetched from `pc` for a whole gang, whose next instruction is `next`, into its
    /// buffers.
    pub fn decode_whole(
        &mut self,
        first: u16,
        pc: Pc,
        next: Pc,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        if self.alike && (self.is_together(first) || self.buffers_alike(first)) {
            self.touch_whole(books);
            self.edit_whole(first).decode(pc, next, code);
            let buffer = self.warps[first as usize].buffer;
            for warp in self.kept_mut(first) {
                warp.buffer = buffer;
            }
        } else {
            for slot in self.whole(first) {
                self.edit(slot, books).decode(pc, next, code);
            }
        }
        self.refresh_whole(first, false, next, code, books);
    }

    /// The warps of a whole gang wait for something, or do not any more.
    pub fn hold_whole(&mut self, first: u16, what: Hold, held: bool, books: &mut Books) {
        if self.alike {
            self.touch_whole(books);
            return self.edit_whole(first).hold(what, held);
        }
        for slot in self.whole(first) {
            self.edit(slot, books).hold(what, held);
        }
    }

    /// If these slots begin with those of a whole gang, and the first domain stands for all: those
    /// behind them.
    pub fn behind_whole_gang<'a>(&self, slots: &'a [u16]) -> Option<&'a [u16]> {
        let first = *slots.first().filter(|_| self.alike)?;
        let (theirs, others) = slots.split_at_checked(self.domains.count())?;
        let whole = self.place(first).domain == 0 && self.whole(first).eq(theirs.iter().copied());
        whole.then_some(others)
    }

    /// As [`fetch_under_way`](WarpTable::fetch_under_way), for a whole gang.
    pub fn whole_fetch_under_way(&mut self, first: u16) {
        let place = self.place(first);
        if self.alike {
            super::domain::assign(&mut self.domains[0].wants_fetch, place.index, false);
            return;
        }
        for domain in 0..self.domains.count() as u8 {
            self.fetch_under_way(Place { domain, ..place });
        }
    }

    /// An instruction of a whole gang is complete, as [`completed`](WarpTable::completed).
    pub fn whole_completed(
        &mut self,
        first: u16,
        facts: &OpFacts,
        code: &[OpFacts],
        books: &mut Books,
    ) {
        match self.is_together(first) {
            true => self.scoreboard.release(first, facts),
            false => self.scoreboard.release_for_all(self.whole(first), facts),
        }
        self.whole_landed(first, facts.is_memory(), code, books);
    }

    /// As [`store_sent`](WarpTable::store_sent), for a whole gang.
    pub fn whole_store_sent(&mut self, first: u16, code: &[OpFacts], books: &mut Books) {
        self.whole_landed(first, true, code, books);
    }

    /// An instruction of a whole gang is no longer in flight.
    #[inline]
    fn whole_landed(&mut self, first: u16, memory: bool, code: &[OpFacts], books: &mut Books) {
        let memory = memory as u16;
        for warp in self.kept_mut(first) {
            warp.in_flight -= 1;
            warp.memory_in_flight -= memory;
        }
        let index = self.place(first).index;
        if self.alike {
            let domain = &self.domains[0];
            if domain.clear >> index & 1 != 0 {
                return;
            }
            let stopped = domain.stopped >> index & 1 != 0;
            if !stopped && self.heads_alike(first, code) {
                return self.check_whole_hazard(first, index, code, books);
            }
        }
        self.part();
        for slot in self.whole(first) {
            let domain = self.place(slot).domain;
            if self.domains[domain as usize].clear >> index & 1 == 0 {
                self.check_hazard(slot, code, books);
            }
        }
    }

    /// Finds out anew what holds back the instruction that the warps of a whole gang have at the head
    /// of their buffers, if any, while the same holds back each.
    #[inline]
    fn check_whole_hazard(&mut self, first: u16, index: u8, code: &[OpFacts], books: &mut Books) {
        let Some(pc) = self.warps[first as usize].buffer.head() else {
            return;
        };
        let hazard = self.hazard(first, &code[pc as usize]);
        if self.domains[0].held_back(index) != hazard {
            self.touch_whole(books);
            self.domains[0].hold_back(index, hazard);
        }
    }
}

#[cfg(test)]
#[path = "lockstep_tests.rs"]
mod tests;
