//! Whole gangs: warps of all slices that issue one instruction. Where the first domain stands for
//! all (`warps/lockstep`), so does its turn.

use super::execute::{NO_MEMORY, count_instructions, count_lanes, owner};
use super::{Issue, Next, Surroundings};
use crate::exec::state::{EffectKind, LANES};
use crate::place::Place;
use crate::schedule::Together;
use crate::sm::facts::Traffic;
use crate::sm::launch::{SmFault, View};
use crate::sm::operands::Issued;
use crate::sm::residents::{BarrierAt, Residents};
use crate::sm::warps::WarpTable;
use crate::time::Cycle;
use std::ops::Range;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// Finds out which warps are ready, in domains for which the first one may stand: then what is
    /// found of it stands for all, until they [part](Issue::part).
    pub(super) fn find_all_ready(&mut self, now: Cycle, residents: &mut Residents) {
        if !residents.warps.alike() {
            return self.find_ready(now, residents);
        }
        let domain = residents.warps.domain(0);
        let ready = match domain.is_free(now) {
            true => domain.issuable(),
            false => 0,
        };
        self.ready[0] = ready;
    }

    /// Every domain stands for itself, and what has been found of the first is said of all.
    pub(super) fn part(&mut self, warps: &mut WarpTable) {
        if warps.alike() {
            warps.part();
            let ready = self.ready[0];
            self.ready[..self.domains].fill(ready);
            if self.room_alike.is_some() {
                let plannable = self.plannable[0];
                self.plannable.fill(plannable);
            }
        }
    }

    /// Which of the ready warps of the domains that the first stands for have room at their units,
    /// where there is room for some domains and not for others.
    pub(super) fn plan_for_others(&mut self, now: Cycle, with: &Surroundings) {
        let ready = self.ready[0];
        let domain = with.residents.warps.domain(0);
        for d in 1..self.domains {
            let room = match domain.is_free(now) {
                true => domain.with_room(with.collectors.room_for(d)),
                false => 0,
            };
            self.plannable[d] = ready & room;
        }
    }

    /// The warps are about to issue: the turns of their domains are over. Says whether those of all
    /// domains are.
    pub(super) fn take_turns(
        &mut self,
        members: Together,
        now: Cycle,
        with: &mut Surroundings,
    ) -> bool {
        let warps = &with.residents.warps;
        if warps.alike()
            && members.len() == self.domains
            && self.room_alike.is_some()
            && self.drops_as_one(with)
        {
            let room = self.planned_room_of(0, now, with);
            let next = Next::at(members.leader(), with);
            let (index, passes) = (next.place.index, next.facts.passes);
            let Residents { warps, books, .. } = &mut *with.residents;
            warps.take_whole_turn(index, passes, room, books);
            drop_wrong_paths_as_one(Some(index), with);
            return true;
        }
        self.part(&mut with.residents.warps);
        let leader = Next::at(members.leader(), with); // all issue the same
        for place in members.iter() {
            let d = place.domain as usize;
            let room = self.planned_room_of(d, now, with);
            self.take_turn(&Next { place, ..leader }, room, with);
            self.plannable[d] = 0;
        }
        members.len() == self.domains
    }

    /// Nobody issues. If the first domain stands for all, and can for this too, the turns of all
    /// are over; else each stands for itself. Says which.
    pub(super) fn issue_nothing_anywhere(&mut self, now: Cycle, with: &mut Surroundings) -> bool {
        let warps = &mut with.residents.warps;
        if !warps.alike() {
            return false;
        }
        let domain = warps.domain(0);
        if self.ready[0] == 0 && domain.moving() == 0 {
            warps.skip_all_turns();
            return true;
        }
        let wrong = domain.mismatched() != 0;
        self.ask_for_room(with);
        if self.room_alike.is_none() || wrong && !self.drops_as_one(with) {
            self.part(&mut with.residents.warps);
            return false;
        }
        let room = self.planned_room_of(0, now, with);
        let Residents { warps, books, .. } = &mut *with.residents;
        if wrong {
            warps.end_empty_turns(room, books);
            drop_wrong_paths_as_one(None, with);
        } else {
            warps.stand_still(0, room, books);
            warps.skip_all_turns();
        }
        true
    }

    /// Whether wrong paths that warps of the first domain, which stands for all, have in their buffers
    /// can be dropped for whole gangs; there may be none.
    fn drops_as_one(&self, with: &Surroundings) -> bool {
        let Residents { warps, books, .. } = &*with.residents;
        warps.domain(0).mismatched() == 0 || books.policy.ranks_alike()
    }

    /// Whether warps that execute an instruction together may go on as one: they are of all slices,
    /// and nobody has to hear of each.
    pub(super) fn may_go_as_one(&self, members: Together, with: &Surroundings) -> bool {
        members.len() == self.domains && !with.residents.books.watch.is_on() && !self.ideal_fetch
    }

    /// Whether the instruction that they have executed leads all of them alike to another.
    pub(super) fn leads_on_as_one(&self) -> bool {
        match &self.effect.kind {
            EffectKind::Alu | EffectKind::Branch { .. } | EffectKind::Barrier(_) => true,
            EffectKind::Access(access) => !self.special.holds(access),
            _ => false,
        }
    }

    /// The warps of a whole gang have executed their instruction as one, and go on. Returns where, if
    /// all do there.
    pub(super) fn whole_gang_goes_on(
        &mut self,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let (residents, view) = (&mut *with.residents, &mut with.view);
        let &Next {
            slot: first,
            pc,
            facts,
            ..
        } = leader;
        let executed = self.effect.executed;
        let all = residents.warps.whole(first);
        let stats = &mut residents.books.stats;
        count_instructions(facts, all.len() as u64, executed, stats);
        count_lanes_of_all(all.clone(), self.active, residents);
        #[cfg(test)]
        for slot in all.clone() {
            self.log_issue(slot, pc, residents);
        }
        residents.warps.whole_issued(first, facts);
        if facts.is_memory() {
            let groups = &residents.groups;
            self.gathered.owners.extend(all.clone().map(|slot| {
                let its = Next { slot, ..*leader };
                owner(&its, executed & groups.get(slot).mask)
            }));
        }
        let plain = matches!(self.effect.kind, EffectKind::Alu | EffectKind::Access(_));
        let straight = plain && facts.traffic != Traffic::Copy;
        let launched = view.launched;
        let at = if straight && !residents.groups.watches(all.clone(), pc + 1) {
            residents.groups.set_pcs(all, pc + 1);
            let Residents { warps, books, .. } = &mut *residents;
            warps.refresh_whole(first, false, pc + 1, &launched.facts, books);
            Some(pc + 1)
        } else {
            self.lead_whole_gang_on(leader, now, residents, view)?
        };
        if !facts.is_memory() {
            self.send_whole_gang(leader, executed, now, with);
        }
        Ok(at)
    }

    /// Leads a whole gang on where the divergence model may have to hear of it.
    #[inline(never)]
    fn lead_whole_gang_on(
        &mut self,
        leader: &Next,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<Option<Pc>, SmFault> {
        let (first, pc, launched) = (leader.slot, leader.pc, view.launched);
        let all = residents.warps.whole(first);
        if let EffectKind::Barrier(barrier) = self.effect.kind {
            let at = BarrierAt { barrier, pc, now };
            residents.whole_gang_at_barrier(first, at, launched);
        } else {
            for slot in all.clone() {
                self.lead_on(&Next { slot, ..*leader }, now, residents, view)?;
                residents.follow(launched);
            }
        }
        let next = residents.groups.get(first).pc;
        let at = residents.groups.all_run_at(all.clone(), next);
        if at || residents.groups.all_at(all.clone(), next) {
            let target = leader.facts.control && next != pc + 1;
            let Residents { warps, books, .. } = &mut *residents;
            warps.refresh_whole(first, target, next, &launched.facts, books);
        } else {
            for slot in all {
                self.refresh(&Next { slot, ..*leader }, residents, launched);
            }
        }
        Ok(at.then_some(next))
    }

    /// A whole gang's instruction goes to the collectors of all slices.
    fn send_whole_gang(&mut self, leader: &Next, lanes: u32, now: Cycle, with: &mut Surroundings) {
        let kind = leader.facts.unit;
        if with.units.takes_whole_gangs() && with.collectors.takes_whole_gangs(kind) {
            self.order += 1;
            with.collectors.issue_whole_gang(
                kind,
                Issued {
                    slot: leader.slot,
                    memory: NO_MEMORY,
                    pc: leader.pc,
                    order: self.order,
                },
            );
            return;
        }
        let layout = with.residents.warps.layout();
        let (schedulers, slices) = (layout.schedulers() as u8, u8::MAX >> (8 - self.domains));
        let members = Together::new(leader.place, schedulers, slices);
        self.send_members(members, leader.pc, lanes, now, with);
    }
}

