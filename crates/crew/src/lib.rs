//! Threads that work through a slice together, again and again.
//!
//! A simulated GPU is a few dozen SMs that run by themselves for a few cycles, microseconds of the
//! host's time, and then meet. Starting threads for that, or handing work to a pool with queues and
//! locks, would take longer than the work. A [`Crew`] keeps its threads: they spin on one word
//! until a round begins, and are parked only when none has begun for a while.
//!
//! Items stay with their thread from round to round (item `i` with thread `i` modulo the crew's
//! size), so that they stay in its caches; a thread that is done takes what nobody has begun.
//! Which thread works on an item has no influence on anything but time.

#![deny(unsafe_op_in_unsafe_fn)]

mod shared;
mod sync;

use shared::{Shared, Work};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use sync::{Arc, AtomicBool, JoinHandle, Ordering, spawn};

/// The threads.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Items of the round under way that somebody has begun.
    begun: Vec<AtomicBool>,
}

impl Crew {
    /// The caller's thread and `helpers` more.
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
            begun: Vec::new(),
        }
    }

    /// Threads, the caller's included.
    pub fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Calls `f` once for each item, on any thread of the crew, and returns when all calls have. If
    /// one panics, so does this, after all others are over.
    pub fn for_each<T: Send, F: Fn(&mut T) + Sync>(&mut self, items: &mut [T], f: F) {
        if self.begun.len() < items.len() {
            self.begun.resize_with(items.len(), AtomicBool::default);
        }
        for begun in &self.begun[..items.len()] {
            begun.store(false, Ordering::Relaxed);
        }
        let batch = Batch {
            items: items.as_mut_ptr(),
            begun: &self.begun[..items.len()],
            crew: self.threads.len() + 1,
            f: &f,
        };
        let work = Work {
            run: Batch::<T, F>::run,
            data: (&raw const batch).cast(),
        };
        // SAFETY: `batch` and what it borrows outlive the round, which is over when `finish`
        // returns; nothing between here and there can leave this function: a panic of the caller's
        // share is caught.
        unsafe { self.shared.begin(work) };
        for (helper, thread) in self.threads.iter().enumerate() {
            if self.shared.is_asleep(helper) {
                thread.thread().unpark();
            }
        }
        let own = catch_unwind(AssertUnwindSafe(|| batch.share(0)));
        self.shared.finish();
        let panic: Option<Box<dyn Any + Send>> = own.err().or(self.shared.take_panic());
        if let Some(panic) = panic {
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

/// A round's items.
struct Batch<'a, T, F> {
    items: *mut T,
    begun: &'a [AtomicBool],
    crew: usize,
    f: &'a F,
}

impl<T: Send, F: Fn(&mut T) + Sync> Batch<'_, T, F> {
    /// # Safety
    ///
    /// `data` points to a `Batch<T, F>` that nobody changes, whose items nobody but the crew of
    /// this round touches.
    unsafe fn run(data: *const (), who: usize) {
        // SAFETY: as above.
        let batch = unsafe { &*data.cast::<Self>() };
        batch.share(who);
    }

    /// The share of one thread: its own items, then those that nobody has begun.
    fn share(&self, who: usize) {
        (who..self.begun.len())
            .step_by(self.crew)
            .for_each(|item| self.take(item));
        (0..self.begun.len()).for_each(|item| self.take(item));
    }

    fn take(&self, item: usize) {
        if !self.begun[item].swap(true, Ordering::Relaxed) {
            // SAFETY: `begun` has as many entries as there are items, and only the first to
            // swap gets here: nobody else has this item in this round. What earlier rounds
            // did with it lies before this round's beginning.
            (self.f)(unsafe { &mut *self.items.add(item) });
        }
    }
}
