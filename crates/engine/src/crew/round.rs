//! What the threads of a crew share: the round under way.
//!
//! The caller writes down the work and then the number of the round. A helper that sees another number than before does its share and writes down that
//! number for itself. The caller goes on when all helpers have.
//!
//! A helper that has looked in vain for long says that it sleeps, looks once more, and parks: either it sees the new number, or the caller, which
//! looks whether it sleeps after beginning the round, sees that it does.
//!
//! What different threads write lies in different cache lines: with one for all, each write had to wait for the line to come back from the threads that
//! look at it in a loop.

use crate::sync::{
    AtomicBool, AtomicU64, CROWDED, LOOKS, LOOKS_FOR_HELPER, Mutex, Ordering, UnsafeCell, YIELDS,
    cores, doze, fence, park, spin_loop, yield_now,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A thread's share of a round: `run(data, number of the thread)`. Returns what it panicked with.
#[derive(Clone, Copy)]
pub struct Work {
    pub run: unsafe fn(*const (), usize) -> Option<Box<dyn Any + Send>>,
    pub data: *const (),
}

/// What the caller writes.
#[repr(align(128))]
struct Round {
    number: AtomicU64,
    quit: AtomicBool,
    /// Written by the caller while no helper is busy, read by helpers that are.
    work: UnsafeCell<Option<Work>>,
}

/// What a helper writes.
#[repr(align(128))]
struct Helper {
    /// The number of the last round that it is done with.
    done: AtomicU64,
    asleep: AtomicBool,
}

/// The caller is thread 0, helper `h` is thread `h` + 1.
pub struct Shared {
    round: Round,
    helpers: Vec<Helper>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// There are more threads than cores: a thread that looks in vain keeps another one from running.
    crowded: bool,
}

// SAFETY: `work` is written only while no helper is busy, see there, and what its pointer leads
// to may be used from any thread as long as the round lasts, which is what `begin` asks for.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub fn new(helpers: usize) -> Shared {
        let helper = |_| Helper {
            done: AtomicU64::new(0),
            asleep: AtomicBool::new(false),
        };
        Shared {
            round: Round {
                number: AtomicU64::new(0),
                quit: AtomicBool::new(false),
                work: UnsafeCell::new(None),
            },
            helpers: (0..helpers).map(helper).collect(),
            panic: Mutex::new(None),
            crowded: helpers >= cores(),
        }
    }

    /// Begins a round. Helpers that [sleep](Shared::is_asleep) have to be woken up.
    ///
    /// # Safety
    ///
    /// The work's data can be used by all threads until [`finish`](Shared::finish) has returned, which has to be before anything else here is called.
    pub unsafe fn begin(&self, work: Work) {
        let round = &self.round;
        // SAFETY: the round before is over, no helper reads.
        round.work.with_mut(|place| unsafe { *place = Some(work) });
        let number = round.number.load(Ordering::Relaxed).wrapping_add(1);
        round.number.store(number, Ordering::Release);
        fence(Ordering::SeqCst); // between beginning and looking which helpers sleep
    }

    /// Whether a helper has to be woken up.
    pub fn is_asleep(&self, helper: usize) -> bool {
        self.helpers[helper].asleep.load(Ordering::Relaxed)
    }

    /// Waits until all helpers are done.
    pub fn finish(&self) {
        let round = self.round.number.load(Ordering::Relaxed);
        let mut patience = Patience {
            looks: if self.crowded { CROWDED } else { 0 },
        };
        for helper in &self.helpers {
            while helper.done.load(Ordering::Acquire) != round {
                patience.wait();
            }
        }
    }

    /// What a helper's share panicked with.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().map_or(None, |mut panic| panic.take())
    }

    /// Helpers are to leave, and have to be woken up for that.
    pub fn quit(&self) {
        self.round.quit.store(true, Ordering::Relaxed);
        let number = self.round.number.load(Ordering::Relaxed).wrapping_add(1);
        self.round.number.store(number, Ordering::Release);
    }

    /// The life of a helper.
    pub fn help(&self, helper: usize) {
        let mut round = 0;
        loop {
            round = self.wait_for_other(round, helper);
            if self.round.quit.load(Ordering::Relaxed) {
                return;
            }
            // SAFETY: the caller wrote it before it began this round and will not again before this helper has said that it is done.
            if let Some(work) = self.round.work.with(|place| unsafe { *place }) {
                // SAFETY: the round lasts, so that the data can be used.
                let share = || unsafe { (work.run)(work.data, helper + 1) };
                let panic = catch_unwind(AssertUnwindSafe(share)).unwrap_or_else(Some);
                if panic.is_some()
                    && let Ok(mut place) = self.panic.lock()
                {
                    *place = panic;
                }
            }
            self.helpers[helper].done.store(round, Ordering::Release);
        }
    }

    /// Waits for another round, and returns its number.
    fn wait_for_other(&self, round: u64, helper: usize) -> u64 {
        let number = &self.round.number;
        for _ in 0..if self.crowded { LOOKS / 40 } else { LOOKS } {
            let now = number.load(Ordering::Acquire);
            if now != round {
                return now;
            }
            spin_loop();
        }
        let asleep = &self.helpers[helper].asleep;
        asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst); // between saying so and looking once more
        loop {
            let now = number.load(Ordering::Acquire);
            if now != round {
                asleep.store(false, Ordering::Relaxed);
                return now;
            }
            park();
        }
    }
}

/// Of a thread that looks again and again for what another thread does.
#[derive(Default)]
pub struct Patience {
    looks: u32,
}

impl Patience {
    /// Waits a moment before the next look. A thread that has looked in vain for long yields its core, because there may be
    /// more threads than cores. Later it sleeps between looks.
    pub fn wait(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks < LOOKS_FOR_HELPER {
            spin_loop();
        } else if self.looks < YIELDS {
            yield_now();
        } else {
            doze();
        }
    }
}
