//! One access per cycle: the load/store unit sees the lanes that issue memory instructions in a
//! cycle as one instruction with up to 32 lanes, whatever warps they belong to (variable warp
//! sizing, section 4.1). Memory instructions are of kinds, and those of one kind go together; of
//! several kinds one goes, and the warps with the others keep their instruction.

use super::execute::owner;
use super::{Issue, Next, Surroundings, Turns};
use crate::config::Machine;
use crate::exec::state::{Effect, EffectKind, LANES, Lanes, lanes_of};
use crate::place::Place;
use crate::sm::launch::{Launched, SmFault};
use crate::sm::memory::{self, Owner, Shape};
use crate::sm::residents::Residents;
use crate::sm::warps::WarpTable;
use crate::time::Cycle;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Pc;

/// How many cycles of work the load/store unit may have before it while another memory instruction
/// issues, on a machine with lanes that make one access per cycle. As many as an instruction is on its
/// way from issue: then accesses that take one cycle each follow one another without a gap, and
/// one that takes several keeps the next from issuing until it has one left.
pub fn memory_ahead(machine: &Machine) -> Option<u32> {
    let on_the_way = if machine.collector.ideal { 1 } else { 3 };
    machine.sm.gather_memory.then_some(on_the_way)
}

/// Memory instructions that the load/store unit can take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Loads from a space, through its cache or past it.
    Load {
        /// The space.
        space: Space,
        /// Past the L1.
        uncached: bool,
    },
    /// Stores to a space.
    Store(Space),
    /// Texture fetches.
    Texture,
    /// What only goes together with itself: atomics.
    Only(Pc),
}

impl Kind {
    /// The kind of the instruction at `pc`.
    pub fn of(pc: Pc, launched: &Launched) -> Kind {
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
}

/// What warps have executed that is to be one access.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The kind of what is here.
    pub kind: Option<Kind>,
    /// The first warp that came.
    first: Option<(Place, u16, Pc)>,
    effect: Effect,
    pub owners: Vec<Owner>,
    shapes: Vec<Shape>,
    /// The home warp of all lanes, if they have come with one; else that of each.
    home: Option<u16>,
    homes: [u16; LANES],
    /// Warps that are to issue a memory instruction, by age, each with the warps of its domain that have room.
    chosen: Vec<(u64, Place, u64)>,
}

impl Gathered {
    /// A warp's instruction is to be part of the access.
    pub fn open(&mut self, next: &Next, launched: &Launched) {
        if self.owners.is_empty() {
            self.effect.executed = 0;
            self.effect.kind = EffectKind::Alu;
            self.kind = Some(Kind::of(next.pc, launched));
            self.first = Some((next.place, next.slot, next.pc));
        }
    }

    /// A scheduler has chosen a warp to issue a memory instruction. `room` is the set of its domain's warps that have
    /// room at their unit.
    pub fn choose(&mut self, next: &Next, room: u64, warps: &WarpTable) {
        let age = warps.warp(next.slot).age();
        self.chosen.push((age, next.place, room));
    }

    /// What was executed on some lanes, of one warp or of a gang.
    pub fn add_lanes(&mut self, lanes: &Lanes, effect: &Effect) {
        self.add_homes(lanes, effect.executed);
        if effect.executed == u32::MAX {
            self.effect.address = effect.address;
        } else {
            for lane in lanes_of(effect.executed) {
                self.effect.address[lane] = effect.address[lane];
            }
        }
        // Only atomics have operands.
        if matches!(effect.kind, EffectKind::Atomic(_)) {
            for (all, its) in self.effect.operands.iter_mut().zip(&effect.operands) {
                for lane in lanes_of(effect.executed) {
                    all[lane] = its[lane];
                }
            }
        }
        self.effect.executed |= effect.executed;
        if let EffectKind::Access(its) = &effect.kind {
            let same = |s: &&mut Shape| (s.element, s.count) == (its.element, its.count);
            match self.shapes.iter_mut().find(same) {
                Some(shape) => shape.lanes |= effect.executed,
                None => self.shapes.push(Shape {
                    lanes: effect.executed,
                    element: its.element,
                    count: its.count,
                }),
            }
        }
        match (&mut self.effect.kind, &effect.kind) {
            (EffectKind::Access(all), EffectKind::Access(its))
            | (EffectKind::Prefetch(all), EffectKind::Prefetch(its)) => {
                all.shared |= its.shared;
                all.global |= its.global;
                all.local |= its.local;
            }
            // A warp whose lanes are all off made no access.
            (EffectKind::Access(_) | EffectKind::Prefetch(_) | EffectKind::Atomic(_), _) => {}
            (kind, its) => *kind = its.clone(),
        }
    }

