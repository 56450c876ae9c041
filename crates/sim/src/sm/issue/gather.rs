//! One access per cycle: the load/store unit sees the lanes that issue memory instructions in a
//! cycle as one instruction with up to 32 lanes, whatever warps they belong to (variable warp
//! sizing, section 4.1). Memory instructions are of kinds, and those of one kind go together; of
//! several kinds one goes, and the warps with the others keep their instruction.

use super::execute::owner;
use super::{Issue, Next, Surroundings};
use crate::config::Machine;
use crate::exec::state::{Effect, EffectKind, LANES, Lanes, lanes_of};
use crate::place::Place;
use crate::sm::launch::{Launched, SmFault};
use crate::sm::memory::{self, Owner, Shape};
use crate::sm::residents::Residents;
use crate::time::Cycle;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Pc;

/// How many cycles of work the load/store unit may have before it while another memory instruction
/// issues, on a machine whose lanes make one access per cycle. As many as an instruction is on its
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
    /// Reused by [`step_gathered`](Issue::step_gathered): warps that are to issue a memory
    /// instruction, by age, each with the warps of its domain that have room.
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

    /// A warp has executed it on these lanes.
    pub fn add_owner(&mut self, next: &Next, executed: u32) {
        self.owners.push(owner(next, executed));
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
    /// One cycle of all schedulers where memory instructions of one kind are one access: each
    /// scheduler chooses a warp; what they chose that computes issues, and of what accesses memory
    /// the oldest warp's and what is of its kind.
    #[inline(never)]
    pub(super) fn step_gathered(
        &mut self,
        now: Cycle,
        with: &mut Surroundings,
    ) -> Result<(), SmFault> {
        let in_step = with.residents.warps.in_step();
        if in_step {
            self.look_everywhere(now, with.residents);
        }
        let domains = self.domains;
        let turn = with.residents.blocks.turns.number(now);
        let mut any = false;
        for i in 0..domains {
            let d = (turn + i) % domains;
            if self.looks_late {
                self.look_late(d, now, with.residents);
            }
            let Some((place, room)) = self.choose(d, now, with) else {
                continue;
            };
            let next = Next::at(place, with);
            if next.facts.is_memory() {
                let age = with.residents.warps.warp(next.slot).age();
                self.gathered.chosen.push((age, place, room));
                continue;
            }
            any = true;
            self.take_turn(&next, room, with);
            let result = self.issue_alone(&next, now, with);
            with.residents.books.policy.issued(place);
            result?;
        }
        if !self.gathered.chosen.is_empty() {
            any = true;
            self.issue_chosen(now, with)?;
        }
        with.residents.books.stats.counters.issue_cycles += any as u64;
        if any {
            self.hold_slots(with);
        }
        Ok(())
    }

    /// Where the lanes make one access, and instructions take them for several cycles, all slices
    /// issue in the same cycles: the slot of one is that of all.
    pub(super) fn hold_slots(&self, with: &mut Surroundings) {
        if self.gathers && self.long_slots {
            let Residents { warps, books, .. } = &mut *with.residents;
            warps.hold_all_slots(books);
        }
    }

    /// The memory instructions that the schedulers have chosen: those of the oldest warp's kind
    /// issue.
    fn issue_chosen(&mut self, now: Cycle, with: &mut Surroundings) -> Result<(), SmFault> {
        let mut chosen = std::mem::take(&mut self.gathered.chosen);
        chosen.sort_unstable_by_key(|&(age, _, _)| age);
        for (_, place, room) in chosen.drain(..) {
            let next = Next::at(place, with);
            let kind = self.gathered.kind;
            if kind.is_some_and(|k| k != Kind::of(next.pc, with.view.launched)) {
                let d = place.domain as usize;
                let computing = !with.residents.warps.domain(d).accesses();
                self.issue_nothing(d, room & computing, now, with);
                continue;
            }
            self.take_turn(&next, room, with);
            let result = self.gather(&next, now, with);
            with.residents.books.policy.issued(place);
            result?;
        }
        self.gathered.chosen = chosen;
        self.close_access(now, with);
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
        self.gathered.add_owner(next, self.effect.executed);
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
        self.send_access(&next, memory, now, with);
    }

    /// Makes a memory instruction of what a gang has just executed, with the owners that have been gathered,
    /// in a cycle in which no other warp accesses memory.
    #[inline(never)]
    pub(super) fn send_only_access(&mut self, next: &Next, now: Cycle, with: &mut Surroundings) {
        let Residents {
            groups,
            threads,
            books,
            ..
        } = &mut *with.residents;
        let executed = memory::Executed {
            pc: next.pc,
            effect: &self.effect,
            owners: &self.gathered.owners,
            shapes: &[],
            lanes: &groups.get(next.slot).lanes,
            threads,
            launched: with.view.launched,
        };
        let memory = with.memory.open(&executed, &mut books.stats.counters);
        self.gathered.owners.clear();
        self.send_access(next, memory, now, with);
    }

    fn send_access(&mut self, next: &Next, memory: u16, now: Cycle, with: &mut Surroundings) {
        self.send(next, memory, 0, now, with);
        if self.gathers {
            with.collectors.let_memory_issue(false);
        }
    }
}
