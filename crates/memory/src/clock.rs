//! Clock domains. Core cycles are the time that the outside sees; the network, L2 and DRAM
//! count ticks of their own. The conversion is exact: a rational in lowest terms, integers
//! only, so that no rounding accumulates over a run.

use super::divide::Divisor;
use crate::time::{Cycle, Tick};

/// A clock beside the core clock. Tick `k` happens within core cycle `floor(k * core / own)`, at
/// its beginning, or at its end, which is as good as the beginning of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// `ticks` of this clock take as long as `cycles` of the core clock.
    ticks: Divisor,
    cycles: Divisor,
    /// The clock is as fast as the core clock.
    same: bool,
    /// Its ticks happen so many core cycles later than they fall.
    lag: u64,
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
            lag: 0,
        }
    }

    /// The same clock with ticks that happen at the end of the core cycles in which they fall:
    /// there what they do is seen in the next one. A clock that is as fast as the core's ticks with
    /// it.
    pub fn at_the_end_of_cycles(self) -> Clock {
        let lag = u64::from(!self.same);
        Clock { lag, ..self }
    }

    /// Core cycles after which it is in phase with the core clock again.
    pub fn period(&self) -> u64 {
        self.cycles.get()
    }

    /// The clock has a tick every core cycle, of the same number.
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
        let falls = cycle.get().saturating_sub(self.lag);
        Tick::new(self.cycles.divide_up(falls * self.ticks.get()))
    }

    /// The core cycle within which `tick` happens. Never stays never.
    #[inline]
    pub fn cycle_of(&self, tick: Tick) -> Cycle {
        if self.same || tick == Tick::NEVER {
            return Cycle::new(tick.get());
        }
        Cycle::new(self.ticks.divide(tick.get() * self.cycles.get()).0 + self.lag)
    }

    /// The ticks that happen within core cycle `cycle`.
    #[inline]
    pub fn ticks_of(&self, cycle: Cycle) -> impl Iterator<Item = Tick> + Clone + use<> {
        self.first_tick(cycle).until(self.first_tick(cycle + 1))
    }
}

/// The first multiple of `quantum` at or after `cycle` at which all clocks of these periods are in
/// phase with the core clock.
pub fn next_in_phase(cycle: Cycle, quantum: u64, periods: &[u64]) -> Cycle {
    let together = |all: u64, &period: &u64| all / gcd(all, period) * period;
    cycle.round_up(periods.iter().fold(quantum.max(1), together))
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
            for clock in [
                Clock::new(own, core),
                Clock::new(own, core).at_the_end_of_cycles(),
            ] {
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

    #[test]
    fn clocks_are_in_phase_again_after_whole_periods() {
        let at = |cycle| next_in_phase(Cycle::new(cycle), 4, &[1, 25, 10]).get();
        assert_eq!([0, 1, 100, 101].map(at), [0, 100, 100, 200]);
        let first = |cycle| Clock::new(924, 700).first_tick(Cycle::new(cycle)).get();
        assert_eq!([first(101) - first(100), first(1)], [2, 2]);
        assert_eq!(first(105) - first(104), 1, "elsewhere they are not");
    }

    /// 33 ticks in 25 cycles: tick 1 falls in cycle 0, tick 2 in cycle 1, tick 33 on cycle 25.
    #[test]
    fn ticks_at_the_end_of_a_cycle_are_those_of_the_next() {
        let clock = Clock::new(924, 700);
        let late = clock.at_the_end_of_cycles();
        for (tick, falls) in [(1, 0), (2, 1), (33, 25)] {
            assert_eq!(clock.cycle_of(Tick::new(tick)), Cycle::new(falls));
            assert_eq!(late.cycle_of(Tick::new(tick)), Cycle::new(falls + 1));
        }
        assert_eq!(late.first_tick(Cycle::new(2)), Tick::new(2));
        assert_eq!(late.cycle_of(Tick::NEVER), Cycle::NEVER);
        assert_eq!(
            (late.period(), late.first_tick(Cycle::ZERO)),
            (25, Tick::ZERO)
        );
        let equal = Clock::new(700, 700);
        assert_eq!(equal.at_the_end_of_cycles(), equal);
    }
}
