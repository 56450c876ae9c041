//! Threads that work through a slice together, again and again.
//!
//! A simulated GPU is a few dozen SMs that run by themselves for a few cycles, microseconds of the
//! host's time, and then meet. Starting threads for that, or handing work to a pool with queues and
//! locks, would take longer than the work. A [`Crew`] keeps its threads: they spin on one word
//! until a round begins, and are parked only when none has begun for a while.
//!
//! The caller says which items are whose share, and gives an item to the same thread from round to
//! round, so that it stays in its caches; a thread that is done helps those that have several items
//! left. Threads with nothing to do and none to help are not called: a round of few items costs
//! little, however large the crew. Which thread works on an item has no influence on anything but
//! time.
//!
//! A crew that [gives way](Crew::giving_way) works without its helpers while these do not [pay](payoff), because the host has other
//! things to do.
//!
//! One helper can be sent on an [errand](Crew::set_off) meanwhile, something that takes longer than a round: it comes back to
//! the round that is under way then.

#![deny(unsafe_op_in_unsafe_fn)]

mod errand;
mod hand;
mod payoff;
mod shared;
mod sync;

use errand::ERRAND_HELPER;
pub use errand::Errand;
use hand::{Hand, LEAST_TO_HELP, MOST_ITEMS};
use payoff::Payoff;
pub use payoff::{WHILE, is_much};
pub use shared::Patience;
use shared::{Shared, Work};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};
use sync::{Arc, JoinHandle, Mutex, spawn};

/// The threads.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// What each thread still has to do in the round under way.
    hands: Vec<Hand>,
    /// The helpers that are called to it.
    called: Vec<usize>,
    /// Whether they pay, if it gives way.
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
            hands: (0..=helpers).map(|_| Hand::default()).collect(),
            called: Vec::with_capacity(helpers),
            payoff: None,
        }
    }

    /// The caller's thread and `helpers` more. It works without them while that is quicker.
    pub fn giving_way(helpers: usize) -> Crew {
        let mut crew = Crew::new(helpers);
        crew.payoff = Some(Payoff::new(Instant::now()));
        crew
    }

    /// Whether it works without helpers while that is quicker.
    pub fn gives_way(&self) -> bool {
        self.payoff.is_some()
    }

    /// Whether the caller works alone for now.
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

    /// The caller has waited for helpers within its share of a round.
    pub fn waited(&mut self, time: Duration) {
        if let Some(payoff) = &mut self.payoff {
            payoff.waited(time);
        }
    }

    /// Threads, the caller's included.
    pub fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Calls `f` once for each item, on any thread of the crew, and returns when all calls have. If
    /// one panics, so does this, after all others are over. The share of thread `t` ends before item
    /// `ends[t]` and begins where that of the thread before it ends; the caller is thread 0.
    ///
    /// # Panics
    ///
    /// If the shares are not those of all threads or do not make up all items, or if there are more
    /// than 4,095 of these.
    pub fn for_each<T: Send, F: Fn(&mut T) + Sync>(
        &mut self,
        items: &mut [T],
        ends: &[usize],
        f: F,
    ) {
        let complete = ends.len() == self.size() && ends.last() == Some(&items.len());
        assert!(
            complete && ends.is_sorted() && items.len() <= MOST_ITEMS,
            "shares of {} threads: {ends:?} of {} items",
            self.size(),
            items.len()
        );
        if self.is_alone() {
            return work_alone(items, f);
        }
        let errands = &self.shared.errands;
        let is_away = !self.threads.is_empty() && errands.is_away();
        let batch = Batch {
            items: items.as_mut_ptr(),
            ends,
            hands: &self.hands,
            round: self.shared.next_round(),
            away: is_away.then_some(ERRAND_HELPER + 1),
            f: &f,
        };
        let work = Work {
            run: Batch::<T, F>::run,
            data: (&raw const batch).cast(),
        };
        self.called.clear();
        self.called.extend(batch.wanted().map(|thread| thread - 1));
        // SAFETY: `batch` and what it borrows outlive the round, which is over when all helpers that
        // are called have finished, and one that was invited has or has not heard of it; nothing between here and there can leave this function: a
        // panic of the caller's share is caught.
        unsafe { self.shared.begin(work) };
        let invited = is_away && errands.invite(batch.round);
        if is_away && !invited {
            self.called.push(ERRAND_HELPER); // it has come back
        }
        for &helper in &self.called {
            self.shared.call(helper);
        }
        if !self.called.is_empty() {
            self.shared.all_called();
        }
        for &helper in &self.called {
            if self.shared.is_asleep(helper) {
                self.threads[helper].thread().unpark();
            }
        }
        let own = batch.share(0);
        if invited && !errands.take_back(batch.round) {
            self.called.push(ERRAND_HELPER); // it has come to this round
        }
        let began = self.payoff.as_ref().map(|_| Instant::now());
        for &helper in &self.called {
            self.shared.finish(helper);
        }
        if let (Some(payoff), Some(began)) = (&mut self.payoff, began) {
            payoff.waited(began.elapsed());
        }
        let panic = match self.called.is_empty() {
            true => own,
            false => own.or(self.shared.take_panic()),
        };
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Lets a helper do `job` beside the rounds to come, until it is [fetched](Errand::fetch). Others do its share of these while it is away. A
    /// crew without helpers does it at once.
    ///
    /// # Panics
    ///
    /// If the errand before has not been fetched, and is not over.
    pub fn set_off<T: Send + 'static>(
        &mut self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Errand<T> {
        let brought = Arc::new(Mutex::new(None));
        let errand = Errand {
            shared: self.shared.clone(),
            brought: brought.clone(),
        };
        let job = move || {
            let result = catch_unwind(AssertUnwindSafe(job));
            if let Ok(mut place) = brought.lock() {
                *place = Some(result);
            }
        };
        match self.threads.get(ERRAND_HELPER) {
            None => job(),
            Some(_) if self.is_alone() => job(),
            Some(helper) => {
                assert!(!self.shared.errands.is_away(), "one errand at a time");
                self.shared.send_away(Box::new(job));
                if self.shared.is_asleep(ERRAND_HELPER) {
                    helper.thread().unpark();
                }
            }
        }
        errand
    }

    /// Waits for what an errand brings. If it panicked, so does this.
    ///
    /// # Panics
    ///
    /// If the errand did.
    pub fn fetch<T>(&mut self, errand: Errand<T>) -> T {
        let began = self.payoff.as_ref().map(|_| Instant::now());
        let result = errand.fetch();
        if let (Some(payoff), Some(began)) = (&mut self.payoff, began) {
            payoff.waited(began.elapsed());
        }
        result
    }
}

