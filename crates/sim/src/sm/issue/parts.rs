//! A cycle in which several parts of gangs, or single warps, may issue, where slices go together as far as they do
//! (`warps/lockstep`), have the same room, and have units of their own or share them all: as in `gang`, but
//! what holds for a class of slices is found and ended once for each. An instruction then takes room only from
//! its own slices, or from all, so that classes stay alike for as long as they have not had their turn.

use super::lockstep::part_class;
use super::whole::drop_rows;
use super::{Issue, Next, Surroundings, drop_wrong_paths};
use crate::place::each;
use crate::schedule::Together;
use crate::sm::launch::SmFault;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::residents::Residents;
use crate::time::Cycle;

impl Issue {
    /// One cycle of all schedulers, where slices have the same room, if it is such a one; says whether it is.
    #[inline(never)]
    pub(super) fn step_parts(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        let Some(shared) = self.rooms.shared else {
            return Ok(false);
        };
        let Some(mut kinds) = self.rooms.alike else {
            return Ok(false);
        };
        let mut left = self.find_ready_classes(now, with);
        let (mut any, mut settle) = (false, false);
        while left != 0
            && let Some(members) = self.name_next(left as u8, now, with)
        {
            any = true;
            self.take_turns_of_classes(members, kinds, with);
            for d in each(members.domains()) {
                self.plannable[d % MOST_DOMAINS] = 0;
            }
            let room = with.collectors.room() & shared;
            settle |= self.issue_named(members, now, with)?;
            left &= !members.domains();
            if with.collectors.room() & shared != room {
                kinds = self.renew_room(with);
            }
        }
        let room = with.collectors.room() & shared;
        self.close_access(now, with);
        if with.collectors.room() & shared != room {
            kinds = self.renew_room(with);
        }
        Issue::end_turns_of_classes(kinds, now, with);
        if any {
            with.residents.books.stats.counters.issue_cycles += 1;
            self.hold_slots(with);
        }
        if settle {
            with.residents.settle_plan(now);
        }
        Ok(true)
    }

    /// Finds out which warps are ready, and which of them have room. Returns the domains of those, a bit each.
    #[inline]
    fn find_ready_classes(&mut self, now: Cycle, with: &mut Surroundings) -> u64 {
        let mut left = 0;
        for leader in each(with.residents.warps.leaders()) {
            let room = self.planned_room_of(leader, now, with);
            let Residents { warps, books, .. } = &mut *with.residents;
            let (domain, class) = (warps.domain(leader), warps.members(leader));
            let ready = domain.issuable() & room;
            for d in each(class) {
                self.plannable[d % MOST_DOMAINS] = ready;
            }
            if ready != 0 {
                left |= class;
                // The plan may change the order of the warps when it names one.
                warps.pass(leader, now, books);
            }
        }
        left
    }

    /// The warps are about to issue, with room at these kinds of units: the turns of their domains are over.
    #[inline]
    fn take_turns_of_classes(&mut self, members: Together, kinds: u8, with: &mut Surroundings) {
        with.residents.warps.isolate_gang(members);
        let next = Next::at(members.leader(), with); // all issue the same
        for leader in each(members.domains() & with.residents.warps.leaders()) {
            let room = with.residents.warps.domain(leader).with_room(kinds);
            self.take_turn_of_class(leader, &next, room, with);
        }
    }

    /// The warps of a class of domains that have this instruction next are about to issue.
    #[inline(always)]
    pub(super) fn take_turn_of_class(
        &mut self,
        leader: usize,
        next: &Next,
        room: u64,
        with: &mut Surroundings,
    ) {
        let Residents { warps, books, .. } = &mut *with.residents;
        if warps.domain(leader).mismatched() == 0 {
            let (index, passes) = (next.place.index, next.facts.passes);
            return warps.take_class_turn(leader, index, passes, room, books);
        }
        self.take_turn_and_drop(leader, next, room, with);
    }

    /// The same where wrong paths are dropped.
    #[inline(never)]
    fn take_turn_and_drop(
        &mut self,
        leader: usize,
        next: &Next,
        room: u64,
        with: &mut Surroundings,
    ) {
        let (index, passes) = (next.place.index, next.facts.passes);
        let wrong = with.residents.warps.domain(leader).mismatched();
        for d in each(part_class(leader, wrong | 1 << index, with.residents)) {
            let Residents { warps, books, .. } = &mut *with.residents;
            warps.take_class_turn(d, index, passes, room, books);
            drop_wrong_paths(d, Some(index), with.residents, with.view.launched);
        }
    }

    /// There is less room at units that all share. Returns the kinds of units with room for domains that have not
    /// had their turn.
    #[inline(never)]
    fn renew_room(&mut self, with: &Surroundings) -> u8 {
        let (warps, mut kinds) = (&with.residents.warps, 0);
        for leader in each(warps.leaders()).filter(|d| !warps.had_turn(*d)) {
            kinds = with.collectors.room_for(leader);
            let room = warps.domain(leader).with_room(kinds);
            each(warps.members(leader)).for_each(|d| self.plannable[d % MOST_DOMAINS] &= room);
        }
        kinds
    }

    /// The turns of the domains that have issued nothing, and have room at these kinds of units, are over.
    #[inline]
    fn end_turns_of_classes(kinds: u8, now: Cycle, with: &mut Surroundings) {
        let warps = &mut with.residents.warps;
        let wrong = |d: usize| !warps.had_turn(d) && warps.domain(d).mismatched() != 0;
        if each(warps.leaders()).any(wrong) {
            return Issue::end_turns_and_drop(kinds, now, with);
        }
        for d in each(warps.leaders()) {
            if !with.residents.warps.had_turn(d) {
                Issue::end_turn_of_class(d, kinds, now, with.residents);
            }
        }
    }

    /// The turn of a class that has issued nothing, and has nothing to drop, is over.
    #[inline(always)]
    fn end_turn_of_class(d: usize, kinds: u8, now: Cycle, residents: &mut Residents) {
        let Residents { warps, books, .. } = residents;
        let domain = warps.domain(d);
        if domain.moving() == 0 {
            return warps.skip_turn(d);
        }
        let room = domain.with_room_at(now, kinds);
        warps.stand_still(d, room, books);
    }

    /// As [`end_turns_of_classes`](Issue::end_turns_of_classes), where some have wrong paths, and drop them.
    #[inline(never)]
    fn end_turns_and_drop(kinds: u8, now: Cycle, with: &mut Surroundings) {
        let (residents, launched) = (&mut *with.residents, with.view.launched);
        let (mut dropping, mut in_all) = (0, !0);
        for leader in each(residents.warps.leaders()) {
            let warps = &residents.warps;
            if warps.had_turn(leader) {
                in_all = 0;
                continue;
            }
            let domain = warps.domain(leader);
            let (wrong, class) = (domain.mismatched(), warps.members(leader));
            in_all &= wrong;
            if wrong == 0 {
                Issue::end_turn_of_class(leader, kinds, now, residents);
                continue;
            }
            let (room, ranked) = (domain.with_room_at(now, kinds), domain.ranked());
            for d in each(part_class(leader, ranked, residents)) {
                let Residents { warps, books, .. } = &mut *residents;
                warps.end_empty_turn(d, room, books);
            }
            dropping |= class;
        }
        drop_rows(in_all, None, residents);
        for d in each(dropping & residents.warps.leaders()) {
            drop_wrong_paths(d, None, residents, launched);
        }
        let policy = &mut residents.books.policy;
        each(dropping).for_each(|d| policy.advance(d, now, now + 1));
    }
}
