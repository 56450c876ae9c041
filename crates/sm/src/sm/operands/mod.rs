//! Operand collection: instructions wait here until the banked register file has given them
//! their sources. Order within a cycle (as on the reference machine): collectors that are
//! complete leave, every bank serves its oldest read, waiting instructions take free
//! collectors. So an instruction issued at t takes a collector at t+1, reads at t+2 and leaves
//! at t+3, one cycle earlier when it reads no register; sources in one bank take turns, and a
//! bank that is written in a cycle serves no read in it.

mod banked;
mod gangs;
mod registers;
#[cfg(test)]
mod tests;

use super::facts::{Banks, OpFacts};
use super::limits::{MOST_GROUPS, MOST_KINDS};
use super::units::{Pipelines, UnitPlan};
use crate::config::Collector as Config;
use banked::Readers;
pub use gangs::GangIssued;
use gangs::Gangs;
pub use registers::Registers;

/// An issued instruction on its way to a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// Hardware warp.
    pub slot: u16,
    /// Index of the memory operation, for loads and stores.
    pub memory: u16,
    /// Instruction.
    pub pc: u32,
    /// Order of issue: the oldest is served first.
    pub order: u64,
}

/// Collectors of a group at most.
const MOST_COLLECTORS: usize = 64;

/// Ideal collectors let as many instructions wait before their units.
const IDEAL: u8 = 8;

/// Places for groups: a power of two above all that an SM may have, so that finding one by its
/// number takes no check.
const GROUPS: usize = MOST_GROUPS.next_power_of_two();

/// The collectors of one unit group: what every move asks, in a line of the host's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Group {
    /// Bit i: unit i is free.
    free: u64,
    /// Bit i: unit i has all its operands.
    complete: u64,
    /// Unit that left last, for each port: the search goes on behind it.
    last: [u8; Registers::MOST],
    /// The pipelines behind it, and whether instructions are handed over to them.
    pipelines: Pipelines,
    hands_over: bool,
    ports: u8,
    /// How many instructions have come to wait for a collector, and how many of them have one; both begin again at 0
    /// when they have come to 256.
    came: u8,
    took: u8,
}

impl Group {
    /// With so many ports and collectors, of which the first search goes on behind `last`.
    fn new(pipelines: Pipelines, ports: u8, units: u32, last: u8) -> Group {
        Group {
            pipelines,
            free: if units == 64 { !0 } else { (1u64 << units) - 1 },
            last: [last; Registers::MOST],
            ports,
            ..Group::default()
        }
    }

    /// Whether as many wait for a collector as there are ports.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.came.wrapping_sub(self.took) >= self.ports
    }
}

/// Where among all that wait for a collector one of this group is, before which so many came.
#[inline(always)]
fn place_before(g: usize, came: u8) -> usize {
    (g * Registers::MOST + came as usize % Registers::MOST) % (GROUPS * Registers::MOST)
}

/// The units that take instructions from collectors.
pub trait Takers {
    /// Whether the first of these pipelines takes an instruction in the next cycle.
    fn take_one(&mut self, pipelines: &Pipelines, op: &Issued) -> bool;
    /// Pipelines take instructions, oldest first, in the next cycle, as far as they can.
    fn take(&mut self, pipelines: &Pipelines, ops: &mut Registers);
    /// Pipelines take instructions as in [`take`](Self::take); the first of them has already refused the first instruction.
    fn take_further(&mut self, pipelines: &Pipelines, ops: &mut Registers);
}

/// What can move in a cycle, a bit for each group and kind of move: see [`Collectors::wants`].
type Moves = u64;

/// Instructions that wait for a collector want a free one.
const WAITING: Moves = 1;
/// Complete collectors want room behind.
const COMPLETE: Moves = 1 << MOST_GROUPS;
/// Instructions behind the collectors want to enter a pipeline.
const COLLECTED: Moves = 1 << (2 * MOST_GROUPS);
/// Readers want their banks.
const READING: Moves = 1 << (3 * MOST_GROUPS);
/// Instructions of gangs that have been issued want to move on.
const GANGS_WAITING: Moves = READING << 1;
/// Instructions of gangs behind the collectors want to enter their pipelines.
const GANGS_COLLECTED: Moves = READING << 2;
/// The move for all groups.
const ALL: Moves = (1 << MOST_GROUPS) - 1;

