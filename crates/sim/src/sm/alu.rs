//! The ALU pipelines. An operation holds a unit's entry for its initiation interval, and
//! leaves after its latency; a unit refuses one that would leave together with another, or
//! for which no result bus is free then. Once inside, nothing delays it: its writeback cycle
//! is known on entry.

use super::wheel::Wheel;

/// Cycles between leaving a unit and writeback: one in the last stage, one on the bus.
pub const EXIT_STAGES: u64 = 2;

/// The most units.
const MOST: usize = 32;

/// The pipelined units of an SM and the buses that carry their results to writeback.
#[derive(Debug)]
pub struct AluUnits {
    buses: u32,
    /// For each unit, the first cycle in which its entry is free.
    entry_free: [u64; MOST],
}

impl AluUnits {
    /// Units (at most 32), empty, and so many results that may leave in one cycle.
    pub fn new(buses: u32) -> AluUnits {
        AluUnits {
            buses,
            entry_free: [0; MOST],
        }
    }

    /// Takes an operation in cycle `now` if the unit can, and in the cycle `at` of its writeback
    /// a bus; says whether. Every operation is the same time on its way from the unit to
    /// writeback, so those that would be written back together would leave their units together.
    #[inline]
    pub fn enter(
        &mut self,
        unit: usize,
        now: u64,
        interval: u16,
        at: u64,
        results: &mut Wheel,
    ) -> bool {
        let entry_free = &mut self.entry_free[unit % MOST];
        if now < *entry_free || !results.claim(at, unit % MOST, self.buses) {
            return false;
        }
        *entry_free = now + interval as u64;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::wheel::Done;
    use super::*;

    struct Alu {
        units: AluUnits,
        results: Wheel,
        /// The cycle before which everything has been written back.
        now: u64,
    }

    impl Alu {
        fn new(buses: u32) -> Alu {
            Alu {
                units: AluUnits::new(buses),
                results: Wheel::new(),
                now: 0,
            }
        }

        fn enter(&mut self, unit: usize, now: u64, latency: u64, interval: u16) -> bool {
            for cycle in self.now..now {
                while self.results.pop(cycle).is_some() {}
            }
            self.now = now;
            let at = now + latency + EXIT_STAGES;
            let enters = self.units.enter(unit, now, interval, at, &mut self.results);
            if enters {
                self.results.push(at, Done { slot: 0, pc: 0 });
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
            let start = lap * Wheel::HORIZON as u64;
            assert!(units.enter(0, start, 700, 1));
            assert!(!units.enter(0, start + 699, 1, 1), "lap {lap}");
        }
    }
}
