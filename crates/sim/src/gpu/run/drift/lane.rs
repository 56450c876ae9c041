//! What one SM that drifts and the exchange tell each other.
//!
//! Both write to places that the other does not look at meanwhile, and say so by a number behind, so that locks are hardly ever waited for.

use super::super::pace::News;
use super::steps::BySteps;
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::memory::packet::{Reply, Request};
use crate::memory::ring::Ring;
use crate::sm::{Sm, SmFault};
use crate::time::Cycle;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The places.
#[repr(align(128))]
pub struct Lane {
    /// What the SM has to tell of each step.
    told: BySteps<Mutex<Told>>,
    letter: Mutex<Letter>,
    /// What was in the way of its requests at the end of each step.
    backlogs: BySteps<AtomicU64>,
    /// How many times it has been let go on where it waited.
    let_go: AtomicU64,
    /// The cycle to which it has come, as far as it has said so: what has ended on it before is known.
    passed: AtomicU64,
}

/// What an SM tells when it is through with a step or has to hear something in it.
pub struct Told {
    pub news: News,
    pub sent: Vec<(Cycle, Request)>,
    pub result: Result<(), SmFault>,
    /// The SM waits until all others are as far.
    pub waits: bool,
    /// The exchange has not heard it.
    pub is_new: bool,
}

/// What the exchange has for an SM.
#[derive(Default)]
pub struct Letter {
    pub replies: Ring<(Cycle, Reply)>,
    /// Blocks, and when they come.
    pub blocks: Vec<(Cycle, u64)>,
}

impl Letter {
    /// The SM takes what is in it.
    pub fn read(&mut self, sm: &mut Sm, inbox: &mut Inbox) {
        inbox.put_all(&mut self.replies);
        for (at, block) in self.blocks.drain(..) {
            sm.expect_block(at, block);
        }
    }
}

impl Default for Told {
    fn default() -> Told {
        Told {
            news: News::default(),
            sent: Vec::new(),
            result: Ok(()),
            waits: false,
            is_new: false,
        }
    }
}

impl Default for Lane {
    fn default() -> Lane {
        Lane {
            told: Default::default(),
            letter: Mutex::default(),
            backlogs: Default::default(),
            let_go: AtomicU64::new(0),
            passed: AtomicU64::new(0),
        }
    }
}

impl Lane {
    /// The SM is about to drift from cycle `now` on, with so much in the way of its requests.
    pub fn begin(&mut self, now: Cycle, backlog: Backlog) {
        self.backlogs
            .before_first()
            .store(pack(backlog), Ordering::Relaxed);
        self.let_go = AtomicU64::new(0);
        self.passed = AtomicU64::new(now.get());
    }

    /// The SM has come to cycle `at`, and has told which blocks have ended on it.
    pub fn pass(&self, at: Cycle) {
        self.passed.store(at.get(), Ordering::Release);
    }

    /// Whether it has come to cycle `at`, and has told that.
    pub fn has_passed(&self, at: Cycle) -> bool {
        self.passed.load(Ordering::Acquire) >= at.get()
    }

    /// What the SM has to tell of a step.
    pub fn told(&self, step: u64) -> MutexGuard<'_, Told> {
        lock(self.told.of(step))
    }

    /// What the exchange has for it.
    pub fn letter(&self) -> MutexGuard<'_, Letter> {
        lock(&self.letter)
    }

    /// The exchange lets the SM go on.
    pub fn let_go(&self) {
        self.let_go.fetch_add(1, Ordering::Release);
    }

    /// Whether it has been let go on more than so many times.
    pub fn is_let_go(&self, times: u64) -> bool {
        self.let_go.load(Ordering::Acquire) > times
    }

    /// The exchange has come to the end of a step, or to where the SM waits in it.
    pub fn set_backlog(&self, step: u64, backlog: Backlog) {
        self.backlogs
            .of(step)
            .store(pack(backlog), Ordering::Relaxed);
    }

    /// What was in the way of the SM's requests where it waited in a step.
    pub fn backlog(&self, step: u64) -> Backlog {
        unpack(self.backlogs.of(step))
    }

    /// What was in the way of its requests at the beginning of a step.
    pub fn backlog_before(&self, step: u64) -> Backlog {
        unpack(self.backlogs.before(step))
    }
}

fn pack(backlog: Backlog) -> u64 {
    u64::from(backlog.flits) << 32 | u64::from(backlog.moving)
}

fn unpack(word: &AtomicU64) -> Backlog {
    let word = word.load(Ordering::Relaxed);
    Backlog {
        flits: (word >> 32) as u32,
        moving: word as u32,
    }
}

/// What a thread that panicked has left is of no use, and no thread uses it: all stop.
pub fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
