//! Slices in lockstep. Where the warps of a home warp issue as a gang, the domains of most slices have equal warp states most of
//! the time. Such domains are a class ([`classes`](super::classes)), and the state of the first is kept for all of them: what a
//! gang does is done once for each class and counted for each of its domains ([`gangs`](super::gangs)). Buffers, scoreboard and
//! what is in flight are kept by warps of a home warp, in classes of their own ([`together`](super::together)).
//!
//! Other parts need not know. A change of one warp takes its domain out of its class first. At the beginning of a cycle, domains
//! that have become equal are made one class again.

use super::{Domain, Edit, WarpTable};
use crate::place::{Place, each};
use crate::sm::observe::Books;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// Whether the first domain stands for all.
    #[cfg(test)]
    pub fn alike(&self) -> bool {
        self.classes.is_one()
    }

    /// Whether any domain stands for another.
    #[inline]
    pub fn any_alike(&self) -> bool {
        self.classes.any()
    }

    /// The domains that stand for themselves, and perhaps for others, a bit each.
    #[inline]
    pub fn leaders(&self) -> u64 {
        self.classes.leaders()
    }

    /// The domain that stands for this one.
    #[inline]
    pub fn leader_of(&self, domain: usize) -> usize {
        self.classes.leader_of(domain)
    }

    /// The domains that a leader stands for, itself included, a bit each.
    #[inline]
    pub fn members(&self, leader: usize) -> u64 {
        self.classes.members(leader)
    }

    /// The domains, a bit each, whose warp at `index` is in a set, which `of` finds among the warps of a domain.
    #[inline(always)]
    pub(super) fn having(&self, index: u8, of: impl Fn(&Domain) -> u64) -> u64 {
        let (mut those, mut left) = (0, self.classes.leaders());
        while left != 0 {
            let leader = left.trailing_zeros() as usize;
            left &= left - 1;
            if of(&self.domains[leader]) >> index & 1 != 0 {
                those |= self.members(leader);
            }
        }
        those
    }

    /// The slices of a home warp, whose warp in the first sits at `home`, whose warps are in each of two sets, which
    /// are asked for by domains that stand for themselves.
    #[inline]
    pub fn slices_in(&self, home: Place, sets: impl Fn(usize) -> [u64; 2]) -> [u8; 2] {
        let mut found = [0, 0];
        let mut add = |d: usize, slices: u64| {
            let those = |set: u64| (set >> home.index & 1).wrapping_neg() & slices;
            let [first, second] = sets(d);
            found[0] |= those(first);
            found[1] |= those(second);
        };
        let step = self.layout.schedulers() as usize;
        if step == 1 {
            let mut left = self.classes.leaders();
            while left != 0 {
                let leader = left.trailing_zeros() as usize;
                left &= left - 1;
                add(leader, self.members(leader));
            }
        } else {
            let domains = (home.domain as usize..self.domains.len()).step_by(step);
            for (slice, d) in domains.enumerate() {
                add(self.leader_of(d), 1 << slice);
            }
        }
        found.map(|slices| slices as u8)
    }

    /// Every domain stands for itself, and every warp.
    #[inline]
    pub fn part(&mut self) {
        self.isolate_each(!0);
        self.part_warps();
    }

    /// Each of these domains, a bit each, stands for itself alone.
    #[inline]
    pub fn isolate_each(&mut self, domains: u64) {
        if self.classes.any() {
            let mut left = domains & self.classes.all();
            // The leaders last: then they need not hand on.
            while left != 0 {
                let last = 1 << left.ilog2();
                left &= !last;
                self.take_out(last);
            }
        }
    }

    /// None of these domains, a bit each, is in a class with others than these.
    #[inline]
    pub fn isolate(&mut self, domains: u64) {
        // All of them together hold whole classes.
        if self.classes.any() && domains != self.classes.all() {
            let leader = self.classes.leader_of(domains.trailing_zeros() as usize);
            if self.classes.members(leader) != domains {
                self.take_out(domains);
            }
        }
    }

    #[inline(never)]
    fn take_out(&mut self, domains: u64) {
        let mut left = domains;
        while left != 0 {
            let leader = self.classes.leader_of(left.trailing_zeros() as usize);
            let class = self.classes.members(leader);
            left &= !class;
            if class & !domains != 0 {
                self.split(leader, class & domains);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn split(&mut self, leader: usize, off: u64) {
        self.stirred.issue |= self.classes.members(leader); // there may be room for some and not for others
        self.stirred.join = true;
        let second = self.classes.split(leader, off);
        self.domains[second] = self.domains[leader].clone();
        self.note_special();
    }

    #[inline]
    pub(super) fn note_special(&mut self) {
        self.special = self.in_step || self.standing != 0 || self.classes.any();
    }

    /// Makes domains that hold the same one class. Only where every slice has one scheduler. To be
    /// called before any has its turn.
    #[inline]
    pub fn join(&mut self, books: &mut Books) {
        let others = self.classes.leaders() & !1;
        let may = self.stirred.join || !self.special;
        if others != 0 && may && !self.in_step && self.layout.schedulers() == 1 {
            self.stirred.join = false;
            self.join_these(others, books);
        }
    }

    #[inline(never)]
    fn join_these(&mut self, mut others: u64, books: &mut Books) {
        while others != 0 {
            let second = others.trailing_zeros() as usize;
            let mut before = self.classes.leaders() & (others ^ (others - 1)) >> 1;
            others &= others - 1;
            while before != 0 {
                let first = before.trailing_zeros() as usize;
                before &= before - 1;
                if !self.look_alike(first, second) {
                    continue;
                }
                if self.hold_the_same(first, second) {
                    self.merge(first, second, books);
                    break;
                }
                self.stirred.join = true; // they may without being changed
            }
        }
    }

    #[inline]
    fn look_alike(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.domains[first], &self.domains[second]);
        // Most often it is one of these that differs.
        a.clear == b.clear
            && a.held == b.held
            && a.head == b.head
            && a.kind == b.kind
            && a.control == b.control
            && a.resident == b.resident
    }

    #[inline(never)]
    fn hold_the_same(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.domains[first], &self.domains[second]);
        // Where issue does not look again, there may be room for some and not for others.
        let looked = |d: &Domain| (d.due.max(self.now), d.room);
        let looks = self.stirred.issue & (1 << first | 1 << second) != 0;
        (looks || looked(a) == looked(b)) && b.is_like(a, self.now)
    }

    #[inline(never)]
    fn merge(&mut self, first: usize, second: usize, books: &mut Books) {
        self.pass(first, self.now, books);
        self.pass(second, self.now, books);
        if self.stirred.issue & (1 << first | 1 << second) != 0 {
            self.stirred.issue |= self.classes.members(first) | self.classes.members(second);
        }
        self.classes.merge(first, second);
        self.special = true;
    }

    /// A warp at the same index in every domain of a class is about to change.
    #[inline]
    pub(super) fn touch_class(&mut self, leader: usize, books: &mut Books) {
        self.stirred.join = true;
        self.touch_alike(leader, books);
    }

    /// A warp at the same index in every domain of a class is about to change, and in all other classes, in the same way:
    /// what differs between classes is elsewhere, so that none become equal by it.
    #[inline]
    pub(super) fn touch_alike(&mut self, leader: usize, books: &mut Books) {
        debug_assert!(!self.in_step && self.leader_of(leader) == leader);
        self.stirred.issue |= self.classes.members(leader);
        self.stirred.fetch = true;
        self.pass_turn(leader, books);
    }

    /// Changes the warps at an index in all domains of a class, which has been [touched](Self::touch_class).
    #[inline]
    pub(super) fn edit_class(&mut self, leader: usize, index: u8) -> Edit<'_> {
        self.edit_kept(leader, self.kept(self.slot_in(leader, index)))
    }

    /// Changes the warps of a class. `slot` is the warp whose buffer is [kept](Self::kept) for that of the leader.
    #[inline]
    pub(super) fn edit_kept(&mut self, leader: usize, slot: u16) -> Edit<'_> {
        Edit {
            domain: &mut self.domains[leader],
            index: self.warps[slot as usize].place.index,
            warp: &mut self.warps[slot as usize],
            scoreboard: &self.scoreboard,
            rules: &self.rules,
            stirs_fetch: &mut self.stirred.fetch,
            residency: &mut self.residency,
            slot,
        }
    }

    /// The warps at `index` in all domains of a class have the wrong path in their buffers, and lose
    /// it. `next` says where each goes on.
    pub fn drop_class_path(
        &mut self,
        leader: usize,
        index: u8,
        next: impl Fn(u16) -> Pc,
        code: &[super::OpFacts],
        books: &mut Books,
    ) {
        self.touch_class(leader, books);
        let members = self.members(leader);
        self.isolate_warps(index, members);
        for d in each(self.kept_among(members, index)) {
            let slot = self.slot_in(d, index);
            self.warps[slot as usize].buffer.flush(next(slot));
        }
        let pc = next(self.slot_in(leader, index));
        let mut edit = self.edit_class(leader, index);
        edit.drop_wrong_path(pc);
        edit.refresh_head(pc, code); // there is none, in any of them
    }
}

#[cfg(test)]
#[path = "tests/lockstep.rs"]
mod tests;
