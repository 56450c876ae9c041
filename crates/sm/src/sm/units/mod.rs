//! The ALU pipelines. An operation holds a unit's entry for its initiation interval, and
//! leaves after its latency; a unit refuses one that would leave together with another, or
//! for which no result bus is free then. Once inside, nothing delays it: its writeback cycle
//! is known on entry.

mod gangs;
mod gated;
mod gated_pipes;
mod heard;
mod plan;
mod results;

use super::facts::OpFacts;
use super::fixed_list::FixedList;
use super::limits::MOST_PIPELINES;
use super::operands::{Collectors, Issued, Registers, Takers};
use crate::config::{Entrances, Machine};
use crate::power::{Power, Side, UnderWay};
use crate::stats::PipeCounters;
use crate::time::Cycle;
use gangs::Gangs;
pub use gated_pipes::{GatedPipe, gated_pipes};
use heard::Folded;
pub use plan::{Group, Pipelines, UnitPlan};
pub use results::Done;
use results::Results;

/// Cycles between leaving a unit and writeback: one in the last stage, one on the bus.
const EXIT_STAGES: u64 = 2;

/// The pipelined units of an SM and the buses that carry their results to writeback.
pub struct Units {
    plan: UnitPlan,
    buses: u32,
    /// For each pipeline, the first cycle in which its entry is free.
    entry_free: [Cycle; MOST_PIPELINES],
    /// The first in which those of all are.
    all_free: Cycle,
    results: Results,
    gangs: Gangs,
    takes_gangs: bool,
    /// Power of the lanes, where it is looked at. Where it is not, they are on.
    power: Option<Box<Power>>,
    /// When each pipeline's entry for floating-point instructions is free, where these have an entry of their own.
    fp_free: Option<Box<[Cycle; MOST_PIPELINES]>>,
    /// Instructions that have their operands, by order number: filled and read in one place.
    collected: Vec<u64>,
    /// Instructions that were folded, for an observer that wants details.
    folded: Option<Vec<(u16, Folded)>>,
}

impl Units {
    /// Empty units. `minded`: the issue policy goes by the power of the lanes.
    pub fn new(machine: &Machine, plan: UnitPlan, minded: bool) -> Units {
        let power = Power::new(machine, &plan.pipelines(machine), minded);
        let buses = machine.sm.result_buses;
        let has_buses = |group: &Group| group.bus.count_ones() <= buses;
        let own = machine.pipes.entries == Entrances::Own;
        let has_room = power.is_none() && plan.groups.iter().all(has_buses);
        Units {
            takes_gangs: has_room && machine.sm.schedulers == 1,
            power: power.map(Box::new),
            plan,
            buses,
            entry_free: [Cycle::ZERO; MOST_PIPELINES],
            all_free: Cycle::ZERO,
            results: Results::new(),
            gangs: Gangs::default(),
            fp_free: own.then(|| Box::new([Cycle::ZERO; MOST_PIPELINES])),
            collected: Vec::new(),
            folded: None,
        }
    }

