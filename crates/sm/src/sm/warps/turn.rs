//! Schedulers taking their turns: in every cycle each domain issues from one of its warps, or
//! nothing, and then its turn is over.

use super::{Stirred, WarpTable};
use crate::place::Place;
use crate::place::each;
use crate::sm::observe::Books;
use crate::sm::operands::Collectors;
use crate::stats::SchedulerState;
use crate::time::Cycle;

impl WarpTable {
    /// A cycle begins: no domain has had a turn.
    #[inline]
    pub fn start_cycle(&mut self, now: Cycle) {
        (self.now, self.turned) = (now, 0);
    }

    /// The turns of this cycle are over.
    #[inline]
    pub fn end_turns(&mut self) {
        self.turned = !0;
    }

    /// Whether a domain has had its turn.
    #[inline]
    pub fn had_turn(&self, d: usize) -> bool {
        self.turned >> d & 1 != 0
    }

    /// A domain in which issue has nothing to do has had its turn. It is accounted for when
    /// something changes.
    #[inline]
    pub fn skip_turn(&mut self, d: usize) {
        self.turned |= self.classes.members(d);
    }

    /// Whether all domains are looked at in every cycle.
    #[inline]
    pub fn in_step(&self) -> bool {
        self.in_step
    }

    /// Whether they are to be, from now on. Returns whether that is new.
    pub fn keep_in_step(&mut self, in_step: bool) -> bool {
        let new = self.in_step != in_step;
        if new {
            self.part();
            self.in_step = in_step;
            self.note_special();
            self.stirred = Stirred::ALL;
        }
        new
    }

    /// Whether issue has to look at the warps again.
    #[inline]
    pub fn stirs_issue(&self) -> bool {
        self.stirred.issue != 0
    }

    /// Issue has to look at the warps of all domains again.
    #[inline]
    pub fn stir_issue(&mut self) {
        self.stirred.issue = !0;
    }

    /// Whether issue would do something about any warp, room aside: see [`Domain::moving`].
    ///
    /// [`Domain::moving`]: super::Domain::moving
    #[inline]
    pub fn any_moves(&self) -> bool {
        self.any_domain(|domain| domain.moving() != 0)
    }

    /// Looks again at the domains in which something has changed. Returns the first cycle in
    /// which issue has something to do if nothing changes, which may have passed, and, if that is behind
    /// cycle `now`, whether any warp counts as having room at its unit.
    #[inline(always)] // its one caller is the cycle
    pub fn look_for_issue(&mut self, now: Cycle, collectors: &Collectors) -> (Cycle, bool) {
        if self.classes.is_one() {
            self.look_at_first(collectors)
        } else if self.special {
            self.look_specially(now, collectors)
        } else {
            self.look_again(now, |d| collectors.room_for(d), false)
        }
    }

    /// Looks for issue where the first domain stands for all.
    #[inline]
    fn look_at_first(&mut self, collectors: &Collectors) -> (Cycle, bool) {
        if std::mem::take(&mut self.stirred.issue) & 1 != 0 {
            let alike = collectors.room_for_all();
            let room = alike.unwrap_or_else(|| self.room_for_class(0, collectors));
            self.domains[0].due = self.domains[0].issue_due(room, false);
        }
        (self.domains[0].due, self.domains[0].room != 0)
    }

    /// Looks for issue where domains are looked at in step, or some stand for others.
    #[inline(never)]
    fn look_specially(&mut self, now: Cycle, collectors: &Collectors) -> (Cycle, bool) {
        if self.in_step {
            return self.look_again(now, |d| collectors.room_for(d), true);
        }
        let stirred = std::mem::take(&mut self.stirred.issue);
        let (mut next, mut with_room) = (Cycle::NEVER, 0);
        let alike = collectors.room_for_all();
        for d in each(self.classes.leaders()) {
            if stirred >> d & 1 != 0 {
                let room = alike.unwrap_or_else(|| self.room_for_class(d, collectors));
                self.domains[d].due = self.domains[d].issue_due(room, false);
            }
            next = next.min(self.domains[d].due);
            with_room |= self.domains[d].room;
        }
        (next, with_room != 0)
    }

    /// The kinds of units at which any domain of a class has room.
    #[inline]
    fn room_for_class(&self, leader: usize, collectors: &Collectors) -> u8 {
        let members = each(self.classes.members(leader));
        members.fold(0, |any, d| any | collectors.room_for(d))
    }

