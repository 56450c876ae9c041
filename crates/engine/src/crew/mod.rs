//! Threads that do something together, again and again.
//!
//! A window of a simulation takes microseconds of the host's time. Starting threads for that, or handing work to a pool with queues and
//! locks, would take longer than the work. A [`Crew`] keeps its threads: they spin on one word until a round begins, and are parked only when none
//! has begun for a while.
//!
//! A crew that [gives way](Crew::giving_way) says so when its helpers do not [pay](payoff), because the host has other things to do.

mod payoff;
mod round;

use crate::sync::{Arc, JoinHandle, spawn};
use payoff::Payoff;
pub(crate) use round::Patience;
use round::{Shared, Work};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// The threads.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Whether helpers pay, if it gives way.
    payoff: Option<Payoff>,
}

impl Crew {
    /// The caller's thread and `helpers` more, which work together whatever else the host has to do.
    pub fn new(helpers: usize) -> Crew {
        let shared = Arc::new(Shared::new(helpers));
        let threads = (0..helpers)
            .map(|helper| {
                let shared = shared.clone();
                spawn(move || shared.help(helper))
            })
            .collect();
        Crew {
            shared,
            threads,
            payoff: None,
        }
    }

    /// The caller's thread and `helpers` more. The caller is [alone](Crew::is_alone) while that is quicker.
    pub fn giving_way(helpers: usize) -> Crew {
        let mut crew = Crew::new(helpers);
        crew.payoff = Some(Payoff::new(Instant::now()));
        crew
    }

    /// Whether the caller is to work alone for now.
    pub fn is_alone(&self) -> bool {
        self.payoff.as_ref().is_some_and(Payoff::alone)
    }

    /// The caller comes back to its work from something else.
    pub fn resume(&mut self) {
        if let Some(payoff) = &mut self.payoff {
            payoff.resume(Instant::now());
        }
    }

    /// So much has been done since the last time, in the caller's own unit.
    pub fn passed(&mut self, done: u64) {
        if let Some(payoff) = &mut self.payoff {
            payoff.passed(Instant::now(), done);
        }
    }

    /// The caller has waited for helpers.
    pub fn waited(&mut self, time: Duration) {
        if let Some(payoff) = &mut self.payoff {
            payoff.waited(time);
        }
    }

    /// Threads, the caller's included.
    pub fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Calls `f` once on every thread, with the thread's number, of which the caller's is 0. Returns when all calls have. If one panics, so does this,
    /// after all others are over.
    pub fn run<F: Fn(usize) + Sync>(&mut self, f: F) {
        let work = Work {
            run: call::<F>,
            data: (&raw const f).cast(),
        };
        // SAFETY: `f` outlives the round, which is over when all helpers have finished; nothing between here and there can leave this function: a
        // panic of the caller's own call is caught.
        unsafe { self.shared.begin(work) };
        for (helper, thread) in self.threads.iter().enumerate() {
            if self.shared.is_asleep(helper) {
                thread.thread().unpark();
            }
        }
        let own = catch_unwind(AssertUnwindSafe(|| f(0))).err();
        let began = self.payoff.as_ref().map(|_| Instant::now());
        self.shared.finish();
        if let (Some(payoff), Some(began)) = (&mut self.payoff, began) {
            payoff.waited(began.elapsed());
        }
        if let Some(panic) = own.or(self.shared.take_panic()) {
            resume_unwind(panic);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.quit();
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A helper catches what its work panics with.
            let _ = thread.join();
        }
    }
}

type Panic = Box<dyn Any + Send>;

/// # Safety
///
/// `data` points to an `F` that lives as long as the call.
unsafe fn call<F: Fn(usize) + Sync>(data: *const (), thread: usize) -> Option<Panic> {
    // SAFETY: as above.
    let f = unsafe { &*data.cast::<F>() };
    catch_unwind(AssertUnwindSafe(|| f(thread))).err()
}
