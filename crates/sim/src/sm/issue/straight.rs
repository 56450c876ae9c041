//! A cycle in which the warps of one class of slices (`warps/lockstep`) are all that issue would do something
//! about: one part of a gang, or one single warp, takes the turns of the whole class, and the other slices have
//! nothing to do. So there is nothing to plan for each slice: the warps that go are found by the sets of the class
//! alone, and what it issues is done straight, as for a gang with a warp in every slice (`whole`). Where it is not
//! the whole class that goes, what is ready is looked at slice by slice (`parts`), which comes to the same.

use super::gang::{goes_on_at, runs_at};
use super::{Issue, Next, Surroundings};
use crate::place::each;
use crate::sm::launch::SmFault;
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::residents::Residents;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// One cycle of all schedulers, if warps of the class with this leader alone could issue, or would drop
    /// wrong paths, and if one that takes the turns of the class does, or none; says whether it is such a one.
    #[inline(never)]
    pub(super) fn step_class(
        &mut self,
        leader: usize,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        let room = self.planned_room_of(leader, now, with);
        let Residents { warps, books, .. } = &mut *with.residents;
        let (class, domain) = (warps.members(leader), warps.domain(leader));
        let (ready, drops) = (domain.issuable() & room, domain.mismatched() != 0);
        let mut named = None;
        if ready != 0 {
            // The plan may change the order of the warps when it names one.
            warps.pass(leader, now, books);
            let plan = books.policy.plan();
            named = plan.and_then(|plan| plan.next_in(class as u8, ready));
        }
        let Some(gang) = named else {
            if drops || ready != 0 && self.any_warp_issues(now, with) {
                return self.step_parts(now, with);
            }
            self.issue_nowhere(now, with);
            return Ok(true);
        };
        warps.isolate_gang(gang);
        let next = Next::at(gang.leader(), with);
        self.take_turn_of_class(leader, &next, room, with);
        let at = match gang.len() {
            1 => self.issue_single(&next, now, with)?,
            _ => self.issue_only(gang, false, &next, now, with)?,
        };
        let at = goes_on_at(gang, at, &with.residents.warps);
        let books = &mut with.residents.books;
        books.stats.counters.gang_issues += u64::from(gang.len() > 1);
        books.stats.counters.issue_cycles += 1;
        let settle = books.policy.plan().is_some_and(|p| p.went_on(gang, at));
        self.end_turns_of_others(now, with);
        self.hold_slots(with);
        if settle {
            with.residents.settle_plan(now);
        }
        Ok(true)
    }

    /// Issues the instruction of a single warp; an access to memory is the only one of the cycle. Returns where
    /// the warp goes on, if it does.
    #[inline]
    fn issue_single(
        &mut self,
        next: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        self.issue_alone(next, now, with)?;
        if self.gathers && next.facts.is_memory() {
            with.collectors.let_memory_issue(false);
        }
        Ok(runs_at(next.slot, with))
    }

    /// The turns of the slices that had nothing to do are over. What has issued may have let warps go there.
    #[inline]
    fn end_turns_of_others(&mut self, now: Cycle, with: &mut Surroundings) {
        let warps = &mut with.residents.warps;
        let had = |d: usize| warps.had_turn(d) || warps.domain(d).moving() == 0;
        if each(warps.leaders()).all(had) {
            return warps.end_turns();
        }
        self.ready[..self.domains].fill(0);
        self.end_other_turns(now, with);
    }

    /// Whether the plan would name a warp, where slices have the same room, and no home warp is ready in all.
    #[inline(never)]
    pub(super) fn any_warp_issues(&mut self, now: Cycle, with: &mut Surroundings) -> bool {
        let plan = with.residents.books.policy.plan();
        if plan.is_some_and(|plan| plan.names_whole_alone()) {
            return false;
        }
        let (warps, mut open) = (&with.residents.warps, 0);
        for d in each(warps.leaders()) {
            let ready = warps.domain(d).issuable() & self.planned_room_of(d, now, with);
            let class = warps.members(d);
            each(class).for_each(|d| self.plannable[d % MOST_DOMAINS] = ready);
            open |= if ready != 0 { class as u8 } else { 0 };
        }
        let plan = with.residents.books.policy.plan();
        plan.is_none_or(|plan| plan.names_any(&self.plannable[..self.domains], open))
    }

    /// The turns of all slices are over: no warp can issue, and none has to drop a wrong path.
    #[inline]
    pub(super) fn issue_nowhere(&self, now: Cycle, with: &mut Surroundings) {
        for d in each(with.residents.warps.leaders()) {
            let room = self.planned_room_of(d, now, with);
            let Residents { warps, books, .. } = &mut *with.residents;
            match warps.domain(d).moving() {
                0 => warps.skip_turn(d),
                _ => warps.stand_still(d, room, books),
            }
        }
    }
}
