//! What the threads of a crew share: the round under way.
//!
//! The caller writes down the work and raises the number of the round; a helper that sees another
//! number than before does its share and counts itself out; the caller goes on when all have. A
//! helper that has looked in vain for long says that it sleeps, looks once more, and parks: either
//! it sees the new number, or the caller, which looks at the sleepers after raising the number,
//! sees that it sleeps.

use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, LOOKS, Mutex, Ordering, UnsafeCell, fence, park, spin_loop,
    yield_now,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A thread's share of a round: `run(data, number of the thread)`.
#[derive(Clone, Copy)]
pub struct Work {
    pub run: unsafe fn(*const (), usize),
    pub data: *const (),
}

/// The caller is thread 0, helper `h` is thread `h` + 1.
pub struct Shared {
    /// The number of the round.
    round: AtomicU64,
    /// Helpers that are not done with it.
    busy: AtomicUsize,
    /// Written by the caller while no helper is busy, read by helpers that are.
    work: UnsafeCell<Option<Work>>,
    asleep: Vec<AtomicBool>,
    quit: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is written only while no helper is busy, see there, and what its pointer leads
// to may be used from any thread as long as the round lasts, which is what `begin` asks for.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub fn new(helpers: usize) -> Shared {
        Shared {
            round: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            work: UnsafeCell::new(None),
            asleep: (0..helpers).map(|_| AtomicBool::new(false)).collect(),
            quit: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// Begins a round. Whoever is asleep has to be woken up.
    ///
    /// # Safety
    ///
    /// The work's data can be used by all threads until [`finish`](Shared::finish) has returned,
    /// which has to be called before anything else here is.
    pub unsafe fn begin(&self, work: Work) {
        // SAFETY: the round before is over, no helper reads.
        self.work.with_mut(|place| unsafe { *place = Some(work) });
        self.busy.store(self.asleep.len(), Ordering::Relaxed);
        self.round.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst); // between raising the number and looking at the sleepers
    }

    /// Whether a helper has to be woken up for the round that has begun.
    pub fn is_asleep(&self, helper: usize) -> bool {
        self.asleep[helper].load(Ordering::Relaxed)
    }

    /// Waits until all helpers are done.
    pub fn finish(&self) {
        let mut looks = 0;
        while self.busy.load(Ordering::Acquire) != 0 {
            if looks < LOOKS {
                looks += 1;
                spin_loop();
            } else {
                // There are more threads than cores: a helper may need ours.
                yield_now();
            }
        }
    }

    /// What a helper's share panicked with.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().map_or(None, |mut panic| panic.take())
    }

    /// Helpers are to leave, and have to be woken up for that.
    pub fn quit(&self) {
        self.quit.store(true, Ordering::Relaxed);
        self.round.fetch_add(1, Ordering::Release);
    }

    /// The life of a helper.
    pub fn help(&self, helper: usize) {
        let mut round = 0;
        loop {
            round = self.wait_for_other(round, helper);
            if self.quit.load(Ordering::Relaxed) {
                return;
            }
            // SAFETY: the caller wrote it before this round began and will not again before this
            // helper has counted itself out.
            if let Some(work) = self.work.with(|place| unsafe { *place }) {
                // SAFETY: the round lasts, so that the data can be used.
                let share = || unsafe { (work.run)(work.data, helper + 1) };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(share))
                    && let Ok(mut place) = self.panic.lock()
                {
                    *place = Some(panic);
                }
            }
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }

    /// Waits for a round with another number, and returns that.
    fn wait_for_other(&self, round: u64, helper: usize) -> u64 {
        for _ in 0..LOOKS {
            let now = self.round.load(Ordering::Acquire);
            if now != round {
                return now;
            }
            spin_loop();
        }
        self.asleep[helper].store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst); // between saying so and looking once more
        loop {
            let now = self.round.load(Ordering::Acquire);
            if now != round {
                self.asleep[helper].store(false, Ordering::Relaxed);
                return now;
            }
            park();
        }
    }
}
