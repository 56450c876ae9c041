//! Warps that issue together: to the collectors and the load/store unit they are one instruction.

use super::execute::NO_MEMORY;
use super::{Issue, Surroundings};
use crate::exec::state::{Effect, EffectKind, LANES, Lanes};
use crate::place::Place;
use crate::schedule::{IssueView, Together};
use crate::sm::fixed_list::FixedList;
use crate::sm::launch::SmFault;
use crate::sm::memory;
use crate::sm::residents::Residents;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// The memory instruction of a gang while its members execute it: to the load/store unit it is
/// one access with the lanes of all.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    effect: Effect,
    owners: Vec<(u16, u32)>,
    homes: [u16; LANES],
}

impl Gathered {
    fn add(&mut self, slot: u16, lanes: &Lanes, effect: &Effect) {
        if self.owners.is_empty() {
            self.effect.executed = 0;
            self.effect.kind = EffectKind::Alu;
        }
        self.owners.push((slot, effect.executed));
        for lane in (0..LANES).filter(|l| effect.executed >> l & 1 != 0) {
            self.homes[lane] = lanes.home(lane);
            self.effect.address[lane] = effect.address[lane];
            for (all, its) in self.effect.operands.iter_mut().zip(&effect.operands) {
                all[lane] = its[lane];
            }
        }
        self.effect.executed |= effect.executed;
        match (&mut self.effect.kind, &effect.kind) {
            (EffectKind::Access(all), EffectKind::Access(its)) => {
                all.shared |= its.shared;
                all.global |= its.global;
                all.local |= its.local;
            }
            // A member whose lanes are all off made no access.
            (EffectKind::Access(_) | EffectKind::Atomic(_), _) => {}
            (kind, its) => *kind = its.clone(),
        }
    }
}

impl Issue {
    /// One cycle in which the policy plans what all schedulers issue.
    #[inline(never)]
    pub(super) fn step_planned(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        self.look_everywhere(now, with.residents);
        let domains = self.ready.len();
        while let Some(members) = self.next_planned(now, with) {
            for member in members.iter() {
                let room = self.room_of(member.domain as usize, now, with);
                self.take_turn(*member, room, with);
            }
            let result = self.issue_members(&members, now, with);
            for member in members.iter() {
                with.residents.books.policy.issued(*member);
            }
            result?;
        }
        for i in 0..domains {
            let d = (now.get() as usize + i) % domains;
            if !with.residents.warps.had_turn(d) {
                let room = self.room_of(d, now, with);
                self.issue_nothing(d, room, now, with);
            }
        }
        Ok(())
    }

    /// The warps that the policy names next.
    fn next_planned(&mut self, now: Cycle, with: &mut Surroundings) -> Option<Together> {
        for d in 0..self.ready.len() {
            self.plannable[d] = self.ready[d] & self.room_of(d, now, with);
        }
        let Residents {
            warps,
            groups,
            books,
            ..
        } = &mut *with.residents;
        let members = books.policy.plan()?.next(&IssueView {
            now,
            ready: &self.plannable,
            groups,
            layout: warps.layout(),
        })?;
        let ready = |m: &Place| self.plannable[m.domain as usize] >> m.index & 1 != 0;
        debug_assert!(members.iter().all(ready), "a plan names only ready warps");
        Some(members)
    }

    /// The warps of a domain that have room at their units; none while the issue slot is taken.
    fn room_of(&self, d: usize, now: Cycle, with: &Surroundings) -> u64 {
        let domain = with.residents.warps.domain(d);
        match domain.is_free(now) {
            true => domain.with_room(with.collectors.room_for(d)),
            false => 0,
        }
    }

    /// Issues the instruction that the members of a gang have in common.
    fn issue_members(
        &mut self,
        members: &[Place],
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        if let [single] = members {
            return self.issue_one(*single, now, with);
        }
        let launched = with.view.launched;
        let leader = with.residents.warps.slot_at(members[0]);
        let pc = with.residents.warps.next_instruction(leader);
        let facts = &launched.facts[pc as usize];
        for place in members {
            let slot = with.residents.warps.slot_at(*place);
            self.execute(slot, pc, facts, now, with)?;
            if facts.is_memory() {
                let lanes = &with.residents.groups.get(slot).lanes;
                self.gathered.add(slot, lanes, &self.effect);
            }
            self.move_on(slot, pc, facts, now, with)?;
        }
        let memory = if facts.is_memory() {
            self.issue_gathered(pc, with)
        } else {
            NO_MEMORY
        };
        self.send(leader, pc, memory, with);
        if !facts.is_memory() {
            let slot = |place: &Place| with.residents.warps.slot_at(*place);
            let mut slots = FixedList::default();
            members.iter().for_each(|m| slots.push(slot(m)));
            with.units.note_gang(self.order, slots);
        }
        Ok(())
    }

    /// Makes one memory instruction of what the members of a gang have executed.
    fn issue_gathered(&mut self, pc: Pc, with: &mut Surroundings) -> u16 {
        let Residents {
            groups,
            threads,
            books,
            ..
        } = &mut *with.residents;
        let gathered = &mut self.gathered;
        let first = groups.get(gathered.owners[0].0).lanes.home(0);
        let one_home = (0..LANES)
            .filter(|l| gathered.effect.executed >> l & 1 != 0)
            .all(|l| gathered.homes[l] == first);
        let lanes = if one_home {
            Lanes::Static(first)
        } else {
            Lanes::Gathered(Box::new(gathered.homes))
        };
        let executed = memory::Executed {
            pc,
            effect: &gathered.effect,
            owners: &gathered.owners,
            lanes: &lanes,
            threads,
            launched: with.view.launched,
        };
        let memory = with.memory.open(&executed, &mut books.stats.counters);
        gathered.owners.clear();
        memory
    }
}
