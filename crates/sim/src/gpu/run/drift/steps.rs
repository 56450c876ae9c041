//! Steps: the parts of periods that SMs run one after the other while they drift apart.
//!
//! Memory is run step by step, too, and goes on as soon as the requests have gone through the network that it needs. A step of half a period
//! makes that sooner, and lets SMs get further apart than a whole one.

use crate::gpu::run::period::Clocking;
use crate::time::Cycle;

/// Steps by which memory is ahead of the exchange at most.
const MOST_AHEAD: u64 = 4;

/// Steps for which something is kept: an SM is at most as many ahead of the exchange as memory, and no part looks further back.
const KEPT: u64 = 8;
const _: () = assert!(MOST_AHEAD < KEPT);

/// Which cycles belong to which step, counted from the one in which SMs begin to drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The cycle in which the first one begins.
    start: Cycle,
    cycles: u64,
    per_period: u64,
    /// How many there are at most.
    pub count: u64,
    /// By how many memory is ahead of the exchange.
    pub lead: u64,
}

impl Steps {
    /// The steps of so many periods. Memory may be ahead of the exchange by `lead` cycles, which is two periods at least.
    pub fn new(start: Cycle, periods: u64, clocking: Clocking, lead: u64) -> Steps {
        let Clocking { quantum, period } = clocking;
        let per_period = match (period / quantum).is_multiple_of(2) {
            true => 2,
            false => 1,
        };
        let cycles = period / per_period;
        Steps {
            start,
            cycles,
            per_period,
            count: periods * per_period,
            lead: (lead / cycles).min(MOST_AHEAD),
        }
    }

    /// The first cycle of a step.
    pub fn start_of(&self, step: u64) -> Cycle {
        self.start + step * self.cycles
    }

    /// The cycle behind the last of a step.
    pub fn end_of(&self, step: u64) -> Cycle {
        self.start_of(step + 1)
    }

    /// The cycle behind the last of the period that a step belongs to.
    pub fn end_of_period(&self, step: u64) -> Cycle {
        self.end_of(self.last_of_period(step / self.per_period))
    }

    /// The last step of a period.
    pub fn last_of_period(&self, period: u64) -> u64 {
        (period + 1) * self.per_period - 1
    }

    /// The last step that memory may be run through when the exchange has come to the end of the one before `step`, and no further than through the
    /// period behind the last one.
    pub fn memory_through(&self, step: u64) -> u64 {
        (step + self.lead).min(self.count + self.per_period) - 1
    }
}

/// Something of each step.
#[derive(Debug, Default)]
pub struct BySteps<T>([T; KEPT as usize]);

impl<T> BySteps<T> {
    /// The entry of a step.
    pub fn of(&self, step: u64) -> &T {
        &self.0[(step % KEPT) as usize]
    }

    /// The entry of the step before.
    pub fn before(&self, step: u64) -> &T {
        self.of(step + KEPT - 1)
    }

    /// The entry of the step before the first.
    pub fn before_first(&self) -> &T {
        self.before(0)
    }

    /// The entry of a step, to change.
    pub fn of_mut(&mut self, step: u64) -> &mut T {
        &mut self.0[(step % KEPT) as usize]
    }

    /// Changes all.
    pub fn each(&mut self, change: impl FnMut(&mut T)) {
        self.0.iter_mut().for_each(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(period: u64, lead: u64) -> Steps {
        let clocking = Clocking { quantum: 4, period };
        Steps::new(Cycle::new(1000), 3, clocking, lead)
    }

    #[test]
    fn a_step_is_half_a_period_of_even_quanta() {
        let even = steps(48, 116);
        assert_eq!((even.count, even.lead), (6, 4));
        assert_eq!(even.start_of(3), Cycle::new(1072));
        assert_eq!(even.end_of_period(2), Cycle::new(1096));
        assert_eq!(even.end_of_period(3), Cycle::new(1096));
        let odd = steps(20, 52);
        assert_eq!((odd.count, odd.lead), (3, 2));
        assert_eq!(odd.end_of_period(1), odd.end_of(1));
    }

    #[test]
    fn memory_runs_as_far_as_it_may() {
        let all = steps(48, 100);
        let through: Vec<u64> = (0..6).map(|step| all.memory_through(step)).collect();
        assert_eq!(through, [3, 4, 5, 6, 7, 7]);
    }
}
