//! Clock domains. Core cycles are the time that the outside sees; the network, L2 and DRAM
//! count ticks of their own. The conversion is exact: a rational in lowest terms, integers
//! only, so that no rounding accumulates over a run.

use super::divide::Divisor;

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
    pub fn first_tick(&self, cycle: u64) -> u64 {
        if self.same {
            return cycle;
        }
        self.cycles.divide_up(cycle * self.ticks.get())
    }

    /// The core cycle within which `tick` happens. `u64::MAX` stands for never and stays so.
    #[inline]
    pub fn cycle_of(&self, tick: u64) -> u64 {
        if self.same || tick == u64::MAX {
            return tick;
        }
        self.ticks.divide(tick * self.cycles.get()).0
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
    use super::Clock;

    #[test]
    fn equal_clocks_count_alike() {
        let clock = Clock::new(700, 700);
        assert_eq!(clock.first_tick(12345), 12345);
        assert_eq!(clock.cycle_of(12345), 12345);
    }

    #[test]
    fn a_faster_clock_drifts_not_at_all() {
        let clock = Clock::new(924, 700);
        // 33 ticks in 25 cycles, for ever.
        assert_eq!(clock.first_tick(25), 33);
        assert_eq!(clock.first_tick(25_000_000_000), 33_000_000_000);
    }

    #[test]
    fn every_tick_lies_in_exactly_one_cycle() {
        for (own, core) in [(924, 700), (650, 1300), (800, 1300), (700, 700)] {
            let clock = Clock::new(own, core);
            let mut tick = 0;
            for cycle in 0..2_000 {
                assert_eq!(clock.first_tick(cycle), tick);
                while tick < clock.first_tick(cycle + 1) {
                    assert_eq!(clock.cycle_of(tick), cycle);
                    tick += 1;
                }
            }
            assert!(tick > 0);
        }
    }
}
