//! Atomics and threads: the standard library's, or loom's where every interleaving is to be tried.

#[cfg(not(feature = "loom"))]
pub use self::standard::*;
#[cfg(feature = "loom")]
pub use self::tried::*;

#[cfg(not(feature = "loom"))]
mod standard {
    pub use std::hint::spin_loop;
    pub use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
    pub use std::sync::{Arc, Mutex};
    pub use std::thread::{JoinHandle, park, spawn, yield_now};

    /// A helper looks so often for a new round before it is parked: for half a millisecond or more, several times
    /// as long as a round of a launch. Waking one that is parked takes longer than most rounds.
    pub const LOOKS: u32 = 20_000;
    /// The caller looks so often for a helper to finish before it yields its core.
    pub const LOOKS_FOR_HELPER: u32 = 2_000;
    /// Where there are more threads than cores it begins as if it had looked so often.
    pub const CROWDED: u32 = 1_950;
    /// After so many looks, the last of them with yields in between, a thread sleeps between looks.
    pub const YIELDS: u32 = 2_200;

    /// Sleeps for a little while.
    pub fn doze() {
        std::thread::sleep(std::time::Duration::from_micros(50));
    }

    /// Threads that run side by side.
    pub fn cores() -> usize {
        std::thread::available_parallelism().map_or(usize::MAX, usize::from)
    }

    /// The standard library's cell with the methods of loom's.
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> UnsafeCell<T> {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(feature = "loom")]
mod tried {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
    pub use loom::sync::{Arc, Mutex};
    pub use loom::thread::{JoinHandle, park, spawn, yield_now};
    /// Loom has to be told that others are to go on.
    pub fn spin_loop() {
        yield_now();
    }

    /// Every further look multiplies what loom has to try.
    pub const LOOKS: u32 = 1;
    pub const LOOKS_FOR_HELPER: u32 = 1;
    pub const CROWDED: u32 = 0;
    pub const YIELDS: u32 = 2;

    pub fn doze() {
        yield_now();
    }

    pub fn cores() -> usize {
        usize::MAX
    }
}
