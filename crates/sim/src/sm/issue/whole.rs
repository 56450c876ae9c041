//! The common case where slices go together (`warps/lockstep`): they have the same room, and the gang that issues
//! has a warp in every slice. It takes the turns of all slices, so it is chosen, and what it issues is done,
//! once and straight. Cycles in which slices have the same room but others issue are next (`straight`, `parts`);
//! everything else goes the longer way (`gang`), which comes to the same.

use super::lockstep::part_class;
use super::{Issue, Next, Surroundings, drop_these, drop_wrong_paths};
use crate::place::{Place, each};
use crate::schedule::Together;
use crate::sm::launch::{Launched, SmFault};
use crate::sm::residents::Residents;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// Which warps issue, as far as a glance tells.
enum Glance {
    /// No warp can issue.
    NoWarp,
    /// A gang with a warp at this index in every slice, and, if the first slice stands for all, its warps that
    /// have room at their units.
    Gang(u8, Option<u64>),
    /// Only warps of the class of slices with this leader.
    Class(usize),
    /// A glance does not tell.
    Unclear,
}

impl Issue {
    /// One cycle of all schedulers, where slices have the same room and no observer has to hear of each warp; says whether
    /// it is such a one.
    #[inline(never)]
    pub(super) fn step_whole(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        if !self.may_go_as_one(with) || with.residents.warps.layout().schedulers() != 1 {
            return Ok(false);
        }
        self.ask_for_room(with);
        if self.rooms.alike.is_none() {
            return Ok(false);
        }
        let named = match with.residents.warps.alike() {
            true => self.next_where_alike(now, with),
            false => self.next_of_classes(now, with),
        };
        match named {
            Glance::NoWarp => Ok(true),
            Glance::Gang(index, room) => self.issue_whole(index, room, now, with),
            Glance::Class(leader) => self.step_class(leader, now, with),
            Glance::Unclear => self.step_parts(now, with),
        }
    }

    /// The gang that issues, where the first slice stands for all.
    #[inline(always)]
    fn next_where_alike(&mut self, now: Cycle, with: &mut Surroundings) -> Glance {
        let room = self.planned_room_of(0, now, with);
        let Residents { warps, books, .. } = &mut *with.residents;
        let domain = warps.domain(0);
        let (ready, wrong) = (domain.issuable() & room, domain.mismatched());
        if ready | wrong == 0 {
            match domain.moving() {
                0 => warps.skip_turn(0),
                _ => warps.stand_still(0, room, books),
            }
            return Glance::NoWarp;
        }
        if ready == 0 || wrong != 0 && !books.policy.ranks_alike(warps.members(0), wrong | ready) {
            return Glance::Unclear;
        }
        // The plan may change the order of the warps when it names one.
        warps.pass(0, now, books);
        let named = books.policy.plan().and_then(|plan| plan.next_whole(ready));
        named.map_or(Glance::Unclear, |index| Glance::Gang(index, Some(room)))
    }

    /// The same where slices are of several classes.
    #[inline(never)]
    fn next_of_classes(&mut self, now: Cycle, with: &mut Surroundings) -> Glance {
        let warps = &with.residents.warps;
        let (leaders, kinds) = (warps.leaders(), self.rooms.alike.unwrap_or(0));
        let (mut ready, mut moving, mut wrong) = (!0, 0u64, 0);
        for d in each(leaders) {
            let domain = warps.domain(d);
            let those = domain.moving();
            if those == 0 {
                ready = 0;
                continue;
            }
            moving |= 1 << d;
            let issuable = domain.issuable_of(those);
            wrong |= those & !issuable; // a warp that moves and cannot issue loses a wrong path
            ready &= issuable & domain.with_room_at(now, kinds);
        }
        if moving.is_power_of_two() {
            return Glance::Class(moving.trailing_zeros() as usize);
        }
        if ready == 0 {
            if wrong != 0 || self.any_warp_issues(now, with) {
                return Glance::Unclear;
            }
            self.issue_nowhere(now, with);
            return Glance::NoWarp;
        }
        let plan = with.residents.books.policy.plan();
        let named = plan.and_then(|plan| plan.next_whole(ready));
        named.map_or(Glance::Unclear, |index| Glance::Gang(index, None))
    }

