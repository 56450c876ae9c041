//! Warps that issue together: to the collectors and the load/store unit they are one instruction.

use super::collector::Issued;
use super::opinfo::Unit;
use super::perform::NO_MEMORY;
use super::{Launched, Quantum, Sm, SmFault};
use crate::exec::state::{Effect, EffectKind, LANES, Lanes};
use crate::schedule::{GangView, Place};
use warpsim_ptx::kernel::Pc;

/// Warps that issued an instruction together, by the order number of the instruction. Most
/// instructions have no entry here: their one warp is in the instruction itself.
#[derive(Debug, Default)]
pub(super) struct Gangs {
    members: Vec<(u64, Vec<u16>)>,
}

impl Gangs {
    fn add(&mut self, order: u64, slots: Vec<u16>) {
        self.members.push((order, slots));
    }

    /// Calls `f` for every warp that issued `op`, and forgets the gang.
    #[inline]
    pub fn each(&mut self, op: Issued, mut f: impl FnMut(u16)) {
        if !self.members.is_empty()
            && let Some(at) = self
                .members
                .iter()
                .position(|(order, _)| *order == op.order)
        {
            let (_, slots) = self.members.swap_remove(at);
            slots.into_iter().for_each(f);
        } else {
            f(op.slot);
        }
    }
}

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

impl Sm {
    /// Issues the instruction of a warp and of those that the policy lets issue with it.
    #[inline(never)]
    pub(super) fn issue_gang(
        &mut self,
        leader: Place,
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        let mut members = vec![leader];
        let view = GangView {
            ready: &self.ready,
            groups: &self.groups,
        };
        self.policy.gang(leader, &view, &mut members);
        for member in &members {
            let room = self.domains[member.domain as usize].with_room(self.room());
            self.take_turn(*member, room, now, quantum.launched);
        }
        let result = self.issue_members(&members, now, quantum);
        for member in &members {
            self.policy.issued(*member);
        }
        result
    }

    /// Issues the instruction that the members of a gang have in common.
    fn issue_members(
        &mut self,
        members: &[Place],
        now: u64,
        quantum: &mut Quantum,
    ) -> Result<(), SmFault> {
        if let [single] = members {
            return self.issue_one(*single, now, quantum);
        }
        let launched = quantum.launched;
        let leader = self.slot_at(members[0]);
        let pc = self.next_instruction(leader);
        let info = &launched.infos[pc as usize];
        let accesses = info.unit == Unit::Mem;
        for place in members {
            let slot = self.slot_at(*place);
            self.execute(slot, pc, info, now, quantum)?;
            if accesses {
                self.gathered
                    .add(slot, &self.groups.get(slot).lanes, &self.effect);
            }
            self.after(slot, *place, pc, info, now, quantum)?;
        }
        let memory = if accesses {
            self.issue_gathered(pc, launched)
        } else {
            NO_MEMORY
        };
        self.send(leader, pc, info.unit, memory);
        let slots = members.iter().map(|p| self.slot_at(*p)).collect();
        self.gangs.add(self.order, slots);
        Ok(())
    }

    /// Makes one memory instruction of what the members of a gang have executed.
    fn issue_gathered(&mut self, pc: Pc, launched: &Launched) -> u16 {
        std::mem::swap(&mut self.effect, &mut self.gathered.effect);
        let owners = std::mem::take(&mut self.gathered.owners);
        let first = self.groups.get(owners[0].0).lanes.home(0);
        let one_home = (0..LANES)
            .filter(|l| self.effect.executed >> l & 1 != 0)
            .all(|l| self.gathered.homes[l] == first);
        let lanes = if one_home {
            Lanes::Static(first)
        } else {
            Lanes::Gathered(Box::new(self.gathered.homes))
        };
        let memory = self.issue_memory(&owners, lanes, pc, launched);
        self.gathered.owners = owners;
        self.gathered.owners.clear();
        std::mem::swap(&mut self.effect, &mut self.gathered.effect);
        memory
    }
}