/// All collectors of an SM. In this order, what every cycle asks is in one line of the host's cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Collectors {
    /// What is there to move: a kind's bit, shifted by the number of the group.
    wants: Moves,
    /// Where there is room for it.
    may: Moves,
    /// Bit g: another instruction of group g may issue. Groups that do not exist are never full.
    room: u32,
    /// There is one group of each kind of units, with the same number.
    one_each: bool,
    ideal: bool,
    /// Instructions that come out of the collectors are handed over to the units in the same cycle.
    hands_over: bool,
    /// The banks that are written this cycle, as in [`Banks::of`].
    written: u64,
    /// Groups from which instructions enter pipelines, as bits for `COLLECTED`, and those from
    /// which they go to the load/store unit.
    compute: Moves,
    memory: Moves,
    readers: Readers,
    /// The instructions that wait for a collector: those of a group take turns in the places that it has.
    before: Box<[Issued; GROUPS * Registers::MOST]>,
    /// The instructions in the collectors of all groups, and those behind the collectors.
    inside: Box<[Issued; GROUPS * MOST_COLLECTORS]>,
    behind: Box<[Registers; GROUPS]>,
    groups: [Group; GROUPS],
    /// By domain, then by kind of units: the group; and by kind all its groups, a bit each.
    routes: Vec<[u8; MOST_KINDS]>,
    of_kind: [u32; MOST_KINDS],
    /// Groups of kinds of which not all domains have the same.
    by_domain: u32,
    gangs: Gangs,
}

impl Collectors {
    /// Collectors as configured.
    pub fn new(config: &Config, plan: &UnitPlan) -> Collectors {
        let bits = |of: fn(&crate::sm::units::Group) -> bool| {
            let all = plan.groups.iter().enumerate().filter(|(_, g)| of(g));
            all.fold(0, |bits, (g, _)| bits | COLLECTED << g)
        };
        let group = |plan: &crate::sm::units::Group| {
            let units = if config.ideal { 0 } else { plan.collectors };
            let last = match config.starts_behind_first {
                true => 0,
                false => units.saturating_sub(1) as u8,
            };
            Group::new(plan.into(), plan.ports as u8, units, last)
        };
        let mut groups = [Group::default(); GROUPS];
        for (place, plan) in groups.iter_mut().zip(&plan.groups) {
            *place = group(plan);
        }
        let mut of_kind = [0; MOST_KINDS];
        for route in &plan.routes {
            for (kind, group) in route.iter().enumerate() {
                of_kind[kind] |= 1 << group;
            }
        }
        let compute = bits(|g| g.computes);
        let straight = |kinds: &[u8; MOST_KINDS]| {
            let used = plan.groups.len().min(MOST_KINDS);
            (0..used).all(|kind| kinds[kind] as usize == kind)
        };
        Collectors {
            wants: 0,
            // Memory instructions that are collected wait for the load/store unit to wake up.
            // Ideal collectors do not: they never stand still with something inside.
            may: match config.ideal {
                true => !0,
                false => (ALL * WAITING) | (ALL * COMPLETE) | compute | READING,
            },
            room: !0,
            one_each: plan.groups.len() <= MOST_KINDS && plan.routes.iter().all(straight),
            ideal: config.ideal,
            hands_over: false,
            written: 0,
            compute,
            memory: bits(|g| g.memory),
            readers: Readers::default(),
            before: Box::new([Issued::default(); GROUPS * Registers::MOST]),
            inside: Box::new([Issued::default(); GROUPS * MOST_COLLECTORS]),
            behind: Box::new([Registers::default(); GROUPS]),
            groups,
            routes: plan.routes.clone(),
            of_kind,
            by_domain: of_kind
                .iter()
                .filter(|groups| groups.count_ones() > 1)
                .fold(0, |all, groups| all | groups),
            gangs: Gangs::new(config, plan),
        }
    }

