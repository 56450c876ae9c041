//! A round: SMs that run by themselves for a while, and what follows.
//!
//! ```text
//!  side by side          SMs that are awake, period k          on the threads of a crew
//!                        DRAM behind its delay, period k + 2   on the third of them, in the first round
//!  then, one after the   what the SMs leave, in SM order: requests into the network, news, prints
//!  other                 requests through the network, as far as all SMs have come
//! ```
//!
//! and when all have come to the period's end: stores, replies to the SMs, atomics. An SM that has to
//! hear from others first ([`Stretch`]) goes on in another round. Through all rounds of period k the second thread of a crew runs
//! the partitions in period k + 1, and helps with the SMs when it is through.
//!
//! Where periods are no longer than a quantum and there is no crew, or where memory may not be ahead (see
//! [`lookahead`]), memory as a whole runs quantum k behind the SMs.
//!
//! Which SM runs when makes no difference to any result. While SMs run none changes anything that another
//! one sees: global memory is read as it was at the period's start or earlier, and everything else belongs to
//! one SM. Why partitions may be ahead stands [there](crate::memory::system).
//!
//! [`lookahead`]: crate::memory::system::lookahead

use super::hot::Both;
use super::pace::{News, Pace};
use super::period::Course;
use super::stretch::Stretch;
use crate::gpu::{Gpu, SimError, Threads};
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::memory::packet::Request;
use crate::memory::system::{AheadOfPartitions, MemorySystem};
use crate::sm::{Sm, SmFault};
use crate::time::Cycle;

/// The first thread of the simulated program that has failed: before which cycle, with which its quantum ends, and on which SM.
pub(super) type Failed = Option<(Cycle, usize, SmFault)>;

/// Something that one of several threads does in a round.
enum Job<'a> {
    FarSides(&'a mut AheadOfPartitions),
    Sm(Seat<'a>),
}

/// An SM that runs, with all that its thread and the exchange tell each other: in a place of its own,
/// because looking at an SM that has run elsewhere means waiting for another core's cache.
#[repr(align(128))]
struct Seat<'a> {
    number: usize,
    sm: &'a mut Sm,
    inbox: &'a mut Inbox,
    backlog: Backlog,
    result: Result<(), SmFault>,
    news: News,
}

impl Gpu {
    /// A period of several quanta that ends with cycle `end` is about to begin.
    pub(super) fn begin_period(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        self.with_atomics(course, |memory, perform_atomic| {
            memory.prepare(end, perform_atomic);
        })
    }

    /// Sends the partitions on their way through the period behind the one that ends with cycle `end`, if there are threads for that.
    pub(super) fn set_partitions_off(&mut self, end: Cycle, course: &Course) {
        if let Some(Threads { crew, errand, .. }) = &mut self.threads {
            // A launch near its limit may be given up: memory need not be far ahead of it.
            let further = course.hot.is_none();
            let partitions = self.memory.set_off(end, further);
            *errand = partitions.map(|mut partitions| {
                crew.set_off(|| {
                    partitions.run();
                    partitions
                })
            });
        }
    }

    /// Waits for partitions that were sent.
    pub(super) fn take_partitions_back(&mut self) {
        if let Some(Threads { crew, errand, .. }) = &mut self.threads
            && let Some(errand) = errand.take()
        {
            self.memory.take_back(crew.fetch(errand));
        }
    }

    /// All SMs have come to the end of a period: the others see what they have stored.
    pub(super) fn end_period(&mut self, end: Cycle, course: &mut Course) -> Result<(), SimError> {
        if !course.launched.reads_no_stores {
            self.show_stores(course);
        }
        self.take_partitions_back();
        self.with_atomics(course, |memory, perform_atomic| match memory.is_ahead() {
            true => memory.turn_over(perform_atomic),
            false => memory.advance(end, perform_atomic),
        })
    }

    /// SMs see what all of them have stored.
    pub(super) fn show_stores(&mut self, course: &mut Course) {
        let (sms, image) = (&mut self.sms, &mut self.image);
        course
            .pace
            .flush(|i| sms[i].leavings.stores.flush_into(image));
    }

    /// Lets memory do something that comes with atomics, which are performed in that order.
    fn with_atomics(
        &mut self,
        course: &Course,
        act: impl FnOnce(&mut MemorySystem, &mut dyn FnMut(u16, u32)),
    ) -> Result<(), SimError> {
        let (sms, image) = (&mut self.sms, &mut self.image);
        let mut failed = None;
        act(&mut self.memory, &mut |sm, token| {
            if let Err(e) = sms[usize::from(sm)].perform_atomic(token, image) {
                failed.get_or_insert((sm, e));
            }
        });
        match failed {
            Some((sm, e)) => Err(self.fault(sm.into(), e, course.launched)),
            None => Ok(()),
        }
    }

