//! The common case on slices in lockstep (`warps/lockstep`): all of them hold the same, they have the same
//! room, and the gang that issues has a warp in every slice. It takes the turns of all slices, so it is
//! chosen, and what it issues is done, once and straight. Everything else goes the longer way (`gang`),
//! which comes to the same.

use super::{Issue, Next, Surroundings, drop_wrong_paths};
use crate::place::Place;
use crate::schedule::Together;
use crate::sm::launch::SmFault;
use crate::sm::residents::Residents;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// One cycle of all schedulers, if it is such a one and that can be seen at a glance, or one in which nobody
    /// can issue; says whether it is.
    #[inline(never)]
    pub(super) fn step_in_lockstep(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        if !with.residents.warps.alike() || !self.may_go_as_one(with) {
            return Ok(false);
        }
        self.ask_for_room(with);
        if self.room_alike.is_none() {
            return Ok(false);
        }
        let room = self.planned_room_of(0, now, with);
        let Residents { warps, books, .. } = &mut *with.residents;
        let domain = warps.domain(0);
        let (ready, drops) = (domain.issuable() & room, domain.mismatched() != 0);
        if ready == 0 && !drops {
            match domain.moving() {
                0 => warps.skip_turn(0),
                _ => warps.stand_still(0, room, books),
            }
            return Ok(true);
        }
        if ready == 0 || drops && !books.policy.ranks_alike(warps.members(0)) {
            return Ok(false);
        }
        // The plan may change the order of the warps when it names one.
        warps.pass(0, now, books);
        let named = books.policy.plan().and_then(|plan| plan.next_whole(ready));
        let Some(index) = named else {
            return Ok(false);
        };
        let first = Place { domain: 0, index };
        self.issue_whole(first, room, now, with)?;
        Ok(true)
    }

    /// The cycle in which the gang whose first warp sits here takes the turns of all slices.
    #[inline]
    fn issue_whole(
        &mut self,
        first: Place,
        room: u64,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let next = Next::at(first, with);
        let Residents { warps, books, .. } = &mut *with.residents;
        // Where slices are in lockstep each has one scheduler, and there are at most eight.
        let gang = Together::new(first, 1, u8::MAX >> (8 - self.domains));
        warps.take_class_turn(0, first.index, next.facts.passes, room, books);
        drop_wrong_paths(0, Some(first.index), with.residents, with.view.launched);
        let at = self.issue_row(gang, &next, now, with)?;
        let books = &mut with.residents.books;
        books.stats.counters.gang_issues += 1;
        books.stats.counters.issue_cycles += 1;
        let settle = books.policy.plan().is_some_and(|p| p.went_on(gang, at));
        self.hold_slots(with);
        if settle {
            with.residents.settle_plan(now);
        }
        Ok(())
    }

    /// Issues the instruction of such a gang; an access to memory is the only one of the cycle. Returns where
    /// its warps go on, if all go on there.
    #[inline]
    fn issue_row(
        &mut self,
        gang: Together,
        next: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let together = self.execute_together(gang, next.pc, true, now, with)?;
        if together && self.leads_on_as_one() {
            let at = self.whole_goes_on(gang, next, now, with)?;
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
