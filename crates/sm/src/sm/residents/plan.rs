//! What policies that plan the issues of all schedulers hear beside the others: when memory has
//! made a warp ready, when a cycle begins, and when its issues are over.

use super::Residents;
use crate::observe::WarpEvent;
use crate::place::{Layout, Place};
use crate::schedule::{GangView, IssuePlan, Together};
use crate::sm::facts::OpFacts;
use crate::sm::launch::Launched;
use crate::sm::observe::Books;
use crate::sm::warps::WarpTable;
use crate::stats::SmCounters;
use crate::time::Cycle;
use warpsim_ptx::kernel::NO_PC;

/// Whether the next instruction of a warp waits for data.
pub(super) fn waits_for_data(warps: &WarpTable, place: Place) -> bool {
    let domain = warps.sets(place.domain as usize);
    domain.clear() >> place.index & 1 == 0
}

impl Residents {
    /// A launch begins.
    pub(super) fn begin_plan(&mut self, launched: &Launched) {
        let code = &launched.kernel.code;
        let mut meeting_points = vec![false; code.len()];
        for instr in code.iter().filter(|i| i.reconverge != NO_PC) {
            meeting_points[instr.reconverge as usize] = true;
        }
        if let Some(plan) = self.books.policy.plan() {
            plan.begin(meeting_points);
        }
    }

    /// A load is complete, as [`complete`](Residents::complete).
    #[inline]
    pub(super) fn complete_load(&mut self, slot: u16, facts: &OpFacts, launched: &Launched) {
        if !self.books.hears_memory() {
            return self.complete(slot, facts, launched);
        }
        let place = self.warps.place(slot);
        let waited = waits_for_data(&self.warps, place);
        self.complete(slot, facts, launched);
        if waited
            && !waits_for_data(&self.warps, place)
            && let Some(plan) = self.books.policy.plan()
        {
            plan.made_ready(place);
        }
    }

    /// Warps no longer wait for other threads.
    #[inline]
    pub(super) fn tell_plan_of_release(&mut self, members: Together) {
        if let Some(plan) = self.books.policy.plan() {
            plan.let_go(members);
        }
    }

    /// A cycle begins, before issue.
    #[inline]
    pub fn tick_plan(&mut self, now: Cycle, launched: &Launched) {
        if self.books.plans() {
            self.warps.join(&mut self.books);
            if self.plan_rests(now) {
                return;
            }
            let clear = self.show_plan(now, |plan, view, counters| plan.tick(view, counters));
            if clear == Some(true) {
                self.clear_buffers(launched);
            }
        }
    }

    /// Whether a cycle that begins is one in which the plan has nothing to look at and no observer listens to it.
    #[inline]
    fn plan_rests(&mut self, now: Cycle) -> bool {
        let Books {
            policy,
            stats,
            watch,
            ..
        } = &mut self.books;
        let rests = |plan: &mut dyn IssuePlan| plan.rests(now, &mut stats.counters);
        !watch.is_on() && policy.plan().is_some_and(rests)
    }

    /// The issues of a cycle are over.
    pub fn settle_plan(&mut self, now: Cycle) {
        self.show_plan(now, |plan, view, counters| plan.settle(view, counters));
    }

    #[inline(never)]
    fn show_plan<T>(
        &mut self,
        now: Cycle,
        tell: impl FnOnce(&mut dyn IssuePlan, &GangView, &mut SmCounters) -> T,
    ) -> Option<T> {
        let Residents {
            warps,
            groups,
            books,
            ..
        } = self;
        let Books {
            policy,
            stats,
            watch,
            ..
        } = books;
        let plan = policy.plan()?;
        let layout: Layout = warps.layout();
        let view = GangView {
            now,
            groups,
            layout,
            waits_for_data: &|place| waits_for_data(warps, place),
            lacks_instruction: &|place| {
                warps.sets(place.domain as usize).lacking() >> place.index & 1 != 0
            },
            waits_for_threads: &|place| warps.waits_for_threads(place),
        };
        let told = tell(plan, &view, &mut stats.counters);
        if watch.is_on() {
            while let Some((place, slices)) = plan.next_regrouped() {
                let slot = layout.slot_at(place);
                watch.tell(now, slot, WarpEvent::Ganged { slices });
            }
        }
        Some(told)
    }

    /// Warps that the policy has joined and that did not all have their next instruction lose
    /// what they have: it is fetched for them together.
    #[cold]
    fn clear_buffers(&mut self, launched: &Launched) {
        self.warps.part();
        while let Some(place) = self.books.policy.plan().and_then(|p| p.next_to_clear()) {
            let slot = self.warps.slot_at(place);
            if self.warps.warp(slot).buffer().head().is_some() {
                let pc = self.groups.get(slot).pc;
                let mut edit = self.warps.edit(slot, &mut self.books);
                edit.clear_buffer(pc);
                edit.refresh_head(pc, &launched.facts);
            }
        }
    }
}