    /// The next cycle in which a result is written back.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.results.next()
    }

    /// The next result for cycle `now`.
    #[inline]
    pub fn peek(&self, now: Cycle) -> Option<Done> {
        self.results.peek(now)
    }

    /// Takes the next result of cycle `now`.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<Done> {
        self.results.pop(now)
    }

    /// Warps have the result of an instruction in cycle `at`, which passes no pipeline and takes no bus.
    pub fn have_result(&mut self, at: Cycle, slots: impl Iterator<Item = u16>, pc: u32) {
        for slot in slots {
            self.results.push(at, Done::alone(slot, pc));
        }
    }

    /// The instruction with this order number was issued by these warps together.
    pub fn note_gang(&mut self, order: u64, slots: FixedList<u16, 8>) {
        self.gangs.members.push((order, slots));
    }

    /// The instruction with this order number was issued for these lanes, by a warp of this domain.
    #[inline]
    pub fn note_lanes(
        &mut self,
        order: u64,
        lanes: u32,
        domain: usize,
        facts: &OpFacts,
        now: Cycle,
    ) {
        if self.power.is_some() {
            let instruction = UnderWay {
                order,
                lanes,
                side: facts.through.side,
                interval: facts.interval,
                group: self.plan.routes[domain][facts.unit as usize],
                issued: now,
            };
            self.note_under_way(instruction, now);
        }
    }

    /// Power of the lanes, where it is looked at.
    #[inline]
    pub fn power(&mut self) -> Option<&mut Power> {
        self.power.as_deref_mut()
    }

    /// A launch of instructions with these facts begins.
    pub fn begin(&mut self, now: Cycle, facts: &[OpFacts]) {
        let longest = facts.iter().map(|facts| facts.latency).max();
        let ahead = u64::from(longest.unwrap_or(0)) + EXIT_STAGES;
        match &mut self.power {
            Some(power) => {
                // Instructions in two halves take longer than the facts say.
                self.results.look_ahead(Results::HORIZON as u64 - 1);
                power.begin(now);
            }
            None => self.results.look_ahead(ahead),
        }
    }

    /// What the lanes did before cycle `now`, if they were watched.
    pub fn pipe_counters(&mut self, now: Cycle) -> [PipeCounters; 2] {
        let counted = self.power.as_mut().map(|power| power.counted(now));
        counted.unwrap_or_default()
    }

    /// Whether collectors may hand over what is to enter, rather than wait to be asked: the power of lanes is not watched,
    /// which is another one in the next cycle.
    pub fn are_handed_over(&self) -> bool {
        self.power.is_none()
    }

    /// Collected operations, of which there are some, enter their units, where they are not handed over.
    #[inline(never)]
    pub fn step(&mut self, now: Cycle, collectors: &mut Collectors, facts: &[OpFacts]) {
        // Instructions of gangs enter before all others, and their results leave first. The order within a cycle makes no
        // difference: what a result does is its warp's own, and a divergence model that waits for all
        // warps of a block starts none of them before its next tick.
        while let Some(gang) = collectors.take_gang() {
            if !self.enter_gang(&gang, now, facts) {
                collectors.split_gang(gang);
            }
        }
        self.ask_for_lanes(now, collectors);
        let mut left = collectors.collected_to_compute();
        while left != 0 {
            let group = left.trailing_zeros() as usize;
            left &= left - 1;
            match self.power {
                None => self.enter_all(group, now, collectors, facts),
                Some(_) => self.enter_gated(group, now, collectors, facts),
            }
        }
    }

    /// Where they are not handed over.
    #[inline]
    fn enter_all(
        &mut self,
        group: usize,
        now: Cycle,
        collectors: &mut Collectors,
        facts: &[OpFacts],
    ) {
        let pipelines = Pipelines::from(&self.plan.groups[group]);
        self.enter_these(&pipelines, collectors.behind(group), now, facts);
        collectors.note_left(group);
    }

    /// Collected operations of a group, oldest first, enter its pipelines, as far as they can. Where they are handed over,
    /// that is asked for the next cycle, of the groups in the same order as here.
    #[inline(always)]
    pub fn enter_these(
        &mut self,
        pipelines: &Pipelines,
        behind: &mut Registers,
        now: Cycle,
        facts: &[OpFacts],
    ) {
        let mut taken = 0;
        for pipeline in pipelines.first..pipelines.end {
            if taken == behind.count {
                break;
            }
            let op = &behind.ops[taken as usize % Registers::MOST];
            let facts = &facts[op.pc as usize];
            if facts.is_memory() {
                break; // it is for the load/store unit, and in the way of what comes behind
            }
            taken += u8::from(self.enter_one(pipeline, pipelines.bus, op, now, facts));
        }
        if taken != 0 {
            behind.drop_oldest(taken);
        }
    }

    /// An operation enters a pipeline, if it can; says whether.
    #[inline(always)]
    fn enter_one(
        &mut self,
        pipeline: u8,
        bus: u32,
        op: &Issued,
        now: Cycle,
        facts: &OpFacts,
    ) -> bool {
        let pipeline = pipeline as usize % MOST_PIPELINES;
        if now < self.entry_free[pipeline] {
            return false;
        }
        let at = now + u64::from(facts.latency) + EXIT_STAGES;
        let place = self.results.place(at);
        if self.gangs.is_empty() {
            let done = Done::alone(op.slot, op.pc);
            if !self
                .results
                .book(place, at, pipeline, bus, self.buses, done)
            {
                return false;
            }
        } else if self.results.claim(place, pipeline, bus, self.buses) {
            self.book_for_gang(*op, at);
        } else {
            return false;
        }
        // A pipeline is asked once in a cycle.
        if facts.interval > 1 {
            let free = now + u64::from(facts.interval);
            self.entry_free[pipeline] = free;
            self.all_free = self.all_free.max(free);
        }
        true
    }

    /// An operation is written back in cycle `at`, for the slot that issued it.
    #[inline(never)]
    fn book_for_gang(&mut self, op: Issued, at: Cycle) {
        let results = &mut self.results;
        let done = |slot| results.push(at, Done::alone(slot, op.pc));
        self.gangs.each(op, done);
    }

    /// Whether each side of a unit has an entry of its own.
    fn own_entries(&self) -> bool {
        self.fp_free.is_some()
    }

    /// When the entry of a pipeline is free for instructions of a side; those of none need all its entries.
    #[inline]
    fn free_at(&self, pipeline: usize, side: Option<Side>) -> Cycle {
        let pipeline = pipeline % MOST_PIPELINES;
        let first = self.entry_free[pipeline];
        match (&self.fp_free, side) {
            (None, _) | (_, Some(Side::Int)) => first,
            (Some(fp), Some(Side::Fp)) => fp[pipeline],
            (Some(fp), None) => first.max(fp[pipeline]),
        }
    }

    /// Takes an operation in cycle `now` if the pipeline can, and in the cycle `at` of its
    /// writeback a bus; says whether. Every operation is the same time on its way from the unit to writeback, so those
    /// that would be written back together would leave their units together.
    #[inline]
    fn enter(
        &mut self,
        pipeline: usize,
        side: Option<Side>,
        bus: u32,
        now: Cycle,
        interval: u16,
        at: Cycle,
    ) -> bool {
        let place = self.results.place(at);
        if now < self.free_at(pipeline, side)
            || !self.results.claim(place, pipeline, bus, self.buses)
        {
            return false;
        }
        let free = now + u64::from(interval);
        self.all_free = self.all_free.max(free);
        let own_fp = self.fp_free.as_mut().filter(|_| side != Some(Side::Int));
        if own_fp.is_none() || side.is_none() {
            self.entry_free[pipeline % MOST_PIPELINES] = free;
        }
        if let Some(fp) = own_fp {
            fp[pipeline % MOST_PIPELINES] = free;
        }
        true
    }
}

