//! SMs that drift apart: each runs step after step by itself, up to three ahead of the slowest.
//!
//! Over the 48 cycles of a period the slowest SM takes up to half as long again as the mean, and it is not always the same one. In
//! [rounds](super::round) all wait for it. Here only those wait that have to know something. They go by [steps] of half a period:
//!
//! ```text
//!  SM i       | step k | step k + 1 | step k + 2 | step k + 3 | (waits) | step k + 4 ..
//!  SM j       | step k          | step k + 1          | step k + 2 ..
//!  exchange   (waits)           | requests of k
//!  memory                          | step k + 4 |
//! ```
//!
//! - An SM begins a step when its replies are there: when the partitions have been run to the end of it. For step k + 4 that can be done
//!   once all SMs are through with step k, and what they have sent has gone through the network ([`exchange`]).
//! - As it begins a step it may not have heard how far its requests of the last ones have got. It counts them as not gone, and begins if
//!   there is [certainly room](crate::sm::memory::port::Port::knows_room).
//! - Where it has to hear from others ([`Stretch`](super::stretch::Stretch)), it waits until they are as far, and the exchange with them. If it is only that a
//!   block has ended on it while others wait, it need not wait for the exchange ([`places`]).
//! - It cannot see what others have stored before all come to the same cycle. So this is for launches that
//!   [read nothing that they write](crate::gpu::unseen), and lasts no longer than until their stores are shown.
//!
//! An SM runs on the thread where it is at home ([`runner`]). One thread also does the exchange and runs memory, and is helped by others when it
//! cannot keep up. What all of them tell each other goes through [`lane`] and [`track`].
//!
//! Every SM sees what it would see in rounds, so that all results are the same. When something comes up that is simpler to do in
//! step (blocks that end together, the end of the launch), all stop where they are, and rounds go on from there.

mod exchange;
mod lane;
mod places;
mod rota;
mod runner;
mod steps;
mod track;

use super::period::Course;
use crate::gpu::{Gpu, Threads};
use crate::memory::system::lead;
use crate::time::Cycle;
use exchange::Exchange;
pub use lane::Lane;
pub use rota::Rota;
use runner::Runner;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use steps::Steps;
use track::Track;
use warpsim_crew::{Patience, WHILE, is_much};

/// Where so many SMs come on one thread, rounds are as good: the slowest of them makes little difference, and threads help each other.
const MANY_PER_THREAD: usize = 4;

/// How often a thread looks for something to do at home before it looks elsewhere: what others have in their caches takes long to fetch.
const LOOKS_AT_HOME: u32 = 20;

/// The threads that do the exchange and run the far sides of memory channels when the one that should is busy.
const DEPUTY: usize = 0;
const DEPUTY_FOR_FAR_SIDES: usize = 2;

/// All that there is to do, for the host threads that come for it.
struct Work<'t, 's, 'e> {
    track: Track<'t>,
    runners: Vec<Mutex<Runner<'s>>>,
    exchange: Mutex<Exchange<'e>>,
    rota: &'t Rota,
    /// The thread that does the exchange and runs memory.
    with_memory: usize,
    /// The caller's thread ends it where it waits too much, and how long it has waited.
    gives_way: bool,
    waited: Mutex<Duration>,
}

impl Gpu {
    /// For how many periods from cycle `now` on SMs may drift apart, if that is worth while.
    pub(super) fn periods_apart(&self, now: Cycle, course: &Course) -> u64 {
        let crew = self.threads.as_ref().map(|threads| &threads.crew);
        let threads = crew
            .filter(|crew| !crew.is_alone())
            .map_or(0, |crew| crew.size());
        let few = self.sms.len() < threads * MANY_PER_THREAD;
        match few && self.memory.is_ahead() && course.may_drift(now) {
            true => course.periods_unseen(now),
            false => 0,
        }
    }

