//! One quantum: SMs run by themselves, then requests, stores and news are collected in SM order,
//! then memory runs.
//!
//! While SMs run nobody changes anything that another one sees: global memory is read as it was at
//! the quantum's start, and everything else belongs to one SM. So they can run on several host
//! threads, and it makes no difference to any result.

use super::hot::HotSpots;
use super::pace::Pace;
use super::{Gpu, SimError};
use crate::memory::network::inbox::Inbox;
use crate::observe::Observer;
use crate::sm::{Launched, Quantum, Sm, SmFault};
use crate::time::Cycle;
use std::ops::Range;

/// An SM that runs in a quantum, on whichever thread, with what came of it.
struct Seat<'a> {
    number: usize,
    sm: &'a mut Sm,
    inbox: &'a mut Inbox,
    result: Result<(), SmFault>,
}

/// The first SM, in their order, in which a thread of the simulated program failed.
type Failed = Option<(usize, SmFault)>;

impl Gpu {
    /// One quantum: SMs first, then memory, joined only by queues. Returns the blocks that have
    /// ended.
    pub(super) fn run_quantum(
        &mut self,
        span: Range<Cycle>,
        launched: &Launched,
        files: &[(u32, String)],
        pace: &mut Pace,
        hot: Option<&mut HotSpots>,
    ) -> Result<u64, SimError> {
        let end = span.end;
        let awake = self.wake(span, pace);
        let observed = hot.is_some() || self.options.observer.is_some();
        let failed = match awake {
            0 => None,
            1 => self.run_alone(end, launched, pace, observed),
            _ if self.crew.is_none() => self.run_alone(end, launched, pace, observed),
            _ => self.run_together(end, launched, pace, observed),
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
        self.memory.advance(end, &mut |sm, token| {
            if let Err(e) = sms[sm as usize].perform_atomic(token, image) {
                failed.get_or_insert((sm as usize, e));
            }
        });
        match failed {
            Some((sm, e)) => Err(self.fault(sm, e, launched, files)),
            None => Ok(completed),
        }
    }

    /// Finds out which SMs have something to do, and tells them what is in the way of their
    /// requests. Returns how many.
    fn wake(&mut self, span: Range<Cycle>, pace: &mut Pace) -> usize {
        let memory = &self.memory;
        match self.options.skip {
            true => pace.wake(span.end, memory.next_replies(), |sm| {
                memory.injection_free(sm)
            }),
            false => pace.wake_all(),
        }
        for &i in pace.awake() {
            self.sms[i].refill_port(memory.injection_backlog(i), span.start);
        }
        pace.awake().len()
    }

    /// Runs the SMs that are awake on this thread, up to the first that fails.
    fn run_alone(
        &mut self,
        end: Cycle,
        launched: &Launched,
        pace: &Pace,
        observed: bool,
    ) -> Failed {
        for &i in pace.awake() {
            let mut world = Quantum {
                launched,
                image: &self.image,
                inbox: self.memory.open_inbox(i, end),
                observed,
                skip: self.options.skip,
            };
            if let Err(e) = self.sms[i].run(end, &mut world) {
                return Some((i, e));
            }
        }
        None
    }

    /// Runs the SMs that are awake on all threads.
    fn run_together(
        &mut self,
        end: Cycle,
        launched: &Launched,
        pace: &Pace,
        observed: bool,
    ) -> Failed {
        let crew = self.crew.as_mut()?;
        let (image, skip) = (&self.image, self.options.skip);
        let all = self.sms.iter_mut().zip(self.memory.open_inboxes(end));
        let mut seats: Vec<Seat> = all
            .enumerate()
            .filter(|(number, _)| pace.is_awake(*number))
            .map(|(number, (sm, inbox))| Seat {
                number,
                sm,
                inbox,
                result: Ok(()),
            })
            .collect();
        crew.for_each(&mut seats, |seat| {
            let mut world = Quantum {
                launched,
                image,
                inbox: seat.inbox,
                observed,
                skip,
            };
            seat.result = seat.sm.run(end, &mut world);
        });
        let failed = |seat: Seat| seat.result.err().map(|e| (seat.number, e));
        seats.into_iter().find_map(failed)
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
            pace.ran(i, sm);
            completed += u64::from(sm.take_completed());
            for (cycle, request) in sm.port.sent.drain(..) {
                self.memory.push(cycle, request);
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
