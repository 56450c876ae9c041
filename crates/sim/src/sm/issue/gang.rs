//! Warps that issue together: to the collectors and the load/store unit they are one instruction.

use super::execute::NO_MEMORY;
use super::{Issue, Surroundings};
use crate::exec::state::{Effect, EffectKind, LANES, Lanes};
use crate::place::Place;
use crate::schedule::GangView;
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
    /// Issues the instruction of a warp and of those that the policy lets issue with it.
    #[inline(never)]
    pub(super) fn issue_gang(
        &mut self,
        leader: Place,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let mut members = vec![leader];
        let Residents { groups, books, .. } = &mut *with.residents;
        let view = GangView {
            ready: &self.ready,
            groups,
        };
        books.policy.gang(leader, &view, &mut members);
        for member in &members {
            let domain = with.residents.warps.domain(member.domain as usize);
            let room = domain.with_room(with.collectors.room_for(member.domain as usize));
            self.take_turn(*member, room, with);
        }
        let result = self.issue_members(&members, now, with);
        for member in &members {
            with.residents.books.policy.issued(*member);
        }
        result
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
            let slots = members.iter().map(slot).collect();
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
