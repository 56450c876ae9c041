//! Points in time. Core cycles and the ticks of other clocks are counted alike, and adding one to
//! the other is a mistake that the compiler finds: [`Cycle`] and [`Tick`] are types of their own.
//! Durations are plain numbers.
//!
//! # Wake contract
//!
//! Most parts of the machine have nothing to do in most cycles, and asking each of them in every
//! cycle would cost more than simulating it. So a part that has something to do at a known time
//! keeps that time in a field `next` (a [`Cycle`], or a [`Tick`] of its own clock) and tells it
//! through `next()`:
//!
//! - Nothing happens in the part before `next`; it may be stepped earlier, and finds nothing to do.
//! - An input (a push, an arrival, a fill) lowers `next` and never raises it.
//! - `step` (or `run`; for a queue, taking from it) computes it anew. Nothing else does.
//! - `NEVER` means that nothing happens without an input.
//! - A component that holds several parts goes by the smallest. Where they are many and alike, their times
//!   lie side by side (`WakeList`), so that finding those whose
//!   time has come touches no others, and `step` returns the part's `next` instead of keeping it.
//!
//! Other times that a part remembers end in `_at`: from when on something may be done, whether or
//! not there is anything to do.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A [`Cycle`] or a [`Tick`].
pub trait Moment: Copy + Ord {
    /// Later than every other: nothing is to be done.
    const NEVER: Self;
}

macro_rules! point_in_time {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(u64);

        // Written out, because what is derived goes by way of `Ordering`, which costs the cycle
        // loop 2% of its time.
        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &$name) -> Option<Ordering> {
                Some(self.cmp(other))
            }
            #[inline]
            fn lt(&self, other: &$name) -> bool {
                self.0 < other.0
            }
            #[inline]
            fn le(&self, other: &$name) -> bool {
                self.0 <= other.0
            }
            #[inline]
            fn gt(&self, other: &$name) -> bool {
                self.0 > other.0
            }
            #[inline]
            fn ge(&self, other: &$name) -> bool {
                self.0 >= other.0
            }
        }

        impl Ord for $name {
            #[inline]
            fn cmp(&self, other: &$name) -> Ordering {
                self.0.cmp(&other.0)
            }
            #[inline]
            fn min(self, other: $name) -> $name {
                $name(self.0.min(other.0))
            }
            #[inline]
            fn max(self, other: $name) -> $name {
                $name(self.0.max(other.0))
            }
        }

        impl $name {
            /// The first.
            pub const ZERO: $name = $name(0);
            /// Later than every other: nothing is to be done.
            pub const NEVER: $name = $name(u64::MAX);

            /// Number `number`, counted from zero.
            #[inline]
            pub const fn new(number: u64) -> $name {
                $name(number)
            }

            /// Its number.
            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// So much later, or never if numbers do not go that far.
            #[inline]
            pub const fn saturating_add(self, duration: u64) -> $name {
                $name(self.0.saturating_add(duration))
            }

            /// The last multiple of `period` that is not later.
            #[inline]
            pub const fn round_down(self, period: u64) -> $name {
                $name(self.0 / period * period)
            }

            /// The first multiple of `period` that is not earlier.
            #[inline]
            pub const fn round_up(self, period: u64) -> $name {
                $name(self.0.next_multiple_of(period))
            }

            /// This one and those after it, up to but not including `end`.
            #[inline]
            pub fn until(self, end: $name) -> impl Iterator<Item = $name> + Clone {
                (self.0..end.0).map($name)
            }

            /// How long after `earlier` this is; zero if it is not.
            #[inline]
            pub const fn since(self, earlier: $name) -> u64 {
                self.0.saturating_sub(earlier.0)
            }
        }

        impl Moment for $name {
            const NEVER: $name = $name::NEVER;
        }

        impl Add<u64> for $name {
            type Output = $name;
            #[inline]
            fn add(self, duration: u64) -> $name {
                $name(self.0 + duration)
            }
        }

        impl AddAssign<u64> for $name {
            #[inline]
            fn add_assign(&mut self, duration: u64) {
                self.0 += duration;
            }
        }

        impl Sub for $name {
            type Output = u64;
            #[inline]
            fn sub(self, earlier: $name) -> u64 {
                self.0 - earlier.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

point_in_time! {
    /// A cycle of the core clock, the one that SMs run on.
    Cycle
}

point_in_time! {
    /// A tick of another clock: the network's, the L2's or the DRAM's.
    Tick
}

#[cfg(test)]
mod tests {
    use super::Cycle;

    #[test]
    fn never_comes_after_everything() {
        assert!(Cycle::NEVER > Cycle::new(u64::MAX - 1));
        assert_eq!(Cycle::new(7).min(Cycle::NEVER), Cycle::new(7));
    }

    #[test]
    fn multiples_lie_on_either_side() {
        let (down, up) = (Cycle::new(8), Cycle::new(12));
        assert_eq!(
            (Cycle::new(9).round_down(4), Cycle::new(9).round_up(4)),
            (down, up)
        );
        assert_eq!((down.round_down(4), down.round_up(4)), (down, down));
    }

    #[test]
    fn a_span_ends_before_its_end() {
        let span: Vec<u64> = Cycle::new(3).until(Cycle::new(6)).map(Cycle::get).collect();
        assert_eq!(span, [3, 4, 5]);
        assert_eq!(Cycle::new(6).until(Cycle::new(3)).count(), 0);
        assert_eq!(Cycle::NEVER.saturating_add(1), Cycle::NEVER);
    }

    #[test]
    fn what_lies_ahead_is_no_time_ago() {
        assert_eq!(Cycle::new(5).since(Cycle::new(3)), 2);
        assert_eq!(Cycle::new(3).since(Cycle::new(5)), 0);
    }
}