    #[inline(always)]
    fn look_again(
        &mut self,
        now: Cycle,
        room: impl Fn(usize) -> u8,
        in_step: bool,
    ) -> (Cycle, bool) {
        let (mut next, mut with_room) = (Cycle::NEVER, 0);
        for (d, domain) in self.domains.iter_mut().enumerate() {
            if self.stirred.issue >> d & 1 != 0 {
                domain.due = domain.issue_due(room(d), in_step);
            }
            if domain.due <= now {
                // Whatever is to do in the others, it is not before that: they are looked at another time.
                self.stirred.issue &= !0 << d << 1;
                return (domain.due, false);
            }
            next = next.min(domain.due);
            with_room |= domain.room;
        }
        self.stirred.issue = 0;
        (next, with_room != 0)
    }

    /// When issue has something to do, found without taking note of anything.
    pub fn issue_due(&self, collectors: &Collectors) -> Cycle {
        let due = each(self.classes.leaders()).map(|d| {
            let room = self.room_for_class(d, collectors);
            self.domains[d].issue_due(room, self.in_step)
        });
        due.fold(Cycle::NEVER, Cycle::min)
    }

    /// From cycle `now` on no warp has room at its unit: where no warp can issue, only warps that
    /// could are asked for it.
    #[inline(never)]
    pub fn note_no_room(&mut self, now: Cycle, books: &mut Books) {
        for d in each(self.classes.leaders()) {
            self.note_room(d, 0, now, books);
        }
    }

    /// From cycle `now` on, these warps of the domain have room at their units.
    #[inline]
    fn note_room(&mut self, d: usize, room: u64, now: Cycle, books: &mut Books) {
        if self.domains[d].room != room {
            self.pass(d, now, books);
            self.domains[d].room = room;
        }
    }

    /// A warp is about to issue: the cycle is accounted for, and with it its domain's turn is
    /// over. Its instruction holds the issue slot for so many `passes`. `room` is the set of its domain's
    /// warps that have room at their unit.
    #[inline(always)]
    pub fn take_turn(&mut self, place: Place, passes: u8, room: u64, books: &mut Books) {
        let members = 1 << place.domain;
        self.take_turns(place, members, 1, passes, room, books);
    }

    /// A warp is about to issue, and with it the warps at its index in all domains of its class.
    #[inline]
    pub fn take_class_turn(&mut self, place: Place, passes: u8, room: u64, books: &mut Books) {
        let members = self.classes.members(place.domain.into());
        let times = u64::from(members.count_ones());
        self.take_turns(place, members, times, passes, room, books);
    }

    #[inline(always)]
    fn take_turns(
        &mut self,
        place: Place,
        members: u64,
        times: u64,
        passes: u8,
        room: u64,
        books: &mut Books,
    ) {
        let (d, bit, now) = (place.domain as usize, 1 << place.index, self.now);
        let domain = &mut self.domains[d];
        domain.issue_free = now + passes as u64;
        domain.account(bit, room, times, &mut books.stats.warps);
        books.watch.states(self.layout, d, domain, bit, room, now);
        books.stats.schedulers.count(SchedulerState::Issued, times);
        domain.accounted = now + 1;
        self.turned |= members;
    }

    /// Where all slices issue in step: what issued in this cycle holds the issue slots of the others
    /// for as long as its own.
    pub fn hold_all_slots(&mut self, books: &mut Books) {
        let (now, leaders) = (self.now, self.classes.leaders());
        let free = each(leaders).map(|d| self.domains[d].issue_free).max();
        let Some(free) = free.filter(|free| *free > now + 1) else {
            return;
        };
        for d in each(leaders) {
            if self.domains[d].issue_free < free {
                self.pass_turn(d, books);
                self.domains[d].issue_free = free;
            }
        }
        self.stir_issue();
    }

    /// The turns of a class of domains are over, with no warp that is ready and has room.
    pub fn end_empty_turn(&mut self, d: usize, room: u64, books: &mut Books) {
        let members = self.classes.members(d);
        self.pass(d, self.now, books);
        self.account_stall(d, room, books);
        self.turned |= members;
    }

    /// The domain has warps that could issue, but not now. As long as none of them changes and
    /// the same ones have room, its cycles are accounted for together.
    #[inline]
    pub fn stand_still(&mut self, d: usize, room: u64, books: &mut Books) {
        let room = room & self.domains[d].issuable();
        self.note_room(d, room, self.now, books);
        self.turned |= self.classes.members(d);
    }
}