    /// From now on instructions are handed over to the units in the cycle in which they come out of the collectors, and
    /// what is not taken again in every cycle behind it: units need not ask. They take in the next cycle
    /// what they would then find here, as nothing changes it in between. Ideal collectors do not, nor those
    /// from which memory instructions leave, too, which they do later in a cycle.
    pub fn hand_over(&mut self) {
        self.hands_over = !self.ideal && self.compute & self.memory == 0;
        for (g, group) in self.groups.iter_mut().enumerate().take(MOST_GROUPS) {
            group.hands_over = self.hands_over && self.compute & (COLLECTED << g) != 0;
        }
    }

    /// The groups (a bit each) for which an instruction may issue this cycle.
    #[inline]
    pub fn room(&self) -> u32 {
        self.room
    }

    /// The kinds of units (a bit each) for which a warp of a domain may issue this cycle.
    #[inline]
    pub fn room_for(&self, domain: usize) -> u8 {
        if self.one_each {
            self.room as u8
        } else {
            self.routed_room(domain)
        }
    }

    /// The kinds of units that have room, if that is the same for all domains.
    #[inline]
    pub fn room_for_all(&self) -> Option<u8> {
        if !self.room & self.by_domain == 0 {
            return Some(self.room_for(0));
        }
        let same = |groups: &u32| self.room & groups == 0 || !self.room & groups == 0;
        let alike = self.of_kind.iter().all(same);
        alike.then(|| self.room_for(0))
    }

    #[inline(never)] // where it is asked, what is kept for it would be in the way of the others
    fn routed_room(&self, domain: usize) -> u8 {
        let has = |group: u8| (self.room >> (group % 32) & 1) as u8;
        let [a, b, c, d] = self.routes[domain];
        has(a) | has(b) << 1 | has(c) << 2 | has(d) << 3
    }

    /// Whether memory instructions may issue, as far as the load/store unit is concerned: to be
    /// said after every [`step`](Collectors::step) where it has a say.
    pub fn let_memory_issue(&mut self, may: bool) {
        let mut groups = self.memory / COLLECTED;
        while groups != 0 {
            let g = groups.trailing_zeros() as usize;
            groups &= groups - 1;
            if may && !self.groups[g % GROUPS].is_full() {
                self.room |= 1 << g;
            } else {
                self.room &= !(1 << g);
            }
        }
    }

    /// The group that a domain's instructions for a kind of units go to.
    pub fn group_of(&self, domain: usize, kind: u8) -> u8 {
        self.routes[domain][kind as usize]
    }

    /// Takes an issued instruction of a domain for a kind of units; the caller has asked for
    /// room.
    #[inline(always)]
    pub fn issue(&mut self, domain: usize, kind: u8, op: Issued) {
        let g = if self.one_each {
            kind as usize
        } else {
            self.routes[domain][kind as usize] as usize
        };
        let group = &mut self.groups[g % GROUPS];
        self.before[place_before(g, group.came)] = op;
        group.came = group.came.wrapping_add(1);
        if group.is_full() {
            self.room &= !(1 << g);
        }
        self.wants |= WAITING << g;
    }

    /// Whether any instruction is ready to enter a pipeline, and is not handed over.
    #[inline]
    pub fn are_to_be_asked(&self) -> bool {
        !self.hands_over && self.wants & (self.compute | GANGS_COLLECTED) != 0
    }

    /// The groups, a bit each, with instructions that are ready to enter a pipeline.
    #[inline]
    pub fn collected_to_compute(&self) -> u32 {
        ((self.wants & self.compute) / COLLECTED) as u32
    }

