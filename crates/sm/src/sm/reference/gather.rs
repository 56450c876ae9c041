//! Memory instructions that are one access: where the load/store unit sees the lanes that issue in a cycle rather than
//! warps (`sm.gather_memory`), those of one kind go together. Of several kinds that of the oldest warp goes, and the
//! other warps keep their instruction.

use super::{Sm, World};
use crate::config::Machine;
use crate::exec::state::{Effect, EffectKind, LANES, Lanes};
use crate::sm::launch::{Launched, SmFault};
use crate::sm::memory::{Executed, Owner, Shape};
use crate::time::Cycle;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Pc;

/// How many cycles of work the load/store unit may have before it while another memory instruction issues: as many as
/// one is on its way from issue.
pub(super) fn memory_ahead(machine: &Machine) -> Option<u32> {
    let on_the_way = if machine.collector.ideal { 1 } else { 3 };
    machine.sm.gather_memory.then_some(on_the_way)
}

/// Memory instructions that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load {
        space: Space,
        uncached: bool,
    },
    Store(Space),
    Texture,
    /// What only goes together with itself.
    Only(Pc),
}

pub(super) fn kind_of(pc: Pc, launched: &Launched) -> Kind {
    let instr = &launched.kernel.code[pc as usize];
    // A generic address is most often a global one.
    let space = match instr.mods.space {
        None | Some(Space::Generic) => Space::Global,
        Some(space) => space,
    };
    let uncached = launched.facts[pc as usize].uncached;
    match instr.op {
        Op::Ld | Op::Ldu => Kind::Load { space, uncached },
        Op::St => Kind::Store(space),
        Op::Tex => Kind::Texture,
        _ => Kind::Only(pc),
    }
}

/// Warps that schedulers have chosen to issue a memory instruction in a cycle: age, slot, and the warps of the scheduler
/// with room.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    chosen: Vec<(u64, u16, u64)>,
}

impl Gathered {
    pub fn choose(&mut self, age: u64, slot: u16, room: u64) {
        self.chosen.push((age, slot, room));
    }
}

/// What some warps have executed, as one instruction.
pub(super) struct Joint {
    effect: Effect,
    owners: Vec<Owner>,
    shapes: Vec<Shape>,
    homes: [u16; LANES],
}

impl Joint {
    pub fn new() -> Joint {
        Joint {
            effect: Effect::default(),
            owners: Vec::new(),
            shapes: Vec::new(),
            homes: [0; LANES],
        }
    }

    /// Adds what a warp has executed, with these threads on its lanes.
    pub fn add(&mut self, slot: u16, pc: Pc, lanes: &Lanes, its: &Effect) {
        self.owners.push(Owner {
            slot,
            pc,
            lanes: its.executed,
            pending: 0,
        });
        for lane in (0..LANES).filter(|lane| its.executed >> lane & 1 != 0) {
            self.homes[lane] = lanes.home(lane);
            self.effect.address[lane] = its.address[lane];
            for (all, its) in self.effect.operands.iter_mut().zip(&its.operands) {
                all[lane] = its[lane];
            }
        }
        self.effect.executed |= its.executed;
        if let EffectKind::Access(access) = &its.kind {
            let same = |s: &&mut Shape| (s.element, s.count) == (access.element, access.count);
            match self.shapes.iter_mut().find(same) {
                Some(shape) => shape.lanes |= its.executed,
                None => self.shapes.push(Shape {
                    lanes: its.executed,
                    element: access.element,
                    count: access.count,
                }),
            }
        }
        match (&mut self.effect.kind, &its.kind) {
            (EffectKind::Access(all), EffectKind::Access(access))
            | (EffectKind::Prefetch(all), EffectKind::Prefetch(access)) => {
                all.shared |= access.shared;
                all.global |= access.global;
                all.local |= access.local;
            }
            // A warp whose lanes are all off has made no access.
            (EffectKind::Access(_) | EffectKind::Prefetch(_) | EffectKind::Atomic(_), _) => {}
            (kind, its) => *kind = its.clone(),
        }
    }

    /// The threads on its lanes.
    fn lanes(&self) -> Lanes {
        let executed = |lane: &usize| self.effect.executed >> lane & 1 != 0;
        let mut homes = (0..LANES).filter(executed).map(|lane| self.homes[lane]);
        let first = homes.next().unwrap_or(self.homes[0]);
        match homes.all(|home| home == first) {
            true => Lanes::Static(first),
            false => Lanes::Gathered(Box::new(self.homes)),
        }
    }
}

impl Sm {
    /// The memory instructions that the schedulers have chosen issue, those of the oldest warp's kind. Says whether any
    /// does.
    pub(super) fn issue_gathered(
        &mut self,
        gathered: Gathered,
        now: Cycle,
        world: &World,
    ) -> Result<bool, SmFault> {
        let launched = world.launched;
        let mut chosen = gathered.chosen;
        chosen.sort_by_key(|(age, ..)| *age);
        let Some(&(_, first, _)) = chosen.first() else {
            return Ok(false);
        };
        let pc_of = |sm: &Sm, slot: u16| sm.groups.get(slot).pc;
        let first_pc = pc_of(self, first);
        let kind = kind_of(first_pc, launched);
        let mut joint = Joint::new();
        for (_, slot, room) in chosen {
            let (pc, place) = (pc_of(self, slot), self.layout.place_of(slot));
            if kind_of(pc, launched) != kind {
                // The load/store unit has no room for others any more.
                let computes = |warp: &super::Warp| {
                    !warp
                        .head()
                        .is_some_and(|head| launched.facts[head as usize].is_memory())
                };
                let d = usize::from(place.domain);
                let room = room & self.those(d, |_, warp| computes(warp));
                self.issue_nothing(d, room, now, launched);
                continue;
            }
            self.begin_turn(slot, pc, room, now, launched);
            let mut effect = std::mem::take(&mut self.effect);
            self.execute_for(slot, pc, &mut effect, now, world)?;
            joint.add(slot, pc, &self.groups.get(slot).lanes, &effect);
            let moved = self.move_on(slot, pc, &effect, now, world);
            self.effect = effect;
            self.policy.issued(place);
            moved?;
        }
        self.send_joint(first, first_pc, joint, now, launched);
        Ok(true)
    }

    /// What has been gathered goes to the collectors as one instruction, that of the first warp.
    pub(super) fn send_joint(
        &mut self,
        slot: u16,
        pc: Pc,
        mut joint: Joint,
        now: Cycle,
        launched: &Launched,
    ) {
        let executed = Executed {
            pc,
            effect: &joint.effect,
            owners: &joint.owners,
            shapes: match &joint.shapes[..] {
                [] | [_] => &[],
                several => several,
            },
            lanes: &joint.lanes(),
            threads: &self.threads,
            launched,
        };
        let op = self.memory.open(&executed, &mut self.stats.counters);
        self.send(slot, pc, Some(op), &mut joint.effect, now, launched);
        if self.machine.sm.gather_memory {
            self.collectors.let_memory_issue(false);
        }
    }

    /// Where the lanes make one access, and instructions take them for several cycles, all schedulers issue in the same
    /// cycles: the issue slot of one is that of all.
    pub(super) fn hold_all_slots(&mut self, now: Cycle) {
        let long = self
            .machine
            .unit
            .values()
            .any(|unit| unit.lanes < LANES as u32);
        let free = self
            .issue_free
            .iter()
            .copied()
            .fold(Cycle::ZERO, Cycle::max);
        if long && free > now + 1 {
            self.issue_free.fill(free);
        }
    }
}