/// The units as they take what is handed over in cycle `now`.
pub struct NextCycle<'a> {
    /// The units.
    pub units: &'a mut Units,
    /// The facts of an instruction.
    pub facts: &'a [OpFacts],
    /// The cycle; what is taken enters in the next.
    pub now: Cycle,
}

impl Takers for NextCycle<'_> {
    #[inline(always)]
    fn take_one(&mut self, pipelines: &Pipelines, op: &Issued) -> bool {
        let facts = &self.facts[op.pc as usize];
        let (pipeline, bus) = (pipelines.first, pipelines.bus);
        self.units.enter_one(pipeline, bus, op, self.now + 1, facts)
    }

    #[inline(always)]
    fn take(&mut self, pipelines: &Pipelines, ops: &mut Registers) {
        self.units
            .enter_these(pipelines, ops, self.now + 1, self.facts);
    }

    #[inline(never)]
    fn take_further(&mut self, pipelines: &Pipelines, ops: &mut Registers) {
        let mut others = *pipelines;
        others.first += 1;
        self.take(&others, ops);
    }
}

#[cfg(test)]
mod handed_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;

    struct Alu {
        units: Units,
        /// The cycle before which everything has been written back.
        now: u64,
    }

    impl Alu {
        fn new(buses: u32) -> Alu {
            let set = [format!("sm.result_buses={buses}")];
            let machine = Machine::resolve("gtx480", &set).expect("a preset");
            Alu {
                units: Units::new(&machine, UnitPlan::of(&machine), false),
                now: 0,
            }
        }

        fn enter(&mut self, unit: usize, now: u64, latency: u64, interval: u16) -> bool {
            for cycle in self.now..now {
                while self.units.pop(Cycle::new(cycle)).is_some() {}
            }
            self.now = now;
            let now = Cycle::new(now);
            let at = now + latency + EXIT_STAGES;
            let enters = self.units.enter(unit, None, 0b1111, now, interval, at);
            if enters {
                self.units.results.push(at, Done::alone(0, 0));
            }
            enters
        }
    }

    #[test]
    fn the_entry_is_held_for_the_initiation_interval() {
        let mut units = Alu::new(2);
        assert!(units.enter(0, 10, 8, 8));
        assert!(!units.enter(0, 17, 8, 8));
        assert!(units.enter(0, 18, 8, 8));
    }

    #[test]
    fn two_operations_never_leave_a_unit_together() {
        let mut units = Alu::new(2);
        assert!(units.enter(0, 10, 4, 1));
        assert!(!units.enter(0, 13, 1, 1), "both would leave at 14");
        assert!(units.enter(0, 13, 4, 1));
        assert!(units.enter(0, 14, 1, 1));
    }

    #[test]
    fn results_wait_for_a_bus() {
        let mut units = Alu::new(2);
        assert!(units.enter(0, 20, 4, 1));
        assert!(units.enter(1, 20, 4, 1));
        assert!(!units.enter(2, 20, 4, 1));
        assert!(units.enter(2, 20, 5, 1));
    }

    #[test]
    fn cycles_are_used_again() {
        let mut units = Alu::new(1);
        for lap in 0..3 {
            let start = lap * Results::HORIZON as u64;
            assert!(units.enter(0, start, 700, 1));
            assert!(!units.enter(0, start + 699, 1, 1), "lap {lap}");
        }
    }
}