    /// The instructions of a group that have their operands: those that are ready to leave it, then those for which
    /// there is no room among these.
    pub fn collected(&self, g: usize) -> impl Iterator<Item = &Issued> {
        let (group, behind) = (&self.groups[g], &self.behind[g]);
        let full = behind.count >= if self.ideal { IDEAL } else { group.ports };
        let complete = if full { group.complete } else { 0 };
        let units = (0..MOST_COLLECTORS).filter(move |unit| complete >> unit & 1 != 0);
        let waiting = match full && self.ideal {
            true => group.came.wrapping_sub(group.took),
            false => 0,
        };
        let before = (0..waiting).map(move |i| place_before(g, group.took.wrapping_add(i)));
        behind.ops[..behind.count as usize]
            .iter()
            .chain(units.map(move |unit| &self.inside[g * MOST_COLLECTORS + unit]))
            .chain(before.map(|place| &self.before[place]))
    }

    /// The group whose oldest instruction goes to the load/store unit next, if any does.
    #[inline]
    pub fn oldest_for_memory(&self, facts: &[OpFacts]) -> Option<usize> {
        let mut left = (self.wants & self.memory) / COLLECTED;
        let mut found: Option<(u64, usize)> = None;
        while left != 0 {
            let group = left.trailing_zeros() as usize;
            left &= left - 1;
            let op = &self.behind[group % GROUPS].ops[0];
            if facts[op.pc as usize].is_memory() && found.is_none_or(|(o, _)| op.order < o) {
                found = Some((op.order, group));
            }
        }
        found.map(|(_, group)| group)
    }

    /// Takes out the oldest instruction of a group.
    #[inline]
    pub fn leave(&mut self, g: usize) -> Issued {
        let op = self.behind[g % GROUPS].pop();
        self.note_left(g);
        op
    }

    /// The instructions of a group that are ready to leave it. A caller that takes some out says so
    /// ([`note_left`](Collectors::note_left)).
    #[inline]
    pub fn behind(&mut self, g: usize) -> &mut Registers {
        &mut self.behind[g % GROUPS]
    }

    /// Some instructions have been taken from behind the collectors of a group.
    #[inline]
    pub fn note_left(&mut self, g: usize) {
        let behind = self.behind[g % GROUPS].count;
        if behind == 0 {
            self.wants &= !(COLLECTED << g);
        }
        if behind < self.groups[g % GROUPS].ports {
            self.may |= COMPLETE << g;
        }
    }

    /// Whether nothing in here changes until an instruction comes, or a memory instruction
    /// leaves: nothing is read, and what is complete or waits has no room to move on.
    #[inline]
    pub fn stand_still(&self) -> bool {
        self.wants & self.may == 0
    }

    /// Marks banks as written in this cycle.
    #[inline]
    pub fn write(&mut self, slot: u16, banks: &Banks) {
        self.written |= banks.of(slot);
    }

    /// Marks banks as written if none of them is already; a load's result tries again.
    #[inline]
    pub fn try_write(&mut self, slot: u16, banks: &Banks) -> bool {
        let wanted = banks.of(slot);
        if self.ideal || self.written & wanted == 0 {
            self.written |= wanted;
            return true;
        }
        false
    }

    /// Ends a cycle in which [`step`](Collectors::step) has nothing to do.
    #[inline]
    pub fn end_cycle(&mut self) {
        self.written = 0;
    }

    /// One cycle. `facts` gives the facts of an instruction; the units take instructions where collectors
    /// [hand over](Collectors::hand_over).
    #[inline(always)] // its one caller is the cycle
    pub fn step(&mut self, facts: &[OpFacts], units: impl Takers) {
        if self.ideal {
            self.pass_through();
        } else {
            self.move_on(facts, units);
        }
        self.written = 0;
    }

    #[inline(never)]
    fn pass_through(&mut self) {
        if self.wants & GANGS_WAITING != 0 {
            self.pass_gangs();
        }
        let mut waiting = self.wants & (ALL * WAITING);
        while waiting != 0 {
            let g = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            let (group, behind) = (&mut self.groups[g % GROUPS], &mut self.behind[g % GROUPS]);
            while group.came != group.took && behind.count < IDEAL {
                behind.push(self.before[place_before(g, group.took)]);
                group.took = group.took.wrapping_add(1);
                self.wants |= COLLECTED << g;
            }
            if group.came == group.took {
                self.wants &= !(WAITING << g);
            }
            if !group.is_full() {
                self.room |= 1 << g;
            }
        }
    }
}
