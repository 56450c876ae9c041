//! Policies that plan what all schedulers issue in a cycle, and warps that issue together.

use super::execute::{NO_MEMORY, note_executed};
use super::gather::Kind;
use super::{Issue, Next, Surroundings};
use crate::divergence::GroupState;
use crate::place::Place;
use crate::schedule::{IssueView, Together};
use crate::sm::facts::Traffic;
use crate::sm::fixed_list::FixedList;
use crate::sm::launch::{Launched, SmFault};
use crate::sm::limits::MOST_DOMAINS;
use crate::sm::residents::Residents;
use crate::sm::warps::WarpTable;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// One cycle in which the policy plans what all schedulers issue.
    #[inline(never)]
    pub(super) fn step_planned(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        self.find_all_ready(now, with.residents);
        self.rooms.planned = None;
        let (mut any, mut all, mut settle) = (false, false, false);
        while !all && let Some(members) = self.next_planned(now, with) {
            any = true;
            all = self.take_turns(members, now, with);
            settle |= self.issue_named(members, now, with)?;
        }
        self.close_access(now, with);
        if !all {
            self.end_other_turns(now, with);
        }
        with.residents.books.stats.counters.issue_cycles += any as u64;
        if any {
            self.hold_slots(with);
        }
        if settle {
            with.residents.settle_plan(now);
        }
        Ok(())
    }

    /// Warps that the plan has named issue. Says whether the plan wants to settle for that.
    #[inline]
    pub(super) fn issue_named(
        &mut self,
        members: Together,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<bool, SmFault> {
        let at = self.issue_members(members, now, with)?;
        let at = goes_on_at(members, at, &with.residents.warps);
        let books = &mut with.residents.books;
        books.stats.counters.gang_issues += u64::from(members.len() > 1);
        let plan = books.policy.plan();
        let settle = plan.is_some_and(|plan| plan.went_on(members, at));
        if !self.gathers {
            self.close_access(now, with);
        }
        Ok(settle)
    }

    /// Finds out at which kinds of units there is room, if that has changed: most often it is the same
    /// for all domains.
    #[inline]
    pub(super) fn ask_for_room(&mut self, with: &Surroundings) {
        let room = Some(with.collectors.room());
        if self.rooms.asked != room {
            (self.rooms.asked, self.rooms.alike) = (room, with.collectors.room_for_all());
            if self.rooms.alike.is_none() {
                self.ask_for_rooms(with);
            }
        }
    }

    #[inline(never)]
    fn ask_for_rooms(&mut self, with: &Surroundings) {
        for d in 0..self.domains {
            self.rooms.by_domain[d % MOST_DOMAINS] = with.collectors.room_for(d);
        }
    }

    /// As [`room_of`](Issue::room_of), once it has been [asked for](Issue::ask_for_room) in general.
    #[inline(always)]
    pub(super) fn planned_room_of(&self, d: usize, now: Cycle, with: &Surroundings) -> u64 {
        debug_assert_eq!(self.rooms.asked, Some(with.collectors.room()));
        let domain = with.residents.warps.domain(d);
        let own = self.rooms.by_domain[d % MOST_DOMAINS];
        domain.with_room_at(now, self.rooms.alike.unwrap_or(own))
    }

    /// The warps that the policy names next.
    fn next_planned(&mut self, now: Cycle, with: &mut Surroundings) -> Option<Together> {
        // Domains that have had their turn are out of it already.
        let room = Some(with.collectors.room());
        if self.rooms.planned != room {
            let anew = std::mem::replace(&mut self.rooms.planned, room).is_none();
            self.ask_for_room(with);
            if with.residents.warps.alike() && self.rooms.alike.is_none() {
                let ready = self.ready[0];
                self.ready[..self.domains].fill(ready);
            }
            self.part_by_room(with);
            self.find_plannable(anew, now, with);
        }
        if self.no_warp_is_plannable(&with.residents.warps) {
            return None;
        }
        let members = self.name_next(u8::MAX, now, with)?;
        let warps = &with.residents.warps;
        debug_assert!(
            warps.alike()
                || members
                    .iter()
                    .all(|m| self.plannable[m.domain as usize] >> m.index & 1 != 0),
            "a plan names only ready warps"
        );
        Some(members)
    }

    /// The warps that the plan names next, of all that are ready and have room: in these slices at most, a bit each.
    #[inline]
    pub(super) fn name_next(
        &mut self,
        open: u8,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Option<Together> {
        if let Some(kind) = self.gathered.kind {
            self.hold_other_kinds(kind, with.residents, with.view.launched);
        }
        let Residents {
            warps,
            groups,
            books,
            ..
        } = &mut *with.residents;
        books.policy.plan()?.next(&IssueView {
            now,
            ready: &self.plannable[..self.domains],
            alike: warps.alike(),
            open,
            groups,
            layout: warps.layout(),
        })
    }

    /// Whether there is no warp for the plan to name.
    #[inline]
    fn no_warp_is_plannable(&self, warps: &WarpTable) -> bool {
        match warps.alike() {
            true => self.plannable[0] == 0,
            false => self.plannable[..self.domains].iter().all(|set| *set == 0),
        }
    }

    /// Finds out which of the ready warps have room; `anew`: for the first time in this cycle.
    fn find_plannable(&mut self, anew: bool, now: Cycle, with: &mut Surroundings) {
        let domains = match with.residents.warps.alike() {
            true => 1, // see take_turns
            false => self.domains,
        };
        for d in 0..domains {
            if self.ready[d] == 0 {
                self.plannable[d] = 0;
                continue;
            }
            let room = self
                .rooms
                .alike
                .unwrap_or(self.rooms.by_domain[d % MOST_DOMAINS]);
            if !anew && self.rooms.planned_by_domain[d % MOST_DOMAINS] == room {
                continue; // as before, but for those that are held
            }
            self.rooms.planned_by_domain[d % MOST_DOMAINS] = room;
            let leader = with.residents.warps.leader_of(d); // it has the same room
            self.plannable[d] = self.ready[d] & self.planned_room_of(leader, now, with);
            if leader == d && self.plannable[d] != 0 {
                // The plan may change the order of the warps when it names one.
                let Residents { warps, books, .. } = &mut *with.residents;
                warps.pass(d, now, books);
            }
        }
    }

    /// An access of this kind is being gathered: memory instructions of others do not issue.
    pub(super) fn hold_other_kinds(
        &mut self,
        kind: Kind,
        residents: &Residents,
        launched: &Launched,
    ) {
        let warps = &residents.warps;
        for (d, plannable) in self.plannable[..self.domains].iter_mut().enumerate() {
            let mut accesses = *plannable & warps.sets(d).accesses();
            while accesses != 0 {
                let place = Place {
                    domain: d as u8,
                    index: accesses.trailing_zeros() as u8,
                };
                accesses &= accesses - 1;
                let pc = warps.next_of_any(warps.slot_at(place));
                if Kind::of(pc, launched) != kind {
                    *plannable &= !(1 << place.index);
                }
            }
        }
    }

    /// Issues the instruction that the members of a gang have in common. Returns where they go on, if
    /// all go on there.
    pub(super) fn issue_members(
        &mut self,
        members: Together,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let leader = Next::at(members.leader(), with);
        if members.len() > 1 {
            let as_one = self.may_go_as_one(with);
            if self.execute_together(members, leader.pc, as_one, now, with)? {
                return self.go_on_together(members, &leader, as_one, now, with);
            }
        }
        let at = self.issue_apart(members, &leader, now, with)?;
        Ok(match members.len() {
            1 => runs_at(leader.slot, with),
            _ => at,
        })
    }

    /// Issues the instruction of members that each execute it for themselves. Returns as
    /// [`issue_members`](Issue::issue_members).
    #[inline(never)]
    pub(super) fn issue_apart(
        &mut self,
        members: Together,
        leader: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        with.residents.warps.part_gang(members);
        if leader.facts.is_memory() {
            for place in members.iter() {
                let next = Next::at(place, with);
                self.gather(&next, now, with)?;
            }
            return Ok(None);
        }
        if members.len() == 1 {
            self.issue_alone(leader, now, with)?;
            return Ok(None);
        }
        let mut lanes = 0;
        for place in members.iter() {
            let next = Next::at(place, with);
            let (residents, view) = (&mut *with.residents, &mut with.view);
            self.execute(&next, now, residents, view)?;
            self.move_on(&next, now, residents, view)?;
            lanes |= self.effect.executed;
        }
        self.send_members(members, leader.pc, lanes, now, with);
        Ok(None)
    }

    /// Executes the instruction of several warps with the threads of one home warp as that of one,
    /// if none of its threads looks at what the others do; else says that it did not. `as_one`: they
    /// go on as one, to a barrier too, or exit.
    #[inline(always)]
    pub(super) fn execute_together(
        &mut self,
        members: Together,
        pc: Pc,
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
        let mask = |slot: u16| groups.get(slot).mask;
        let first = warps.slot_at(members.leader());
        let lanes = &groups.get(first).lanes;
        let active = match members.len() == self.domains {
            true => groups.lanes_of(warps.whole(first)),
            false => warps
                .slots_of(members)
                .fold(0, |all, slot| all | mask(slot)),
        };
        self.active = active;
        let view = &mut with.view;
        let launched = view.launched;
        let code = &launched.code;
        if !launched.facts[pc as usize].is_memory()
            && code.step_registers(pc, lanes, active, threads, &mut self.effect)
        {
            return Ok(true);
        }
        let together = code.goes_by_lane(pc)
            || as_one && code.is_plain_barrier(pc)
            || as_one && code.is_plain_exit(pc) && with.residents.exits_alone(first);
        if together {
            let Residents {
                groups, threads, ..
            } = &mut *with.residents;
            let lanes = &groups.get(first).lanes;
            self.execute_for(lanes, active, pc, now, threads, view)?;
        }
        Ok(together)
    }

    /// The members of a gang have executed their instruction as one. Returns as
    /// [`issue_members`](Issue::issue_members).
    #[inline(always)]
    pub(super) fn go_on_together(
        &mut self,
        members: Together,
        leader: &Next,
        as_one: bool,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<Option<Pc>, SmFault> {
        let executed = self.effect.executed;
        let memory = leader.facts.is_memory();
        if memory {
            let lanes = &with.residents.groups.get(leader.slot).lanes;
            self.gathered.open(leader, with.view.launched);
            self.gathered.add_lanes(lanes, &self.effect);
        }
        if as_one && self.leads_on_as_one() {
            return self.gang_goes_on(members, leader, now, with);
        }
        with.residents.warps.part_gang(members);
        for place in members.iter() {
            let next = Next::at(place, with);
            let (residents, view) = (&mut *with.residents, &mut with.view);
            #[cfg(test)]
            self.log_issue(next.slot, next.pc, residents);
            let active = residents.groups.get(next.slot).mask;
            let its = executed & active;
            note_executed(&next, now, active, its, residents);
            if memory {
                self.gathered.add_owner(&next, its);
            }
            self.move_on(&next, now, residents, view)?;
        }
        if !memory {
            self.send_members(members, leader.pc, executed, now, with);
        }
        Ok(None)
    }

    /// Members that share their units are one instruction to these; those that have their own
    /// send it there. Together they take these lanes.
    pub(super) fn send_members(
        &mut self,
        members: Together,
        pc: u32,
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

/// Where warps that have issued go on, if they do, as a plan is told: one is to look at those that wait for threads now.
#[inline]
pub(super) fn goes_on_at(members: Together, at: Option<Pc>, warps: &WarpTable) -> Option<Pc> {
    at.filter(|_| !warps.waits_for_threads(members.leader()))
}

/// Where a warp stands that has issued, if it goes on.
#[inline]
pub(super) fn runs_at(slot: u16, with: &Surroundings) -> Option<Pc> {
    let group = with.residents.groups.get(slot);
    (group.state == GroupState::Running).then_some(group.pc)
}
