//! Something that one helper does beside several rounds.
//!
//! The first helper goes away on an errand, and rounds begin and end meanwhile. In each of them others do what is its share, all of
//! it if need be. But it is *invited*: if it comes back while the round is under way it takes part. The invitation is one word. The
//! caller writes the round there and takes it back when the round has no more to do; the helper, when it is back, takes what
//! it finds there. So either the caller knows that the helper has not heard of the round, or it waits for it as for any
//! other.

use crate::shared::Shared;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};
use std::any::Any;
use std::panic::resume_unwind;

/// The helper that goes on errands.
pub const ERRAND_HELPER: usize = 0;

/// What is to be done.
type Job = Box<dyn FnOnce() + Send>;

/// It is away, and invited to no round.
const AWAY: u64 = 0;
/// It is back, or has never left.
const HOME: u64 = u64::MAX;

/// The errand under way, if there is one.
#[repr(align(128))]
pub struct Errands {
    /// The round that the helper is invited to, or where it is.
    invited: AtomicU64,
    /// The number by which it is called away.
    number: AtomicU64,
    job: Mutex<Option<Job>>,
}

impl Errands {
    pub fn new() -> Errands {
        Errands {
            invited: AtomicU64::new(HOME),
            number: AtomicU64::new(0),
            job: Mutex::new(None),
        }
    }

    /// The helper is about to be called away by this number; it is at home.
    pub fn prepare(&self, number: u64, job: Job) {
        if let Ok(mut place) = self.job.lock() {
            *place = Some(job);
        }
        self.number.store(number, Ordering::Relaxed);
        self.invited.store(AWAY, Ordering::Relaxed);
    }

    /// Whether the helper that is called by this number is called away.
    pub fn is_called_away(&self, number: u64) -> bool {
        self.number.load(Ordering::Relaxed) == number
    }

    /// Does what is to be done, and comes back. Returns the round to take part in, if there is one.
    pub fn run(&self) -> Option<u64> {
        let job = self.job.lock().map_or(None, |mut place| place.take());
        if let Some(job) = job {
            job();
        }
        let invited = self.invited.swap(HOME, Ordering::AcqRel);
        (invited != AWAY).then_some(invited)
    }

    /// Whether the helper is not back.
    pub fn is_away(&self) -> bool {
        self.invited.load(Ordering::Acquire) != HOME
    }

    /// Invites the helper to a round that has begun. Returns whether it is still away.
    pub fn invite(&self, round: u64) -> bool {
        self.change(AWAY, round)
    }

    /// The round has no more to do. Returns whether the helper has not heard of it.
    pub fn take_back(&self, round: u64) -> bool {
        self.change(round, AWAY)
    }

    fn change(&self, from: u64, to: u64) -> bool {
        self.invited
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

/// What an errand brings, or what it panicked with.
pub type Brought<T> = Arc<Mutex<Option<Result<T, Box<dyn Any + Send>>>>>;

/// An errand under way, which brings a `T`.
pub struct Errand<T> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) brought: Brought<T>,
}

impl<T> Errand<T> {
    /// Waits for what it brings. If it panicked, so does this.
    ///
    /// # Panics
    ///
    /// If the errand did.
    pub fn fetch(self) -> T {
        self.shared.wait_for_errand();
        let brought = self.brought.lock().map_or(None, |mut place| place.take());
        match brought.expect("an errand that is over has brought something") {
            Ok(thing) => thing,
            Err(panic) => resume_unwind(panic),
        }
    }
}
