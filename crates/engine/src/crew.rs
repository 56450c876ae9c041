//! Threads that work on something together, again and again.
//!
//! A window of a simulation takes microseconds of the host's time. Starting threads for that, or handing work to a pool with queues and
//! locks, would take longer than the work. A [`Crew`] keeps its threads. Its caller begins a round and works in it. Helpers see the round's number
//! change and join. The round is over when the caller's own work is: then no helper joins any more, and the caller waits for those that have. A helper
//! that the host does not run at that time is not waited for.
//!
//! A helper that has seen no round for long says that it sleeps, looks once more, and parks: either it sees the new number, or the caller, which looks
//! whether it sleeps after beginning a round, sees that it does.

use crate::sync::{
    Arc, AtomicBool, AtomicU64, JoinHandle, Mutex, Ordering, SPINS, UnsafeCell, YIELDS, doze,
    fence, park, spawn, spin_loop, yield_now,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Panic = Box<dyn Any + Send>;

/// A thread's share of a round: `run(data, number of the thread)`.
#[derive(Clone, Copy)]
struct Work {
    run: unsafe fn(*const (), usize),
    data: *const (),
}

/// What the threads share. What different threads write lies in different lines of the host's cache.
struct Shared {
    round: Round,
    helpers: Vec<Helper>,
    panic: Mutex<Option<Panic>>,
}

/// What the caller writes.
#[repr(align(128))]
struct Round {
    /// Odd while helpers may join.
    number: AtomicU64,
    quit: AtomicBool,
    /// Written while no helper has joined, read by those that have.
    work: UnsafeCell<Option<Work>>,
}

/// What a helper writes.
#[repr(align(128))]
#[derive(Default)]
struct Helper {
    /// It has joined a round, or looks whether it still may.
    joined: AtomicBool,
    asleep: AtomicBool,
}

// SAFETY: `work` is written and read by the rule above, and what its pointer leads to may be used from any thread while the round lasts, see `Crew::run`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// The life of a helper.
    fn help(&self, helper: usize) {
        let mut last = 0;
        loop {
            last = self.wait_for_round(last, helper);
            if self.round.quit.load(Ordering::Relaxed) {
                return;
            }
            let joined = &self.helpers[helper].joined;
            joined.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst); // between saying so and looking whether the round is still open
            if self.round.number.load(Ordering::Acquire) == last
                // SAFETY: the round was open after this helper had said that it joins: the caller waits for it.
                && let Some(work) = self.round.work.with(|place| unsafe { *place })
            {
                // SAFETY: the round lasts, so that the data can be used.
                let share = || unsafe { (work.run)(work.data, helper + 1) };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(share))
                    && let Ok(mut place) = self.panic.lock()
                {
                    *place = Some(panic);
                }
            }
            joined.store(false, Ordering::Release);
        }
    }

    /// Waits until a round begins, or is under way, that is not the `last` one, and returns its number.
    fn wait_for_round(&self, last: u64, helper: usize) -> u64 {
        let asleep = &self.helpers[helper].asleep;
        let mut patience = Patience::default();
        loop {
            let number = self.round.number.load(Ordering::Acquire);
            if number % 2 == 1 && number != last {
                asleep.store(false, Ordering::Relaxed);
                return number;
            }
            if asleep.load(Ordering::Relaxed) {
                park();
            } else if !patience.wait() {
                asleep.store(true, Ordering::Relaxed);
                fence(Ordering::SeqCst); // between saying so and looking once more
            }
        }
    }
}

/// The threads.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    /// The caller's thread and `helpers` more.
    pub fn new(helpers: usize) -> Crew {
        let shared = Arc::new(Shared {
            round: Round {
                number: AtomicU64::new(0),
                quit: AtomicBool::new(false),
                work: UnsafeCell::new(None),
            },
            helpers: (0..helpers).map(|_| Helper::default()).collect(),
            panic: Mutex::new(None),
        });
        let help = |helper| {
            let shared = shared.clone();
            spawn(move || shared.help(helper))
        };
        let threads = (0..helpers).map(help).collect();
        Crew { shared, threads }
    }

    /// Threads, the caller's included.
    pub fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Calls `f` with the number of the thread: on the caller's thread, which is 0, and on every helper that comes before that call is over. Returns when
    /// all calls are. If one panics, so does this.
    pub fn run<F: Fn(usize) + Sync>(&mut self, f: F) {
        let Shared { round, helpers, .. } = &*self.shared;
        let work = Work {
            run: call::<F>,
            data: (&raw const f).cast(),
        };
        // SAFETY: no round is under way, so that no helper has joined.
        round.work.with_mut(|place| unsafe { *place = Some(work) });
        self.next_number();
        for (helper, thread) in helpers.iter().zip(&self.threads) {
            if helper.asleep.load(Ordering::Relaxed) {
                thread.thread().unpark();
            }
        }
        // `f` outlives the round: nothing between its begin and its end leaves this function.
        let own = catch_unwind(AssertUnwindSafe(|| f(0))).err();
        self.next_number();
        let mut patience = Patience::default();
        for helper in helpers {
            while helper.joined.load(Ordering::Acquire) {
                if !patience.wait() {
                    doze();
                }
            }
        }
        let theirs = self.shared.panic.lock().ok().and_then(|mut it| it.take());
        if let Some(panic) = own.or(theirs) {
            resume_unwind(panic);
        }
    }

    /// Begins a round, or lets no helper join it any more.
    fn next_number(&self) {
        let number = &self.shared.round.number;
        let next = number.load(Ordering::Relaxed) + 1;
        number.store(next, Ordering::Release);
        fence(Ordering::SeqCst); // between saying so and looking which helpers sleep, or have joined
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.round.quit.store(true, Ordering::Relaxed);
        self.next_number();
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A helper catches what its work panics with.
            let _ = thread.join();
        }
    }
}

/// # Safety
///
/// `data` points to an `F` that lives as long as the call.
unsafe fn call<F: Fn(usize) + Sync>(data: *const (), thread: usize) {
    // SAFETY: as above.
    let f = unsafe { &*data.cast::<F>() };
    f(thread);
}

/// Of a thread that looks again and again for what another thread does.
#[derive(Default)]
pub(crate) struct Patience {
    looks: u32,
}

impl Patience {
    /// Waits a moment before the next look. A thread that has looked in vain for long yields its core, because there may be more threads than cores. Later this
    /// does not wait and returns false: it is time to sleep.
    pub fn wait(&mut self) -> bool {
        self.looks = self.looks.saturating_add(1);
        if self.looks < SPINS {
            spin_loop();
        } else if self.looks < YIELDS {
            yield_now();
        }
        self.looks < YIELDS
    }
}