    /// Lets SMs drift apart for at most so many periods, of which the first begins with cycle `now`. Returns the cycle to which all have come,
    /// and the end of the period that it is in.
    pub(super) fn drift(
        &mut self,
        now: Cycle,
        periods: u64,
        course: &mut Course,
    ) -> Option<(Cycle, Cycle)> {
        let Threads {
            crew,
            homes,
            rota,
            lanes,
            ..
        } = self.threads.as_mut()?;
        let Course {
            launched,
            clocking,
            pace,
            blocks,
            failed,
            ..
        } = course;
        pace.wake_all(now, &mut self.memory);
        let mut inboxes = self.memory.lend_inboxes();
        for (sm, lane) in lanes.iter_mut().enumerate() {
            lane.begin(now, self.memory.injection_backlog(sm));
        }
        let steps = Steps::new(now, periods, *clocking, lead(&self.machine));
        let kernel = (*launched, clocking.quantum);
        let track = Track::new(&self.image, kernel, blocks, steps, lanes);
        let sms = self.sms.iter_mut().zip(&mut inboxes).enumerate();
        let runners = sms.map(|(number, (sm, inbox))| Runner::new(number, sm, inbox, now));
        let exchange = Exchange::new(&mut self.memory, pace, failed, &track);
        let work = Work {
            track,
            runners: runners.map(Mutex::new).collect(),
            exchange: Mutex::new(exchange),
            rota,
            with_memory: homes.with_partitions(),
            gives_way: crew.gives_way(),
            waited: Mutex::new(Duration::ZERO),
        };
        let mut threads: Vec<usize> = (0..crew.size()).collect();
        let shares: Vec<usize> = (1..=threads.len()).collect();
        crew.for_each(&mut threads, &shares, |thread| {
            work.attend(*thread);
        });
        let Work {
            track,
            exchange,
            runners,
            waited,
            ..
        } = work;
        crew.waited(waited.into_inner().unwrap_or_else(PoisonError::into_inner));
        for runner in runners {
            let runner = runner.into_inner();
            runner.unwrap_or_else(PoisonError::into_inner).stop(&track);
        }
        let exchange = exchange.into_inner();
        let mut exchange = exchange.unwrap_or_else(PoisonError::into_inner);
        // Some SMs have told more than the exchange has listened to, or have not listened to all.
        exchange.finish(&track);
        for (number, lane) in track.lanes.iter().enumerate() {
            exchange.hear_rest(number, lane, &track);
            let (sm, inbox) = (&mut self.sms[number], &mut inboxes[number]);
            lane.letter().read(sm, inbox);
        }
        let stopped = exchange.stopped();
        self.memory.take_inboxes_back(inboxes);
        pace.stop(stopped.0, &self.sms);
        Some(stopped)
    }
}

impl Work<'_, '_, '_> {
    /// Does what there is to do for a thread until all stop.
    fn attend(&self, thread: usize) {
        let _stops = self.track.stop_on_panic();
        let mut patience = Patience::default();
        let mut looks = 0;
        let mut toll = (thread == 0 && self.gives_way).then(Toll::new);
        while !self.track.is_over() {
            let any = self.look_around(thread) || looks >= LOOKS_AT_HOME && self.help(thread);
            if let Some(toll) = &mut toll {
                toll.note(!any);
                if toll.is_too_high() {
                    self.track.end_soon();
                }
            }
            match any {
                true => (patience, looks) = (Patience::default(), 0),
                false => {
                    looks = looks % LOOKS_AT_HOME + 1;
                    patience.wait();
                }
            }
        }
        if let (Some(toll), Ok(mut waited)) = (toll, self.waited.lock()) {
            *waited = toll.waited;
        }
    }

    /// Runs each SM of a thread for as long as it can in its period, and what others wait for before that. Returns whether there was anything to do.
    fn look_around(&self, thread: usize) -> bool {
        let mut any = self.do_for_others(thread);
        while let Some(sm) = self.rota.next(thread) {
            any |= self.run(sm);
            any |= self.do_for_others(thread);
        }
        any
    }

    /// Does what others wait for, if it is for this thread to do.
    fn do_for_others(&self, thread: usize) -> bool {
        let track = &self.track;
        if thread == self.with_memory {
            return self.exchange() | track.run_memory();
        }
        match thread {
            DEPUTY => track.runs_memory() && self.exchange(),
            DEPUTY_FOR_FAR_SIDES => track.run_far_sides(),
            _ => false,
        }
    }

    /// A thread has nothing to do: does something of others.
    fn help(&self, thread: usize) -> bool {
        let helps = thread == DEPUTY && self.exchange();
        helps
            || self.rota.help(thread, |sm| {
                let runner = self.runners[sm].try_lock();
                runner.is_ok_and(|mut runner| runner.lags(&self.track) && runner.go_on(&self.track))
            })
    }

    fn run(&self, sm: usize) -> bool {
        let runner = self.runners[sm].try_lock();
        runner.is_ok_and(|mut runner| runner.go_on(&self.track))
    }

    fn exchange(&self) -> bool {
        let exchange = self.exchange.try_lock();
        exchange.is_ok_and(|mut exchange| exchange.go_on(&self.track))
    }
}

/// How long a thread has waited for others.
struct Toll {
    began: Instant,
    since: Option<Instant>,
    waited: Duration,
}

impl Toll {
    fn new() -> Toll {
        Toll {
            began: Instant::now(),
            since: None,
            waited: Duration::ZERO,
        }
    }

    /// The thread waits from now on, or does not.
    fn note(&mut self, waits: bool) {
        match (waits, self.since) {
            (true, None) => self.since = Some(Instant::now()),
            (false, Some(since)) => {
                self.waited += since.elapsed();
                self.since = None;
            }
            _ => {}
        }
    }

    /// Whether it has waited for so much of a while that it should find out whether others are worth waiting for.
    fn is_too_high(&self) -> bool {
        self.since.is_none() && self.waited > WHILE && is_much(self.waited, self.began.elapsed())
    }
}

/// In tests threads linger now and then, each at other times, so that all are seen ahead of all others.
#[cfg(test)]
fn linger() {
    use std::hash::{BuildHasher, RandomState};
    let chance = RandomState::new().hash_one(()) % 1024;
    if chance < 64 {
        std::thread::sleep(std::time::Duration::from_micros(chance));
    }
}

#[cfg(not(test))]
#[inline(always)]
fn linger() {}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
