//! Whole gangs: warps of all slices that issue one instruction. Where the first domain stands for
//! all (`warps/lockstep`), so does its turn.

use super::execute::{NO_MEMORY, count_instructions, count_lanes, owner};
use super::{Issue, Next, Surroundings};
use crate::exec::state::{EffectKind, LANES};
use crate::schedule::Together;
use crate::sm::facts::Traffic;
use crate::sm::launch::{SmFault, View};
use crate::sm::operands::Issued;
use crate::sm::residents::{BarrierAt, Residents};
use crate::time::Cycle;
use std::ops::Range;

impl Issue {
    /// Finds out which warps are ready, in domains for which the first one may stand.
    pub(super) fn find_all_ready(&mut self, now: Cycle, residents: &mut Residents) {
        if !residents.warps.alike() {
            return self.find_ready(now, residents);
        }
        let domain = residents.warps.domain(0);
        let ready = match domain.is_free(now) {
            true => domain.issuable(),
            false => 0,
        };
        self.ready[..self.domains].fill(ready);
    }

    /// Which of the ready warps of the domains that the first stands for have room at their units.
    pub(super) fn plan_for_others(&mut self, now: Cycle, with: &Surroundings) {
        if with.collectors.has_room_alike() {
            let first = self.plannable[0];
            return self.plannable.fill(first);
        }
        let domain = with.residents.warps.domain(0);
        for d in 1..self.domains {
            let room = match domain.is_free(now) {
                true => domain.with_room(with.collectors.room_for(d)),
                false => 0,
            };
            self.plannable[d] = self.ready[d] & room;
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
        // Wrong paths are dropped one by one.
        if warps.alike()
            && members.len() == self.domains
            && warps.domain(0).mismatched() == 0
            && with.collectors.has_room_alike()
        {
            let room = self.room_of(0, now, with);
            let next = Next::at(members.leader(), with);
            let (index, passes) = (next.place.index, next.facts.passes);
            let Residents { warps, books, .. } = &mut *with.residents;
            warps.take_whole_turn(index, passes, room, books);
            return true;
        }
        with.residents.warps.part();
        for member in members.iter() {
            let d = member.domain as usize;
            let room = self.room_of(d, now, with);
            self.take_turn(&Next::at(member, with), room, with);
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
        if domain.mismatched() != 0 || !with.collectors.has_room_alike() {
            with.residents.warps.part();
            return false;
        }
        let room = self.room_of(0, now, with);
        let Residents { warps, books, .. } = &mut *with.residents;
        warps.stand_still(0, room, books);
        warps.skip_all_turns();
        true
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

    /// The warps of a whole gang have executed their instruction as one, and go on.
    pub(super) fn whole_gang_goes_on(
        &mut self,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
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
        count_lanes_of_all(all.clone(), residents);
        #[cfg(test)]
        for slot in all.clone() {
            self.log_issue(slot, pc, residents);
        }
        residents.warps.whole_issued(first, facts);
        if facts.is_memory() {
            for slot in all.clone() {
                let active = residents.groups.get(slot).mask;
                let its = Next { slot, ..*leader };
                self.gathered.owners.push(owner(&its, executed & active));
            }
        }
        let plain = matches!(self.effect.kind, EffectKind::Alu | EffectKind::Access(_));
        let straight = plain && facts.traffic != Traffic::Copy;
        let launched = view.launched;
        if straight && !residents.groups.watches(all.clone(), pc + 1) {
            residents.groups.set_pcs(all, pc + 1);
            let Residents { warps, books, .. } = &mut *residents;
            warps.refresh_whole(first, false, pc + 1, &launched.facts, books);
        } else {
            self.lead_whole_gang_on(leader, now, residents, view)?;
        }
        if !facts.is_memory() {
            self.send_whole_gang(leader, executed, now, with);
        }
        Ok(())
    }

    /// The same where the divergence model may have to hear of it.
    #[inline(never)]
    fn lead_whole_gang_on(
        &mut self,
        leader: &Next,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<(), SmFault> {
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
        if residents.groups.all_at(all.clone(), next) {
            let target = leader.facts.control && next != pc + 1;
            let Residents { warps, books, .. } = &mut *residents;
            warps.refresh_whole(first, target, next, &launched.facts, books);
        } else {
            for slot in all {
                self.refresh(&Next { slot, ..*leader }, residents, launched);
            }
        }
        Ok(())
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

/// Counts the active lanes of warps that have issued together.
fn count_lanes_of_all(slots: Range<u16>, residents: &mut Residents) {
    let counters = &mut residents.books.stats.counters;
    let lanes = residents.groups.lanes_of(slots.clone());
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