    /// Adds these lanes of some threads to those of the access.
    fn add_homes(&mut self, lanes: &Lanes, executed: u32) {
        match (lanes, self.home) {
            (Lanes::Static(its), _) if self.effect.executed == 0 => self.home = Some(*its),
            (Lanes::Static(its), Some(home)) if *its == home => {}
            (_, home) => {
                if let Some(home) = home {
                    self.homes = [home; LANES];
                }
                self.home = None;
                lanes_of(executed).for_each(|lane| self.homes[lane] = lanes.home(lane));
            }
        }
    }

    /// The threads on the lanes.
    fn lanes(&self) -> Lanes {
        if let Some(home) = self.home {
            return Lanes::Static(home);
        }
        let executed = self.effect.executed;
        let first = self.homes[executed.trailing_zeros() as usize % LANES];
        if lanes_of(executed).all(|l| self.homes[l] == first) {
            Lanes::Static(first)
        } else {
            Lanes::Gathered(Box::new(self.homes))
        }
    }
}

impl Issue {
    /// Where the lanes make one access, and instructions take them for several cycles, all slices
    /// issue in the same cycles: the slot of one is that of all.
    pub(super) fn hold_slots(&self, turns: &mut Turns) {
        if self.gathers && self.long_slots {
            turns.warps.hold_all_slots(turns.books);
        }
    }

    /// Schedulers have had their turns, and some have chosen a warp that is to issue a memory instruction: the oldest of
    /// these warps issues, and the ones that have an instruction of the same kind.
    #[inline(never)]
    pub(super) fn issue_chosen(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let launched = with.view.launched;
        let mut chosen = std::mem::take(&mut self.gathered.chosen);
        chosen.sort_unstable_by_key(|&(age, _, _)| age);
        for (_, place, room) in chosen.drain(..) {
            let kind = self.gathered.kind;
            let mut turns = with.turns(now);
            let next = Next::at(place, turns.warps, launched);
            if kind.is_some_and(|k| k != Kind::of(next.pc, launched)) {
                let d = place.domain as usize;
                let computing = !turns.warps.domain(d).accesses();
                turns.issue_nothing(d, room & computing);
                continue;
            }
            turns.take(&next, room);
            let result = self.gather(&next, now, with);
            with.residents.books.policy.issued(place);
            result?;
        }
        self.gathered.chosen = chosen;
        self.close_access(now, with);
        self.hold_slots(&mut with.turns(now));
        Ok(())
    }

    /// A warp executes its memory instruction, which becomes part of the access.
    pub(super) fn gather(
        &mut self,
        next: &Next,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let (residents, view) = (&mut *with.residents, &mut with.view);
        self.execute(next, now, residents, view)?;
        let lanes = &residents.groups.get(next.slot).lanes;
        self.gathered.open(next, view.launched);
        self.gathered.owners.push(owner(next, self.effect.executed));
        self.gathered.add_lanes(lanes, &self.effect);
        self.move_on(next, now, residents, view)
    }

    /// Makes one memory instruction of what has been gathered, if anything has.
    #[inline]
    pub(super) fn close_access(&mut self, now: Cycle, with: &mut Surroundings) {
        if let Some(first) = self.gathered.first.take() {
            self.send_gathered(first, now, with);
        }
    }

    #[inline(never)]
    fn send_gathered(
        &mut self,
        (place, slot, pc): (Place, u16, Pc),
        now: Cycle,
        with: &mut Surroundings,
    ) {
        let gathered = &mut self.gathered;
        let Residents { threads, books, .. } = &mut *with.residents;
        let executed = memory::Executed {
            pc,
            effect: &gathered.effect,
            owners: &gathered.owners,
            shapes: match &gathered.shapes[..] {
                [] | [_] => &[],
                several => several,
            },
            lanes: &gathered.lanes(),
            threads,
            launched: with.view.launched,
        };
        let memory = with.memory.open(&executed, &mut books.stats.counters);
        gathered.kind = None;
        gathered.owners.clear();
        gathered.shapes.clear();
        let facts = &with.view.launched.facts[pc as usize];
        let next = Next {
            place,
            slot,
            pc,
            facts,
        };
        self.send(&next, memory, 0, now, with);
        if self.gathers {
            with.collectors.let_memory_issue(false);
        }
    }
}
