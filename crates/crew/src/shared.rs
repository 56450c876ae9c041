//! What the threads of a crew share: the round under way.
//!
//! The caller writes down the work and raises the number of the round; a helper that sees another
//! number than before does its share and writes down that number for itself; the caller goes on when
//! all have. A helper that has looked in vain for long says that it sleeps, looks once more, and
//! parks: either it sees the new number, or the caller, which looks at the sleepers after raising
//! the number, sees that it sleeps.
//!
//! What different threads write lies in different cache lines: with one for all, each write had to
//! wait for the line to come back from those who look at it in a loop.

use crate::sync::{
    AtomicBool, AtomicU32, LOOKS, Mutex, Ordering, UnsafeCell, fence, park, spin_loop, yield_now,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A thread's share of a round: `run(data, number of the thread)`. Returns what it panicked with.
#[derive(Clone, Copy)]
pub struct Work {
    pub run: unsafe fn(*const (), usize) -> Option<Box<dyn Any + Send>>,
    pub data: *const (),
}

/// What the caller writes and helpers wait for.
#[repr(align(128))]
struct Call {
    /// The number of the round.
    round: AtomicU32,
    quit: AtomicBool,
    /// Written by the caller while no helper is busy, read by helpers that are.
    work: UnsafeCell<Option<Work>>,
}

/// What a helper writes: the number of the last round that it is done with.
#[repr(align(128))]
struct Done(AtomicU32);

/// The caller is thread 0, helper `h` is thread `h` + 1.
pub struct Shared {
    call: Call,
    done: Vec<Done>,
    asleep: Vec<AtomicBool>,
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
            call: Call {
                round: AtomicU32::new(0),
                quit: AtomicBool::new(false),
                work: UnsafeCell::new(None),
            },
            done: (0..helpers).map(|_| Done(AtomicU32::new(0))).collect(),
            asleep: (0..helpers).map(|_| AtomicBool::new(false)).collect(),
            panic: Mutex::new(None),
        }
    }

    /// The number of the round that is begun next. The first is 1; after four billion rounds
    /// numbers come again, when nobody remembers them.
    pub fn next_round(&self) -> u32 {
        self.call.round.load(Ordering::Relaxed).wrapping_add(1)
    }

    /// Begins a round. Whoever is asleep has to be woken up.
    ///
    /// # Safety
    ///
    /// The work's data can be used by all threads until [`finish`](Shared::finish) has returned,
    /// which has to be called before anything else here is.
    pub unsafe fn begin(&self, work: Work) {
        let call = &self.call;
        // SAFETY: the round before is over, no helper reads.
        call.work.with_mut(|place| unsafe { *place = Some(work) });
        call.round.store(self.next_round(), Ordering::Release);
        fence(Ordering::SeqCst); // between raising the number and looking at the sleepers
    }

    /// Whether a helper has to be woken up for the round that has begun.
    pub fn is_asleep(&self, helper: usize) -> bool {
        self.asleep[helper].load(Ordering::Relaxed)
    }

    /// Waits until all helpers are done.
    pub fn finish(&self) {
        let round = self.call.round.load(Ordering::Relaxed);
        let mut looks = 0;
        for done in &self.done {
            while done.0.load(Ordering::Acquire) != round {
                if looks < LOOKS {
                    looks += 1;
                    spin_loop();
                } else {
                    // There are more threads than cores: a helper may need ours.
                    yield_now();
                }
            }
        }
    }

    /// What a helper's share panicked with.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().map_or(None, |mut panic| panic.take())
    }

    /// Helpers are to leave, and have to be woken up for that.
    pub fn quit(&self) {
        self.call.quit.store(true, Ordering::Relaxed);
        self.call.round.store(self.next_round(), Ordering::Release);
    }

    /// The life of a helper.
    pub fn help(&self, helper: usize) {
        let mut round = 0;
        loop {
            round = self.wait_for_other(round, helper);
            if self.call.quit.load(Ordering::Relaxed) {
                return;
            }
            // SAFETY: the caller wrote it before this round began and will not again before this
            // helper has said that it is done.
            if let Some(work) = self.call.work.with(|place| unsafe { *place }) {
                // SAFETY: the round lasts, so that the data can be used.
                let share = || unsafe { (work.run)(work.data, helper + 1) };
                let panic = catch_unwind(AssertUnwindSafe(share)).unwrap_or_else(Some);
                if panic.is_some()
                    && let Ok(mut place) = self.panic.lock()
                {
                    *place = panic;
                }
            }
            self.done[helper].0.store(round, Ordering::Release);
        }
    }

    /// Waits for a round with another number, and returns that.
    fn wait_for_other(&self, round: u32, helper: usize) -> u32 {
        for _ in 0..LOOKS {
            let now = self.call.round.load(Ordering::Acquire);
            if now != round {
                return now;
            }
            spin_loop();
        }
        self.asleep[helper].store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst); // between saying so and looking once more
        loop {
            let now = self.call.round.load(Ordering::Acquire);
            if now != round {
                self.asleep[helper].store(false, Ordering::Relaxed);
                return now;
            }
            park();
        }
    }
}