    /// The cycle in which the gang with warps at this index takes the turns of all slices. If one stands for all:
    /// its warps that have room.
    #[inline]
    fn issue_whole(
        &mut self,
        index: u8,
        room: Option<u64>,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        let first = Place { domain: 0, index };
        let next = Next::at(first, with);
        let gang = with.residents.warps.whole_gang(next.slot);
        let Residents { warps, books, .. } = &mut *with.residents;
        if let Some(room) = room {
            warps.take_class_turn(0, index, next.facts.passes, room, books);
            drop_wrong_paths(0, Some(index), with.residents, with.view.launched);
        } else {
            self.take_turns_of_all(&next, now, with);
        }
        let at = self.issue_only(gang, true, &next, now, with)?;
        let books = &mut with.residents.books;
        books.stats.counters.gang_issues += 1;
        books.stats.counters.issue_cycles += 1;
        let settle = books.policy.plan().is_some_and(|p| p.went_on(gang, at));
        self.hold_slots(with);
        if settle {
            with.residents.settle_plan(now);
        }
        Ok(true)
    }

    /// The warps of such a gang are about to issue, where slices are of several classes. Those with wrong paths drop
    /// them then: most often all slices do so alike.
    #[inline(never)]
    fn take_turns_of_all(&mut self, next: &Next, now: Cycle, with: &mut Surroundings) {
        let kinds = self.rooms.alike.unwrap_or(0);
        let (index, passes) = (next.place.index, next.facts.passes);
        let (mut any, mut all) = (0, !0);
        let mut left = with.residents.warps.leaders();
        while left != 0 {
            let d = left.trailing_zeros() as usize;
            left &= left - 1;
            let Residents { warps, books, .. } = &mut *with.residents;
            warps.pass(d, now, books); // the order of single warps is as it was
            let domain = warps.domain(d);
            let (room, wrong) = (domain.with_room(kinds), domain.mismatched()); // the slots are free
            (any, all) = (any | wrong, all & wrong);
            warps.take_class_turn(d, index, passes, room, books);
        }
        if any != 0 {
            drop_everywhere(all, index, with.residents, with.view.launched);
        }
    }

    /// Issues the instruction of a gang, which has a warp in every slice or not; an access to memory is the only one
    /// of the cycle. Returns where its warps go on, if all go on there.
    #[inline(always)]
    pub(super) fn issue_only(
        &mut self,
        gang: Together,
        whole: bool,
        next: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let together = self.execute_together(gang, next.pc, true, now, with)?;
        if together && self.leads_on_as_one() {
            let at = match whole {
                true => self.whole_goes_on(gang, next, now, with)?,
                false => self.gang_goes_on(gang, next, now, with)?,
            };
            if next.facts.is_memory() {
                self.send_only_access(next, now, with);
            }
            return Ok(at);
        }
        let at = match together {
            true => self.go_on_together(gang, next, false, now, with)?,
            false => self.issue_apart(gang, next, now, with)?,
        };
        self.close_access(now, with);
        Ok(at)
    }
}

/// Warps on the wrong path, `in_all` slices at these indices, where those of a home warp are kept as one and all slices
/// look at them before that of the `winner`, if there is one, or after it: lose their buffers as one, or not. Returns
/// the indices of both.
#[inline]
pub(super) fn drop_rows(in_all: u64, winner: Option<u8>, residents: &mut Residents) -> u64 {
    let Residents {
        warps,
        books,
        groups,
        ..
    } = residents;
    let rows = in_all & warps.kept_in_rows();
    let alike = |winner: u8| {
        books
            .policy
            .ranks_alike(warps.every_domain(), rows | 1 << winner)
    };
    if rows == 0 || !winner.is_none_or(alike) {
        return 0;
    }
    for index in each(rows).map(|index| index as u8) {
        if winner.is_none_or(|winner| books.policy.before(0, index, winner)) {
            let first = warps.slot_at(Place { domain: 0, index });
            warps.drop_row_path(index, groups.get(first).pc, books);
        }
    }
    rows
}

/// The warps on the wrong path, `in_all` slices at these indices, that a slice looks at before that of the `winner` lose
/// their buffers.
#[inline(never)]
fn drop_everywhere(in_all: u64, winner: u8, residents: &mut Residents, launched: &Launched) {
    let rows = drop_rows(in_all, Some(winner), residents);
    for leader in each(residents.warps.leaders()) {
        let wrong = residents.warps.domain(leader).mismatched() & !rows;
        if wrong != 0 {
            for d in each(part_class(leader, wrong | 1 << winner, residents)) {
                drop_these(d, wrong, Some(winner), residents, launched);
            }
        }
    }
}