/// As [`drop_wrong_paths`](super::drop_wrong_paths), for whole gangs, where the first domain stands
/// for all, whose warps are ranked alike.
fn drop_wrong_paths_as_one(winner: Option<u8>, with: &mut Surroundings) {
    let code = &with.view.launched.facts;
    let Residents {
        warps,
        books,
        groups,
        ..
    } = &mut *with.residents;
    let mut wrong = warps.domain(0).mismatched();
    while wrong != 0 {
        let index = wrong.trailing_zeros() as u8;
        wrong &= wrong - 1;
        if winner.is_none_or(|w| books.policy.before(0, index, w)) {
            let first = warps.slot_at(Place { domain: 0, index });
            warps.drop_whole_path(first, |slot| groups.get(slot).pc, code, books);
        }
    }
}

/// Counts the active lanes of warps that have issued together, `lanes` in all.
fn count_lanes_of_all(slots: Range<u16>, lanes: u32, residents: &mut Residents) {
    let counters = &mut residents.books.stats.counters;
    if LANES / slots.len() <= 4 {
        // All are in the first bin.
        counters.active_lanes += u64::from(lanes.count_ones());
        counters.lanes_1_4 += slots.len() as u64;
        return;
    }
    for slot in slots {
        count_lanes(residents.groups.get(slot).mask, counters);
    }
}
