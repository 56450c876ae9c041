//! The ALU pipelines. An operation holds a unit's entry for its initiation interval, and
//! leaves after its latency; a unit refuses one that would leave together with another, or
//! for which no result bus is free then. Once inside, nothing delays it: its writeback cycle
//! is known on entry.

mod results;

use super::facts::{OpFacts, Unit};
use super::operands::{Collectors, Issued};
use crate::config::Machine;
use crate::time::Cycle;
pub use results::Done;
use results::Results;
use std::ops::Range;

/// Cycles between leaving a unit and writeback: one in the last stage, one on the bus.
const EXIT_STAGES: u64 = 2;

/// The most units.
const MOST: usize = 32;

/// The pipelined units of an SM and the buses that carry their results to writeback.
#[derive(Debug)]
pub struct Units {
    /// How many streaming processors there are; the special-function units come behind them.
    sp: usize,
    sfu: usize,
    passes: u64,
    buses: u32,
    /// For each unit, the first cycle in which its entry is free.
    entry_free: [Cycle; MOST],
    results: Results,
    gangs: Gangs,
}

impl Units {
    /// Empty units.
    pub fn new(machine: &Machine) -> Units {
        let [sp, sfu] = [machine.sm.sp_units, machine.sm.sfu_units].map(|n| n.max(1) as usize);
        Units {
            sp,
            sfu,
            passes: machine.passes() as u64,
            buses: machine.sm.result_buses,
            entry_free: [Cycle::ZERO; MOST],
            results: Results::new(),
            gangs: Gangs::default(),
        }
    }

    /// The next cycle in which a result is written back.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.results.next()
    }

    /// Takes the next result of cycle `now`.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<Done> {
        self.results.pop(now)
    }

    /// The instruction with this order number was issued by these warps together.
    pub fn note_gang(&mut self, order: u64, slots: Vec<u16>) {
        self.gangs.members.push((order, slots));
    }

    /// Collected operations enter their units.
    #[inline]
    pub fn step(&mut self, now: Cycle, collectors: &mut Collectors, facts: &[OpFacts]) {
        if collectors.none_collected() {
            return;
        }
        let (sp, all) = (self.sp, self.sp + self.sfu);
        if collectors.oldest(Unit::Sp).is_some() {
            self.enter_all(Unit::Sp, 0..sp, now, collectors, facts);
        }
        if collectors.oldest(Unit::Sfu).is_some() {
            self.enter_all(Unit::Sfu, sp..all, now, collectors, facts);
        }
    }

    fn enter_all(
        &mut self,
        unit: Unit,
        pipes: Range<usize>,
        now: Cycle,
        collectors: &mut Collectors,
        facts: &[OpFacts],
    ) {
        for pipe in pipes {
            let Some(op) = collectors.oldest(unit) else {
                break;
            };
            let facts = &facts[op.pc as usize];
            let interval = facts.interval.max(self.passes as u16);
            let at = now + (facts.latency as u64 + EXIT_STAGES + self.passes - 1);
            if !self.enter(pipe, now, interval, at) {
                continue;
            }
            let op = collectors.leave(unit);
            let results = &mut self.results;
            let done = |slot| results.push(at, Done { slot, pc: op.pc });
            self.gangs.each(op, done);
        }
    }

    /// Takes an operation in cycle `now` if the unit can, and in the cycle `at` of its writeback
    /// a bus; says whether. Every operation is the same time on its way from the unit to
    /// writeback, so those that would be written back together would leave their units together.
    #[inline]
    fn enter(&mut self, unit: usize, now: Cycle, interval: u16, at: Cycle) -> bool {
        let entry_free = &mut self.entry_free[unit % MOST];
        if now < *entry_free || !self.results.claim(at, unit % MOST, self.buses) {
            return false;
        }
        *entry_free = now + interval as u64;
        true
    }
}

/// Warps that issued an instruction together, by the order number of the instruction. Most
/// instructions have no entry here: their one warp is in the instruction itself.
#[derive(Debug, Default)]
struct Gangs {
    members: Vec<(u64, Vec<u16>)>,
}

impl Gangs {
    /// Calls `f` for every warp that issued `op`, and forgets the gang.
    #[inline]
    fn each(&mut self, op: Issued, mut f: impl FnMut(u16)) {
        let gang = |(order, _): &(u64, Vec<u16>)| *order == op.order;
        if !self.members.is_empty()
            && let Some(at) = self.members.iter().position(gang)
        {
            let (_, slots) = self.members.swap_remove(at);
            slots.into_iter().for_each(f);
        } else {
            f(op.slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                units: Units::new(&machine),
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
            let enters = self.units.enter(unit, now, interval, at);
            if enters {
                self.units.results.push(at, Done { slot: 0, pc: 0 });
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