/// Works on all items, whatever some of them panic with.
fn work_alone<T>(items: &mut [T], f: impl Fn(&mut T)) {
    let work = |item| catch_unwind(AssertUnwindSafe(|| f(item))).err();
    let panics = items.iter_mut().filter_map(work);
    if let Some(first) = panics.reduce(|first, _| first) {
        resume_unwind(first);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.wait_for_errand(); // its helper may not have heard of it yet
        self.shared.quit();
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A helper catches what its work panics with.
            let _ = thread.join();
        }
    }
}

type Panic = Box<dyn Any + Send>;

/// A round's items.
struct Batch<'a, T, F> {
    items: *mut T,
    ends: &'a [usize],
    hands: &'a [Hand],
    round: u64,
    /// A thread that is on an errand as the round begins: others may take all of its share.
    away: Option<usize>,
    f: &'a F,
}

impl<T: Send, F: Fn(&mut T) + Sync> Batch<'_, T, F> {
    /// # Safety
    ///
    /// `data` points to a `Batch<T, F>` that no thread changes, whose items only the crew of
    /// this round touches.
    unsafe fn run(data: *const (), who: usize) -> Option<Panic> {
        // SAFETY: as above.
        let batch = unsafe { &*data.cast::<Self>() };
        batch.share(who)
    }

    /// The items of a thread.
    fn whole(&self, who: usize) -> Range<usize> {
        let before = who.checked_sub(1);
        before.map_or(0, |before| self.ends[before])..self.ends[who]
    }

    fn is_away(&self, who: usize) -> bool {
        self.away == Some(who)
    }

    /// Threads other than the caller that are to be called: those with items of their own, and for
    /// each item that its owner could be relieved of one that has none.
    fn wanted(&self) -> impl Iterator<Item = usize> + '_ {
        let spare = |who| match self.is_away(who) {
            true => self.whole(who).len(),
            false => self.whole(who).len().saturating_sub(1),
        };
        let mut spare: usize = (0..self.ends.len()).map(spare).sum();
        let here = (1..self.ends.len()).filter(|&who| !self.is_away(who));
        here.filter(move |&who| {
            let idle = self.whole(who).is_empty();
            let helps = idle && spare > 0;
            spare -= usize::from(helps);
            !idle || helps
        })
    }

    /// The share of one thread: its own items, then those of others, the next thread's first.
    fn share(&self, who: usize) -> Option<Panic> {
        let mut panic = None;
        let own = self.whole(who);
        if own.len() < LEAST_TO_HELP && !self.is_away(who) {
            // No other thread takes them.
            for item in own {
                panic = panic.or(self.work(item));
            }
        } else {
            while let Some(item) = self.hands[who].take(self.round, &own) {
                panic = panic.or(self.work(item));
            }
        }
        let crew = self.ends.len();
        for other in (1..crew).map(|behind| (who + behind) % crew) {
            let (whole, hand) = (self.whole(other), &self.hands[other]);
            if self.is_away(other) {
                while let Some(item) = hand.take_last(self.round, &whole) {
                    panic = panic.or(self.work(item));
                }
                continue;
            }
            if whole.len() < LEAST_TO_HELP {
                continue; // without a look at what its owner changes
            }
            while let Some(item) = hand.take_over(self.round, &whole) {
                panic = panic.or(self.work(item));
            }
        }
        panic
    }

    /// Works on an item that was taken; what that panicked with, if it did.
    fn work(&self, item: usize) -> Option<Panic> {
        // SAFETY: shares are ranges that do not overlap and lie within the items, a hand gives out
        // each item of its share once in a round, and of a share that is too small to be helped with, and whose
        // owner was not away, only that takes, each item once: no other thread has this one. What earlier rounds
        // did with it lies before this round's beginning.
        let work = || (self.f)(unsafe { &mut *self.items.add(item) });
        catch_unwind(AssertUnwindSafe(work)).err()
    }
}
