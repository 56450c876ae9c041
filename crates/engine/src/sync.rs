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

    /// A thread looks so often, longer than what passes between two windows, before it yields its core between looks.
    pub const SPINS: u32 = 2_000;
    /// After so many looks it sleeps.
    pub const YIELDS: u32 = 2_200;

    /// Sleeps for a little while.
    pub fn doze() {
        std::thread::sleep(std::time::Duration::from_micros(50));
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
    // Loom has to be told that others are to go on.
    pub use loom::thread::{yield_now as spin_loop, yield_now as doze};

    /// Every further look multiplies what loom has to try.
    pub const SPINS: u32 = 1;
    pub const YIELDS: u32 = 2;
}
