//! One quantum: what runs beside what, and in which order the rest follows.
//!
//! ```text
//!  side by side          SMs that are awake, quantum k         on the threads of a crew
//!                        partitions, quantum k + 1             on the first of them
//!  then, one after the   what the SMs leave, in SM order: requests into the network, news, stores, prints
//!  other                 replies to the SMs; atomics of quantum k; requests through the network, quantum k
//! ```
//!
//! Without a crew, or where memory may not be ahead (see [`lookahead`]), the SMs run one after the
//! other or on the crew, and memory as a whole runs quantum k behind them.
//!
//! Who runs when makes no difference to any result. While SMs run nobody changes anything that another
//! one sees: global memory is read as it was at the quantum's start, and everything else belongs to
//! one SM. Why partitions may be a quantum ahead stands [there](crate::memory::system).
//!
//! [`lookahead`]: crate::memory::system::lookahead

use super::hot::HotSpots;
use super::pace::{News, Pace};
use super::{Gpu, SimError};
use crate::exec::memory::image::GlobalMemory;
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::memory::system::AheadOfSms;
use crate::observe::Observer;
use crate::sm::{Launched, Quantum, Sm, SmFault};
use crate::time::Cycle;
use std::ops::Range;

/// The first SM, in their order, in which a thread of the simulated program failed.
type Failed = Option<(usize, SmFault)>;

/// The quantum, as everybody sees it who runs in it.
struct Setting<'a> {
    span: Range<Cycle>,
    launched: &'a Launched,
    observed: bool,
    skip: bool,
}

impl Setting<'_> {
    /// Runs an SM that finds so much in the way of its requests.
    #[inline]
    fn run(
        &self,
        image: &GlobalMemory,
        sm: &mut Sm,
        inbox: &mut Inbox,
        backlog: Backlog,
    ) -> Result<(), SmFault> {
        sm.refill_port(backlog, self.span.start);
        inbox.show(self.span.end);
        let mut world = Quantum {
            launched: self.launched,
            image,
            inbox,
            observed: self.observed,
            skip: self.skip,
        };
        sm.run(self.span.end, &mut world)
    }
}

/// Something that one of several threads does in a quantum.
enum Job<'a> {
    Partitions(AheadOfSms<'a>),
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
    /// One quantum. Returns the blocks that have ended.
    pub(super) fn run_quantum(
        &mut self,
        span: Range<Cycle>,
        launched: &Launched,
        files: &[(u32, String)],
        pace: &mut Pace,
        hot: Option<&mut HotSpots>,
    ) -> Result<u64, SimError> {
        let end = span.end;
        match self.options.skip {
            true => {
                pace.find_room(|sm| self.memory.injection_free(sm));
                pace.wake(end, self.memory.next_replies());
            }
            false => pace.wake_all(self.memory.next_replies()),
        }
        // A report on a run that hangs shows memory as of its time.
        let further = hot.is_none();
        let setting = Setting {
            span,
            launched,
            observed: hot.is_some() || self.options.observer.is_some(),
            skip: self.options.skip,
        };
        let failed = match self.crew {
            Some(_) => self.run_together(&setting, pace, further),
            None => self.run_alone(&setting, pace),
        };
        let completed = self.collect(end, pace, hot, failed.as_ref().map(|f| f.0));
        if let Some((sm, e)) = failed {
            return Err(self.fault(sm, e, launched, files));
        }
        for &i in pace.to_flush() {
            let sm = &mut self.sms[i];
            sm.leavings.stores.flush_into(&mut self.image);
            let prints = &mut sm.leavings.prints;
            self.printed.hand_on(prints, &mut self.options);
        }
        let (sms, image) = (&mut self.sms, &mut self.image);
        let mut failed: Failed = None;
        let mut perform_atomic = |sm: u16, token| {
            if let Err(e) = sms[usize::from(sm)].perform_atomic(token, image) {
                failed.get_or_insert((sm.into(), e));
            }
        };
        match self.memory.is_ahead() {
            true => self.memory.catch_up(end, &mut perform_atomic),
            false => self.memory.advance(end, &mut perform_atomic),
        }
        match failed {
            Some((sm, e)) => Err(self.fault(sm, e, launched, files)),
            None => Ok(completed),
        }
    }

    /// Runs the SMs that are awake on this thread, up to the first that fails.
    fn run_alone(&mut self, setting: &Setting, pace: &Pace) -> Failed {
        for &i in pace.awake() {
            let backlog = self.memory.injection_backlog(i);
            let inbox = self.memory.inbox(i);
            if let Err(e) = setting.run(&self.image, &mut self.sms[i], inbox, backlog) {
                return Some((i, e));
            }
        }
        None
    }

    /// Runs the SMs that are awake on all threads, and beside them the partitions if they may be
    /// ahead: by a quantum, if `further` says so.
    fn run_together(&mut self, setting: &Setting, pace: &mut Pace, further: bool) -> Failed {
        let crew = self.crew.as_mut()?;
        let (image, end) = (&self.image, setting.span.end);
        let (mut partitions, mut inboxes, outlets) = self.memory.side_by_side();
        // With nothing to do they are done at once, and need not be waited for.
        if let Some(mut idle) = partitions.take_if(|p| !p.have_work(end)) {
            idle.run(end, further);
        }
        let mut jobs = Vec::with_capacity(pace.awake().len() + 1);
        jobs.extend(partitions.map(Job::Partitions));
        let first = jobs.len();
        let mut sms = self.sms.iter_mut();
        let mut passed = 0;
        for &number in pace.awake() {
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
        let work = |job: &mut Job| match job {
            Job::Partitions(partitions) => partitions.run(end, further),
            Job::Sm(seat) => {
                seat.result = setting.run(image, seat.sm, seat.inbox, seat.backlog);
                seat.news = News::of(seat.sm);
            }
        };
        match &mut jobs[..] {
            [] => {}
            [job] => work(job),
            jobs => {
                self.homes.shares(first, pace.awake(), &mut self.shares);
                crew.for_each(jobs, &self.shares, work);
            }
        }
        let mut failed = None;
        for job in jobs {
            if let Job::Sm(seat) = job {
                pace.heard(seat.news);
                let fault = seat.result.err().map(|e| (seat.number, e));
                failed = failed.or(fault);
            }
        }
        failed
    }

    /// Collects, in SM order, what the SMs that have run leave, up to the one that failed if one
    /// has. Returns the blocks that have ended.
    fn collect(
        &mut self,
        end: Cycle,
        pace: &mut Pace,
        mut hot: Option<&mut HotSpots>,
        failed: Option<usize>,
    ) -> u64 {
        let mut completed = 0;
        for at in 0..pace.awake().len() {
            let i = pace.awake()[at];
            if failed.is_some_and(|failed| i > failed) {
                break;
            }
            let sm = &mut self.sms[i];
            self.memory.close_inbox(i);
            let news = pace.news(at).unwrap_or_else(|| News::of(sm));
            pace.ran(i, &news);
            completed += u64::from(news.completed);
            if news.sent {
                for (cycle, request) in sm.port.sent.drain(..) {
                    self.memory.push(cycle, request);
                }
            }
            if let Some(spots) = hot.as_deref_mut() {
                sm.tell(end, spots as &mut dyn Observer);
            } else if let Some(observer) = &mut self.options.observer {
                sm.tell(end, &mut **observer);
            }
        }
        completed
    }
}