    /// A round in which SMs run for this time. Returns the cycle to which all have come.
    pub(super) fn run_round(&mut self, stretch: &Stretch, course: &mut Course) -> Cycle {
        let (from, to) = (stretch.span.start, stretch.span.end);
        let pace = &mut course.pace;
        let one_quantum = to == from + stretch.quantum;
        match self.options.skip {
            true => {
                // Beyond the first quantum only SMs themselves know when there is room.
                let memory = &self.memory;
                pace.find_room(|sm, wanted| !one_quantum || memory.has_room_soon(sm, wanted));
                pace.wake(from, to, &mut self.memory);
            }
            false => pace.wake_all(from, &mut self.memory),
        }
        match self.threads {
            Some(_) => self.run_together(stretch, pace, &mut course.failed),
            None => self.run_alone(stretch, pace, &mut course.failed),
        }
        self.collect(stretch, course);
        let reached = course.pace.reached(to);
        self.memory.catch_up(reached);
        reached
    }

    /// Runs the SMs that are awake on this thread.
    fn run_alone(&mut self, stretch: &Stretch, pace: &mut Pace, failed: &mut Failed) {
        for at in 0..pace.awake().len() {
            let i = pace.awake()[at];
            let backlog = self.memory.injection_backlog(i);
            let inbox = self.memory.inbox(i);
            let (news, result) = stretch.run(&self.image, &mut self.sms[i], inbox, Some(backlog));
            pace.heard(news);
            note(failed, i, news.came_to, result);
        }
    }

    /// Runs the SMs that are awake on all threads, and the far sides of memory channels if they are to run.
    fn run_together(&mut self, stretch: &Stretch, pace: &mut Pace, failed: &mut Failed) {
        let Some(Threads {
            crew,
            homes,
            shares,
            ..
        }) = &mut self.threads
        else {
            return;
        };
        let image = &self.image;
        let (mut far_sides, mut inboxes, outlets) = self.memory.side_by_side();
        let beside = far_sides.is_some();
        let before = homes.before_far_sides(pace.awake());
        let mut jobs = Vec::with_capacity(pace.awake().len() + 1);
        let mut sms = self.sms.iter_mut();
        let mut passed = 0;
        for (at, &number) in pace.awake().iter().enumerate() {
            if at == before {
                jobs.extend(far_sides.take().map(Job::FarSides));
            }
            let skipped = number - passed;
            passed = number + 1;
            let (Some(sm), Some(inbox)) = (sms.nth(skipped), inboxes.nth(skipped)) else {
                break;
            };
            jobs.push(Job::Sm(Seat {
                number,
                sm,
                inbox,
                backlog: outlets.backlog(number),
                result: Ok(()),
                news: News::default(),
            }));
        }
        jobs.extend(far_sides.map(Job::FarSides));
        let work = |job: &mut Job| match job {
            Job::FarSides(far_sides) => far_sides.run(),
            Job::Sm(seat) => {
                let backlog = Some(seat.backlog);
                (seat.news, seat.result) = stretch.run(image, seat.sm, seat.inbox, backlog);
            }
        };
        match &mut jobs[..] {
            [] => {}
            [job] => work(job),
            jobs => {
                homes.shares(beside, pace.awake(), shares);
                crew.for_each(jobs, shares, work);
            }
        }
        for job in jobs {
            if let Job::Sm(seat) = job {
                pace.heard(seat.news);
                note(failed, seat.number, seat.news.came_to, seat.result);
            }
        }
    }

    /// Collects, in SM order, what the SMs that have run leave.
    fn collect(&mut self, stretch: &Stretch, course: &mut Course) {
        let Course {
            pace, blocks, hot, ..
        } = course;
        let (from, to) = (stretch.span.start, stretch.span.end);
        if self.threads.is_some() {
            bring_near(pace.senders().map(|i| &self.sms[i].port.sent[..]));
        }
        for at in 0..pace.awake().len() {
            let i = pace.awake()[at];
            let sm = &mut self.sms[i];
            let news = pace.ran(at, to);
            self.memory.close_inbox(i, news.next_reply);
            if news.completed != 0 {
                // Where no block waits for the place, it is only counted.
                let when = match stretch.blocks_wait {
                    true => news.came_to,
                    false => from,
                };
                blocks.dispatcher.ended(when, i, news.completed);
            }
            if news.sent {
                for (cycle, request) in sm.port.sent.drain(..) {
                    self.memory.push(cycle, request);
                }
            }
            match (hot.as_mut(), self.options.observer.as_deref_mut()) {
                (Some(spots), Some(observer)) => sm.tell(to, &mut Both(spots, observer)),
                (Some(spots), None) => sm.tell(to, spots),
                (None, Some(observer)) => sm.tell(to, observer),
                (None, None) => {}
            }
            if news.printed {
                self.printed
                    .hand_on(&mut sm.leavings.prints, &mut self.options);
            }
        }
    }
}

/// Looks at all of these requests, which other cores have in their caches: the lines come side by side, where
/// handing on one request after the other would wait for each.
#[inline(never)]
fn bring_near<'a>(senders: impl Iterator<Item = &'a [(Cycle, Request)]>) {
    let seen = senders
        .flatten()
        .fold(0, |seen, (cycle, _)| seen ^ cycle.get());
    std::hint::black_box(seen);
}

/// An SM has come to this cycle. Of several that have failed, the first in time counts, then in
/// their order: they are noted in any.
pub(super) fn note(failed: &mut Failed, sm: usize, at: Cycle, result: Result<(), SmFault>) {
    if let Err(e) = result
        && failed
            .as_ref()
            .is_none_or(|&(first, other, _)| (at, sm) < (first, other))
    {
        *failed = Some((at, sm, e));
    }
}
