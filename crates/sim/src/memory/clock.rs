//! Clock domains. Core cycles are the time that the outside sees; the network, L2 and DRAM
//! count ticks of their own. The conversion is exact: a rational in lowest terms, integers
//! only, so that no rounding accumulates over a run.

use super::divide::Divisor;
use crate::time::{Cycle, Tick};

/// A clock beside the core clock. Tick `k` happens within core cycle `floor(k * core / own)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// `ticks` of this clock take as long as `cycles` of the core clock.
    ticks: Divisor,
    cycles: Divisor,
    /// It is as fast as the core clock.
    same: bool,
}

impl Clock {
    /// A clock of `mhz` beside a core of `core_mhz`; both above zero.
    pub fn new(mhz: u32, core_mhz: u32) -> Clock {
        let (ticks, cycles) = (u64::from(mhz.max(1)), u64::from(core_mhz.max(1)));
        let divisor = gcd(ticks, cycles);
        Clock {
            ticks: Divisor::new(ticks / divisor),
            cycles: Divisor::new(cycles / divisor),
            same: ticks == cycles,
        }
    }

    /// It has a tick every core cycle, of the same number.
    #[inline]
    pub fn same_as_core(&self) -> bool {
        self.same
    }

    /// The first tick that does not happen before core cycle `cycle`.
    #[inline]
    pub fn first_tick(&self, cycle: Cycle) -> Tick {
        if self.same {
            return Tick::new(cycle.get());
        }
        Tick::new(self.cycles.divide_up(cycle.get() * self.ticks.get()))
    }

    /// The core cycle within which `tick` happens. Never stays never.
    #[inline]
    pub fn cycle_of(&self, tick: Tick) -> Cycle {
        if self.same || tick == Tick::NEVER {
            return Cycle::new(tick.get());
        }
        Cycle::new(self.ticks.divide(tick.get() * self.cycles.get()).0)
    }

    /// The ticks that happen within core cycle `cycle`.
    #[inline]
    pub fn ticks_of(&self, cycle: Cycle) -> impl Iterator<Item = Tick> + Clone + use<> {
        self.first_tick(cycle).until(self.first_tick(cycle + 1))
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_clocks_count_alike() {
        let clock = Clock::new(700, 700);
        assert_eq!(clock.first_tick(Cycle::new(12345)), Tick::new(12345));
        assert_eq!(clock.cycle_of(Tick::new(12345)), Cycle::new(12345));
        assert_eq!(clock.cycle_of(Tick::NEVER), Cycle::NEVER);
    }

    #[test]
    fn a_faster_clock_drifts_not_at_all() {
        let clock = Clock::new(924, 700);
        // 33 ticks in 25 cycles, for ever.
        assert_eq!(clock.first_tick(Cycle::new(25)), Tick::new(33));
        let later = clock.first_tick(Cycle::new(25_000_000_000));
        assert_eq!(later, Tick::new(33_000_000_000));
        assert_eq!(clock.cycle_of(Tick::NEVER), Cycle::NEVER);
    }

    #[test]
    fn every_tick_lies_in_exactly_one_cycle() {
        for (own, core) in [(924, 700), (650, 1300), (800, 1300), (700, 700)] {
            let clock = Clock::new(own, core);
            let mut tick = Tick::ZERO;
            for cycle in Cycle::ZERO.until(Cycle::new(2_000)) {
                assert_eq!(clock.first_tick(cycle), tick);
                for within in clock.ticks_of(cycle) {
                    assert_eq!((within, clock.cycle_of(within)), (tick, cycle));
                    tick += 1;
                }
            }
            assert!(tick > Tick::ZERO);
        }
    }
}
