//! What all components may look at while a window is simulated.

use crate::exec::memory::image::GlobalMemory;
use crate::sm::{Launched, SmFault};
use crate::time::Cycle;
use std::sync::{Mutex, PoisonError};

/// The launch, and global memory as of the beginning of the period.
pub struct World<'a> {
    pub launched: &'a Launched,
    pub image: &'a GlobalMemory,
    /// The cycle with which the window begins.
    pub from: Cycle,
    /// Cycles per quantum.
    pub quantum: u64,
    /// All SMs are looked at, whatever the observer wants.
    pub observed: bool,
    /// Cycles in which nothing happens are skipped.
    pub skip: bool,
    failed: Mutex<Option<Failed>>,
}

/// A thread of the simulated program has failed on an SM in the quantum before cycle `at`.
pub struct Failed {
    pub at: Cycle,
    pub sm: usize,
    pub fault: SmFault,
}

impl<'a> World<'a> {
    pub fn new(launched: &'a Launched, image: &'a GlobalMemory, quantum: u64) -> World<'a> {
        World {
            launched,
            image,
            from: Cycle::ZERO,
            quantum,
            observed: false,
            skip: true,
            failed: Mutex::default(),
        }
    }

    /// A thread has failed. Of several the first in time counts, then in the order of SMs: they are noted in any.
    pub fn failed(&self, at: Cycle, sm: usize, fault: SmFault) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = |first: &Failed| (at, sm) < (first.at, first.sm);
        if failed.as_ref().is_none_or(is_first) {
            *failed = Some(Failed { at, sm, fault });
        }
    }

    /// The first thread that has failed.
    pub fn first_failed(self) -> Option<Failed> {
        self.failed
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
