//! Warps that issue one instruction together: it is executed once for all of them where none of their threads looks at
//! what the others do, and they go on as one where it leads all of them on alike. What a gang does comes to what its
//! warps do in turn.

use super::execute::{NO_MEMORY, count_instructions, count_lanes, note_executed, owner};
use super::{Issue, Next, Surroundings};
use crate::divergence::GroupState;
use crate::exec::state::{EffectKind, LANES};
use crate::place::{Place, alike};
use crate::schedule::Together;
use crate::sm::facts::Traffic;
use crate::sm::fixed_list::FixedList;
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::operands::{GangIssued, Issued};
use crate::sm::residents::{BarrierAt, Residents};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// Warps that the plan has named, one or several, issue the instruction that they have in common. Says whether the
    /// plan wants to settle for that.
    pub(super) fn issue_gang(
        &mut self,
        gang: Together,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        let leader = Next::at(gang.leader(), &with.residents.warps, with.view.launched);
        let several = gang.len() > 1;
        // An observer has to hear of each warp.
        let as_one = !with.residents.books.watch.is_on() && !self.ideal_fetch;
        let at = if !several {
            self.issue_apart(gang, &leader, now, with)?;
            let group = with.residents.groups.get(leader.slot);
            (group.state == GroupState::Running).then_some(group.pc)
        } else if !self.execute_together(gang, &leader, as_one, now, with)? {
            self.issue_apart(gang, &leader, now, with)?;
            None
        } else if as_one && self.leads_on_as_one() {
            self.go_on_as_one(gang, &leader, now, with)?
        } else {
            self.go_on_apart(gang, &leader, now, with)?;
            None
        };
        if !self.gathers {
            self.close_access(now, with);
        }
        let Residents { warps, books, .. } = &mut *with.residents;
        books.stats.counters.gang_issues += u64::from(several);
        // Warps that wait for threads are looked at by the plan.
        let at = at.filter(|_| !warps.waits_for_threads(leader.place));
        let plan = books.policy.plan();
        Ok(plan.is_some_and(|plan| plan.went_on(gang, at)))
    }

    /// Issues the instruction of warps that each execute it for themselves.
    #[inline(never)]
    fn issue_apart(
        &mut self,
        gang: Together,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        with.residents.warps.part_gang(gang);
        if gang.len() == 1 && !leader.facts.is_memory() {
            return self.issue_one(leader, now, with);
        }
        let mut lanes = 0;
        for place in gang.iter() {
            let next = Next::at(place, &with.residents.warps, with.view.launched);
            if leader.facts.is_memory() {
                self.gather(&next, now, with)?;
                continue;
            }
            let (residents, view) = (&mut *with.residents, &mut with.view);
            self.execute(&next, now, residents, view)?;
            self.move_on(&next, now, residents, view)?;
            lanes |= self.effect.executed;
        }
        if !leader.facts.is_memory() {
            self.send_members(gang, leader.pc, lanes, now, with);
        }
        Ok(())
    }

    /// Executes the instruction of several warps with the threads of one home warp as that of one,
    /// if none of its threads looks at what the others do; else says that it did not. `as_one`: they
    /// go on as one, to a barrier too, or exit.
    #[inline]
    fn execute_together(
        &mut self,
        gang: Together,
        leader: &Next,
        as_one: bool,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        let Residents {
            warps,
            groups,
            threads,
            ..
        } = &mut *with.residents;
        let active = groups.lanes_of(warps.slots_of(gang));
        let lanes = &groups.get(leader.slot).lanes;
        self.active = active;
        let (pc, view) = (leader.pc, &mut with.view);
        let code = &view.launched.code;
        let memory = leader.facts.is_memory();
        if !memory && code.step_registers(pc, lanes, active, threads, &mut self.effect) {
            return Ok(true);
        }
        let together = code.goes_by_lane(pc)
            || as_one && code.is_plain_barrier(pc)
            || as_one && code.is_plain_exit(pc) && with.residents.exits_alone(leader.slot);
        if together {
            let Residents {
                groups, threads, ..
            } = &mut *with.residents;
            let lanes = &groups.get(leader.slot).lanes;
            self.execute_for(lanes, active, pc, now, threads, view)?;
        }
        if together && memory {
            self.gathered.open(leader, view.launched);
            let lanes = &with.residents.groups.get(leader.slot).lanes;
            self.gathered.add_lanes(lanes, &self.effect);
        }
        Ok(together)
    }

    /// Whether the instruction that warps have executed together leads all of them alike to another, or to none.
    fn leads_on_as_one(&self) -> bool {
        match &self.effect.kind {
            EffectKind::Alu | EffectKind::Branch { .. } => true,
            EffectKind::Barrier(_) | EffectKind::Exit | EffectKind::Prefetch(_) => true,
            EffectKind::Access(access) => !self.special.holds(access),
            _ => false,
        }
    }

    /// Warps have executed their instruction together, and each goes on by itself.
    #[inline(never)]
    fn go_on_apart(
        &mut self,
        gang: Together,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let executed = self.effect.executed;
        let memory = leader.facts.is_memory();
        with.residents.warps.part_gang(gang);
        for place in gang.iter() {
            let next = Next::at(place, &with.residents.warps, with.view.launched);
            let (residents, view) = (&mut *with.residents, &mut with.view);
            #[cfg(test)]
            self.log_issue(next.slot, next.pc, residents);
            let active = residents.groups.get(next.slot).mask;
            let its = executed & active;
            note_executed(&next, now, active, its, residents);
            if memory {
                self.gathered.owners.push(owner(&next, its));
            }
            self.move_on(&next, now, residents, view)?;
        }
        if !memory {
            self.send_members(gang, leader.pc, executed, now, with);
        }
        Ok(())
    }

    /// The warps of a gang have executed their instruction as one, and go on. Returns where, if
    /// all do there.
    #[inline]
    fn go_on_as_one(
        &mut self,
        gang: Together,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let (residents, view) = (&mut *with.residents, &mut with.view);
        let slots = residents.warps.slots_of(gang);
        let (executed, memory) = (self.effect.executed, leader.facts.is_memory());
        if memory {
            let owners = slots.clone().map(|slot| {
                let its = Next { slot, ..*leader };
                owner(&its, executed & residents.groups.get(slot).mask)
            });
            self.gathered.owners.extend(owners);
        }
        let stats = &mut residents.books.stats;
        count_instructions(leader.facts, gang.len() as u64, executed, stats);
        self.count_lanes_of(gang, slots.clone(), residents);
        #[cfg(test)]
        for slot in slots.clone() {
            self.log_issue(slot, leader.pc, residents);
        }
        let launched = view.launched;
        let at = match self.leads_to(leader, residents, launched) {
            Some(to) if residents.groups.advance_those(slots, to) => {
                let Residents { warps, books, .. } = &mut *residents;
                let branches = matches!(self.effect.kind, EffectKind::Branch { .. });
                books.stats.counters.branches += u64::from(branches) * gang.len() as u64;
                let target = branches && to != leader.pc + 1;
                warps.gang_steps(gang, leader.facts, target, to, &launched.facts, books);
                Some(to)
            }
            _ => {
                residents.warps.gang_issued(gang, leader.facts);
                self.lead_elsewhere(gang, leader, now, residents, view)?
            }
        };
        if !memory {
            self.send_gang(gang, leader, now, with);
        }
        Ok(at)
    }

    /// Where the instruction that warps have executed together leads all of their threads, if these have
    /// nothing to do but to go there.
    #[inline]
    fn leads_to(&self, leader: &Next, residents: &Residents, launched: &Launched) -> Option<Pc> {
        let &Next { pc, facts, .. } = leader;
        let taken = match self.effect.kind {
            EffectKind::Alu | EffectKind::Access(_) | EffectKind::Prefetch(_)
                if facts.traffic != Traffic::Copy =>
            {
                0
            }
            EffectKind::Branch { taken } if !residents.model_hears_agreed_branches() => taken,
            _ => return None,
        };
        if taken == 0 {
            return Some(pc + 1);
        }
        (taken == self.active).then(|| launched.kernel.code[pc as usize].target)
    }

    /// Leads a gang on where the divergence model may have to hear of it.
    #[inline(never)]
    fn lead_elsewhere(
        &mut self,
        members: Together,
        leader: &Next,
        now: Cycle,
        residents: &mut Residents,
        view: &mut View,
    ) -> Result<Option<Pc>, SmFault> {
        let (pc, launched) = (leader.pc, view.launched);
        let slots = residents.warps.slots_of(members);
        if let EffectKind::Barrier(barrier) = self.effect.kind {
            let at = BarrierAt { barrier, pc, now };
            residents.gang_at_barrier(members, at, launched);
        } else if matches!(self.effect.kind, EffectKind::Exit) {
            residents.gang_exits(members, pc, launched);
        } else {
            for slot in slots.clone() {
                self.lead_on(&Next { slot, ..*leader }, now, residents, view)?;
                residents.follow_issue(slot, launched);
            }
        }
        let next = residents.groups.get(leader.slot).pc;
        let at = residents.groups.all_run_at(slots.clone(), next);
        if at || residents.groups.all_at(slots.clone(), next) {
            let target = leader.facts.control && next != pc + 1;
            let Residents { warps, books, .. } = &mut *residents;
            warps.refresh_gang(members, target, next, &launched.facts, books);
        } else {
            self.refresh_ways(members, leader, residents, launched);
        }
        Ok(at.then_some(next))
    }

    /// The warps of a gang have gone several ways: their buffers are looked at anew, once for each way.
    #[inline(never)]
    fn refresh_ways(
        &self,
        members: Together,
        leader: &Next,
        residents: &mut Residents,
        launched: &Launched,
    ) {
        let Residents {
            warps,
            books,
            groups,
            ..
        } = residents;
        let layout = warps.layout();
        let way = |part: Together| {
            let group = groups.get(layout.slot_at(part.leader()));
            (group.pc, group.state)
        };
        let mut left = u64::from(members.slices());
        while left != 0 {
            let (slices, (next, _)) = alike(left, |slice| way(members.among(1 << slice)));
            left &= !slices;
            let target = leader.facts.control && next != leader.pc + 1;
            let part = members.among(slices as u8);
            warps.refresh_gang(part, target, next, &launched.facts, books);
        }
    }

    /// Counts the active lanes of warps that have issued together.
    #[inline]
    fn count_lanes_of(
        &self,
        members: Together,
        slots: impl Iterator<Item = u16>,
        residents: &mut Residents,
    ) {
        let counters = &mut residents.books.stats.counters;
        if LANES / self.domains <= 4 {
            // All are in the first bin.
            counters.active_lanes += u64::from(self.active.count_ones());
            counters.lanes_1_4 += members.len() as u64;
            return;
        }
        for slot in slots {
            count_lanes(residents.groups.get(slot).mask, counters);
        }
    }

    /// What a gang has executed as one goes to the collectors of its slices.
    #[inline]
    fn send_gang(&mut self, members: Together, leader: &Next, now: Cycle, with: &mut Surroundings) {
        if leader.facts.traffic != Traffic::Operand
            && let Some(first) = with.collectors.takes_gangs(leader.facts.unit)
            && with.units.takes_gangs()
        {
            self.order += 1;
            let op = Issued {
                slot: leader.slot - u16::from(leader.place.domain),
                memory: NO_MEMORY,
                pc: leader.pc,
                order: self.order,
            };
            let slices = members.slices();
            with.collectors.issue_gang(GangIssued { op, first, slices });
            return;
        }
        self.send_members(members, leader.pc, self.effect.executed, now, with);
    }

    /// Members that share a unit are one instruction to it; a member with a unit of its own sends one there. Together
    /// they take these lanes.
    fn send_members(
        &mut self,
        members: Together,
        pc: Pc,
        lanes: u32,
        now: Cycle,
        with: &mut Surroundings,
    ) {
        let facts = &with.view.launched.facts[pc as usize];
        if facts.traffic == Traffic::Operand {
            return self.read_operand(members, pc, lanes, now, with);
        }
        let group = |place: Place| {
            let domain = place.domain as usize;
            with.collectors.group_of(domain, facts.unit)
        };
        let mut seen = 0u32; // groups, a bit each
        let mut sets: FixedList<(Place, FixedList<u16, 8>), 8> = FixedList::default();
        for place in members.iter() {
            let slot = with.residents.warps.slot_at(place);
            let its = group(place);
            let shared = seen >> its & 1 != 0;
            seen |= 1 << its;
            let same = |set: &&mut (Place, FixedList<u16, 8>)| group(set.0) == its;
            if shared && let Some(set) = sets.iter_mut().find(same) {
                set.1.push(slot);
            } else {
                let mut slots = FixedList::default();
                slots.push(slot);
                sets.push((place, slots));
            }
        }
        for (place, slots) in sets.iter() {
            let next = Next {
                place: *place,
                slot: slots[0],
                pc,
                facts,
            };
            self.send(&next, NO_MEMORY, lanes, now, with);
            if slots.len() > 1 {
                with.units.note_gang(self.order, *slots);
            }
        }
    }
}
