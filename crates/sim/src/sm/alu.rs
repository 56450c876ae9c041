//! The ALU pipelines. An operation holds a unit's entry for its initiation interval, and
//! leaves after its latency; a unit refuses one that would leave together with another, or
//! for which no result bus is free then. Once inside, nothing delays it: its writeback cycle
//! is known on entry.

/// Cycles between leaving a unit and writeback: one in the last stage, one on the bus.
pub const EXIT_STAGES: u64 = 2;

const RING: usize = 1024;

/// One pipelined unit.
#[derive(Debug)]
pub struct AluUnit {
    entry_free: u64,
    /// `leaving[c % RING] == c`: an operation leaves in cycle c.
    leaving: Box<[u64; RING]>,
}

impl AluUnit {
    /// An empty unit.
    pub fn new() -> AluUnit {
        AluUnit {
            entry_free: 0,
            leaving: Box::new([u64::MAX; RING]),
        }
    }

    /// Whether an operation may enter in cycle `now`.
    #[inline]
    pub fn accepts(&self, now: u64, latency: u16) -> bool {
        let exit = now + latency as u64;
        now >= self.entry_free && self.leaving[exit as usize % RING] != exit
    }

    /// Takes an operation that was accepted.
    #[inline]
    pub fn enter(&mut self, now: u64, latency: u16, interval: u16) {
        let exit = now + latency as u64;
        self.entry_free = now + interval as u64;
        self.leaving[exit as usize % RING] = exit;
    }
}

impl Default for AluUnit {
    fn default() -> Self {
        AluUnit::new()
    }
}

/// The buses that carry results to writeback, booked by the cycle.
#[derive(Debug)]
pub struct ResultBuses {
    buses: u8,
    booked: Box<[(u64, u8); RING]>,
}

impl ResultBuses {
    /// `buses` results may leave the units in one cycle.
    pub fn new(buses: u32) -> ResultBuses {
        ResultBuses {
            buses: buses as u8,
            booked: Box::new([(u64::MAX, 0); RING]),
        }
    }

    /// Books a bus for cycle `at`, if one is free.
    #[inline]
    pub fn book(&mut self, at: u64) -> bool {
        let entry = &mut self.booked[at as usize % RING];
        if entry.0 != at {
            *entry = (at, 0);
        }
        if entry.1 >= self.buses {
            return false;
        }
        entry.1 += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_held_for_the_initiation_interval() {
        let mut unit = AluUnit::new();
        unit.enter(10, 8, 8);
        assert!(!unit.accepts(17, 8));
        assert!(unit.accepts(18, 8));
    }

    #[test]
    fn two_operations_never_leave_together() {
        let mut unit = AluUnit::new();
        unit.enter(10, 4, 1);
        assert!(!unit.accepts(13, 1), "both would leave at 14");
        assert!(unit.accepts(13, 4));
        assert!(unit.accepts(14, 1));
    }

    #[test]
    fn results_wait_for_a_bus() {
        let mut buses = ResultBuses::new(2);
        assert!(buses.book(20));
        assert!(buses.book(20));
        assert!(!buses.book(20));
        assert!(buses.book(21));
    }
}
