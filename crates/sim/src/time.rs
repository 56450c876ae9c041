//! Points in time. Core cycles and the ticks of other clocks are counted alike, and adding one to
//! the other is a mistake that the compiler finds: [`Cycle`] and [`Tick`] are types of their own.
//! Durations are plain numbers.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

macro_rules! point_in_time {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

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

            /// How long after `earlier` this is; zero if it is not.
            #[inline]
            pub const fn since(self, earlier: $name) -> u64 {
                self.0.saturating_sub(earlier.0)
            }
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
    fn what_lies_ahead_is_no_time_ago() {
        assert_eq!(Cycle::new(5).since(Cycle::new(3)), 2);
        assert_eq!(Cycle::new(3).since(Cycle::new(5)), 0);
    }
}
