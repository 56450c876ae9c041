//! Gangs that issue one instruction, where slices in lockstep (`warps/lockstep`) take their turns as one:
//! for each class of them it is done once.

use super::execute::{NO_MEMORY, count_instructions, count_lanes, owner};
use super::{Issue, Next, Surroundings, drop_wrong_paths};
use crate::divergence::{Group, Groups};
use crate::exec::state::{EffectKind, LANES};
use crate::place::{Place, each};
use crate::schedule::Together;
use crate::sm::facts::Traffic;
use crate::sm::launch::{Launched, SmFault, View};
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::operands::{GangIssued, Issued};
use crate::sm::residents::{BarrierAt, Residents};
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// Finds out which warps are ready, in domains that may stand for others.
    pub(super) fn find_all_ready(&mut self, now: Cycle, residents: &mut Residents) {
        let warps = &residents.warps;
        if !warps.any_alike() {
            match warps.in_step() {
                true => self.look_everywhere(now, residents),
                false => _ = self.look_where_warps_move(now, warps),
            }
            return;
        }
        if warps.alike() {
            // What is found of the first is said of all when they part.
            self.ready[0] = warps.domain(0).ready_at(now);
            return;
        }
        for d in 0..self.domains {
            let leader = warps.leader_of(d);
            self.ready[d] = match leader == d {
                true => warps.domain(d).ready_at(now),
                false => self.ready[leader], // it comes before
            };
        }
    }

    /// Domains with room at some units stand for none that have room at others.
    pub(super) fn part_by_room(&mut self, with: &mut Surroundings) {
        let warps = &mut with.residents.warps;
        if self.rooms.alike.is_some() || !warps.any_alike() {
            return;
        }
        for leader in each(warps.leaders()) {
            let members = warps.members(leader);
            if members.is_power_of_two() {
                continue;
            }
            // Domains with the same room as the first stay with it.
            let mut left = members;
            while left != 0 {
                let room = self.rooms.by_domain[left.trailing_zeros() as usize % MOST_DOMAINS];
                let same = each(left).filter(|d| self.rooms.by_domain[d % MOST_DOMAINS] == room);
                let same = same.fold(0, |all, d| all | 1 << d);
                if same != members {
                    warps.isolate(same);
                }
                left &= !same;
            }
        }
    }

    /// Of these domains, a bit each, those that drop wrong paths stand for none that rank their warps otherwise: before
    /// that of the `winner`, if there is one, or which comes first.
    #[inline]
    pub(super) fn part_by_rank(&self, domains: u64, winner: Option<u8>, residents: &mut Residents) {
        if !residents.warps.any_alike() {
            return;
        }
        for leader in each(domains & residents.warps.leaders()) {
            let domain = residents.warps.domain(leader);
            let wrong = domain.mismatched();
            if wrong != 0 {
                let among = winner.map_or(domain.ranked(), |index| wrong | 1 << index);
                part_class(leader, among, residents);
            }
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
        let domains = members.domains();
        if with.residents.warps.alike() {
            let (ready, plannable) = (self.ready[0], self.plannable[0]);
            self.ready[..self.domains].fill(ready);
            self.plannable[..self.domains].fill(plannable);
            self.rooms.planned_by_domain = [self.rooms.planned_by_domain[0]; MOST_DOMAINS];
        }
        with.residents.warps.isolate_gang(members);
        self.part_by_rank(domains, Some(members.index()), with.residents);
        let next = Next::at(members.leader(), with); // all issue the same
        let index = next.place.index;
        for d in each(domains & with.residents.warps.leaders()) {
            let room = self.planned_room_of(d, now, with);
            let class = with.residents.warps.members(d);
            if class.is_power_of_two() {
                let place = Place {
                    domain: d as u8,
                    index,
                };
                self.take_turn(&Next { place, ..next }, room, with);
            } else {
                let Residents { warps, books, .. } = &mut *with.residents;
                warps.take_class_turn(d, index, next.facts.passes, room, books);
                drop_wrong_paths(d, Some(index), with.residents, with.view.launched);
            }
            for d in each(class) {
                (self.ready[d], self.plannable[d]) = (0, 0);
            }
        }
        members.len() == self.domains
    }

    /// The turns of the domains that have issued nothing are over.
    pub(super) fn end_other_turns(&mut self, now: Cycle, with: &mut Surroundings) {
        let warps = &mut with.residents.warps;
        if warps.alike() {
            if self.ready[0] == 0 && warps.domain(0).moving() == 0 {
                return warps.skip_turn(0);
            }
            let ready = self.ready[0];
            self.ready[..self.domains].fill(ready);
        }
        self.ask_for_room(with);
        self.part_by_room(with);
        self.part_by_rank(!0, None, with.residents);
        let first = with.residents.blocks.turns.number(now);
        let domains = self.domains;
        for d in (0..domains).map(|d| (first + d) % domains) {
            let warps = &mut with.residents.warps;
            if warps.had_turn(d) || warps.leader_of(d) != d {
                continue;
            }
            if self.ready[d] == 0 && warps.domain(d).moving() == 0 && !warps.in_step() {
                warps.skip_turn(d);
                continue;
            }
            let room = self.planned_room_of(d, now, with);
            self.issue_nothing(d, room, now, with);
        }
    }

    /// Whether warps that execute an instruction together may go on as one: no observer has to hear of each.
    #[inline]
    pub(super) fn may_go_as_one(&self, with: &Surroundings) -> bool {
        !with.residents.books.watch.is_on() && !self.ideal_fetch
    }

    /// Whether the instruction that they have executed leads all of them alike to another, or to none.
    pub(super) fn leads_on_as_one(&self) -> bool {
        match &self.effect.kind {
            EffectKind::Alu | EffectKind::Branch { .. } => true,
            EffectKind::Barrier(_) | EffectKind::Exit | EffectKind::Prefetch(_) => true,
            EffectKind::Access(access) => !self.special.holds(access),
            _ => false,
        }
    }

    /// The warps of a gang have executed their instruction as one, and go on. Returns where, if
    /// all do there.
    pub(super) fn gang_goes_on(
        &mut self,
        members: Together,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        if members.len() == self.domains {
            return self.whole_goes_on(members, leader, now, with);
        }
        let some = with.residents.warps.slots_of(members);
        let straight = |groups: &mut Groups, pc| groups.advance_those(some.clone(), pc);
        if leader.facts.is_memory() {
            let groups = &with.residents.groups;
            self.add_owners(some.clone().map(|slot| (slot, groups.get(slot))), leader);
        }
        let at = self.lead_gang(members, some.clone(), straight, leader, now, with)?;
        if !leader.facts.is_memory() {
            self.send_gang(members, leader, now, with);
        }
        Ok(at)
    }

    /// As [`gang_goes_on`](Issue::gang_goes_on), for one with a warp in every slice.
    #[inline(always)]
    pub(super) fn whole_goes_on(
        &mut self,
        members: Together,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let all = with.residents.warps.whole(leader.slot);
        let straight = |groups: &mut Groups, pc| groups.advance_row(all.clone(), pc);
        if leader.facts.is_memory() {
            let row = with.residents.groups.row(all.clone());
            self.add_owners((leader.slot..).zip(row), leader);
        }
        let at = self.lead_gang(members, all.clone(), straight, leader, now, with)?;
        if !leader.facts.is_memory() {
            self.send_gang(members, leader, now, with);
        }
        Ok(at)
    }

    /// The warps of a gang have executed a memory instruction together.
    #[inline(always)]
    fn add_owners<'g>(&mut self, warps: impl Iterator<Item = (u16, &'g Group)>, leader: &Next) {
        let executed = self.effect.executed;
        self.gathered.owners.extend(warps.map(|(slot, group)| {
            let its = Next { slot, ..*leader };
            owner(&its, executed & group.mask)
        }));
    }

    /// As [`gang_goes_on`](Issue::gang_goes_on), for a gang with these slots, which `straight` moves to a PC
    /// where the divergence model has to hear of none.
    #[inline(always)]
    fn lead_gang(
        &mut self,
        members: Together,
        slots: impl Iterator<Item = u16> + Clone,
        straight: impl Fn(&mut Groups, Pc) -> bool,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let (residents, view) = (&mut *with.residents, &mut with.view);
        let (pc, facts) = (leader.pc, leader.facts);
        let executed = self.effect.executed;
        let stats = &mut residents.books.stats;
        count_instructions(facts, members.len() as u64, executed, stats);
        self.count_lanes_of(members, slots.clone(), residents);
        #[cfg(test)]
        for slot in slots.clone() {
            self.log_issue(slot, pc, residents);
        }
        let launched = view.launched;
        let to = self.leads_to(leader, residents, launched);
        let at = match to {
            Some(to) if straight(&mut residents.groups, to) => {
                let Residents { warps, books, .. } = &mut *residents;
                let branches = matches!(self.effect.kind, EffectKind::Branch { .. });
                books.stats.counters.branches += u64::from(branches) * members.len() as u64;
                let target = branches && to != pc + 1;
                warps.gang_steps(members, facts, target, to, &launched.facts, books);
                Some(to)
            }
            _ => {
                residents.warps.gang_issued(members, facts);
                self.lead_gang_elsewhere(members, leader, now, residents, view)?
            }
        };
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
    fn lead_gang_elsewhere(
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

    /// The warps of a gang have gone several ways: their buffers are looked at anew, once for those that have gone
    /// one.
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
        let mut left = members.slices();
        while left != 0 {
            let (next, state) = way(members.among(left));
            let same = |slice: &usize| way(members.among(1 << slice)) == (next, state);
            let slices = each(left.into()).filter(same);
            let slices = slices.fold(0, |all, slice| all | 1 << slice);
            left &= !slices;
            let target = leader.facts.control && next != leader.pc + 1;
            let part = members.among(slices);
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
}

/// A domain goes on standing for its class only if all of it rank these warps alike; else each stands for itself. Returns
/// those that stand then, a bit each.
#[inline]
pub(super) fn part_class(leader: usize, among: u64, residents: &mut Residents) -> u64 {
    let Residents { warps, books, .. } = residents;
    let class = warps.members(leader);
    if class.is_power_of_two() || books.policy.ranks_alike(class, among) {
        return 1 << leader;
    }
    warps.isolate_each(class);
    class
}
