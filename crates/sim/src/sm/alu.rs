//! The ALU pipelines. An operation holds a unit's entry for its initiation interval, and
//! leaves after its latency; a unit refuses one that would leave together with another, or
//! for which no result bus is free then. Once inside, nothing delays it: its writeback cycle
//! is known on entry.

/// Cycles between leaving a unit and writeback: one in the last stage, one on the bus.
pub const EXIT_STAGES: u64 = 2;

/// Above every latency.
const RING: usize = 1024;

/// The pipelined units of an SM and the buses that carry their results to writeback.
#[derive(Debug)]
pub struct AluUnits {
    buses: u32,
    /// For each unit, the first cycle in which its entry is free.
    entry_free: Vec<u64>,
    /// The units from which an operation leaves in a cycle, a bit each, by cycle modulo `RING`.
    /// As many results as bits want a bus then. One small ring for all: there are fifteen SMs,
    /// and what one touches in its turn should stay in the host's first-level cache.
    leaving: Box<[u32; RING]>,
    /// Entries of `leaving` for cycles before this one are cleared.
    cleared: u64,
}

impl AluUnits {
    /// So many units, empty (at most 32), and so many results that may leave in one cycle.
    pub fn new(units: u32, buses: u32) -> AluUnits {
        AluUnits {
            buses,
            entry_free: vec![0; units as usize],
            leaving: Box::new([0; RING]),
            cleared: 0,
        }
    }

    /// Takes an operation in cycle `now` if the unit and a bus can; says whether.
    #[inline]
    pub fn enter(&mut self, unit: usize, now: u64, latency: u16, interval: u16) -> bool {
        if now < self.entry_free[unit] {
            return false;
        }
        if self.cleared < now {
            self.clear_until(now);
        }
        let leaving = &mut self.leaving[(now + latency as u64) as usize % RING];
        if *leaving >> unit & 1 != 0 || leaving.count_ones() >= self.buses {
            return false;
        }
        *leaving |= 1 << unit;
        self.entry_free[unit] = now + interval as u64;
        true
    }

    /// Cycles before `now` are over: their places in the ring are used again.
    fn clear_until(&mut self, now: u64) {
        if now - self.cleared >= RING as u64 {
            self.leaving.fill(0);
        } else {
            for cycle in self.cleared..now {
                self.leaving[cycle as usize % RING] = 0;
            }
        }
        self.cleared = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_held_for_the_initiation_interval() {
        let mut units = AluUnits::new(1, 2);
        assert!(units.enter(0, 10, 8, 8));
        assert!(!units.enter(0, 17, 8, 8));
        assert!(units.enter(0, 18, 8, 8));
    }

    #[test]
    fn two_operations_never_leave_a_unit_together() {
        let mut units = AluUnits::new(1, 2);
        assert!(units.enter(0, 10, 4, 1));
        assert!(!units.enter(0, 13, 1, 1), "both would leave at 14");
        assert!(units.enter(0, 13, 4, 1));
        assert!(units.enter(0, 14, 1, 1));
    }

    #[test]
    fn results_wait_for_a_bus() {
        let mut units = AluUnits::new(3, 2);
        assert!(units.enter(0, 20, 4, 1));
        assert!(units.enter(1, 20, 4, 1));
        assert!(!units.enter(2, 20, 4, 1));
        assert!(units.enter(2, 20, 5, 1));
    }

    #[test]
    fn the_ring_is_used_again() {
        let mut units = AluUnits::new(1, 1);
        for lap in 0..3 {
            let start = lap * RING as u64;
            assert!(units.enter(0, start, 700, 1));
            assert!(!units.enter(0, start + 699, 1, 1), "lap {lap}");
        }
    }
}
