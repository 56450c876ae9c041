//! An SM by itself: from quantum to quantum, for as long as it needs to hear from no other part.
//!
//! Replies of the whole stretch are in its inbox before it begins, stores of other SMs are not to be
//! seen before it ends ([`period`](crate::memory::system::period)), and how much room its requests
//! find it knows by itself while the network's buffer cannot be full. So it stops early only
//!
//! - where the buffer might be full: the network has to say how far it is;
//! - when a block has ended while others wait for a place: the dispatcher has to have seen all that ended before;
//! - without blocks of its own: the launch may be over before it has something to do again.

use super::drift::Lane;
use super::pace::News;
use crate::exec::memory::image::GlobalMemory;
use crate::memory::network::crossbar::Backlog;
use crate::memory::network::inbox::Inbox;
use crate::sm::{Launched, Quantum, Sm, SmFault};
use crate::time::Cycle;
use std::ops::Range;

/// The time that SMs run in a round, the same for all of them.
pub(super) struct Stretch<'a> {
    pub span: Range<Cycle>,
    /// Cycles per quantum.
    pub quantum: u64,
    pub launched: &'a Launched,
    pub observed: bool,
    pub skip: bool,
    /// Blocks wait for a place.
    pub blocks_wait: bool,
    /// Where it tells others how far it has come with all its blocks.
    pub heard_by: Option<&'a Lane>,
}

/// Cycles after which an SM tells others how far it has come, where they want to know: enough of them that it is not felt.
const UNHEARD: u64 = 12;

impl Stretch<'_> {
    /// Runs an SM that finds so much in the way of its requests as the stretch begins. Without that it has to know by itself
    /// that there is [room](crate::sm::Port::knows_room).
    #[inline]
    pub fn run(
        &self,
        image: &GlobalMemory,
        sm: &mut Sm,
        inbox: &mut Inbox,
        backlog: Option<Backlog>,
    ) -> (News, Result<(), SmFault>) {
        let Range { start, end } = self.span;
        if let Some(backlog) = backlog {
            sm.port.hear_backlog(backlog, start);
        }
        sm.leavings.stores.go_on();
        let mut became_idle = None;
        let mut idle = is_idle(sm, inbox);
        let mut at = start;
        let mut result = Ok(());
        while at < end {
            let next = match self.skip {
                true => self.next_quantum(at, sm, inbox),
                false => at,
            };
            if next >= end {
                at = end;
                break;
            }
            at = next;
            if at > start && (idle || !sm.port.knows_room()) {
                break;
            }
            sm.refill_port(at);
            let to = at + self.for_itself(at, sm);
            inbox.show(to);
            let mut world = Quantum {
                launched: self.launched,
                image,
                inbox,
                observed: self.observed,
                skip: self.skip,
                cycles: self.quantum,
            };
            result = sm.run(to, &mut world);
            at = sm.ran_to();
            if result.is_err() {
                // Others that fail in the same quantum are heard, too.
                at = at.round_down(self.quantum) + self.quantum;
                break;
            }
            let was_idle = std::mem::replace(&mut idle, is_idle(sm, inbox));
            if idle && !was_idle {
                became_idle = Some(at);
            }
            if self.blocks_wait && sm.has_completed() {
                break;
            }
            if let Some(lane) = self.heard_by {
                lane.pass(at);
            }
        }
        let news = News {
            came_to: at,
            moved: sm.moved_to(),
            idle,
            became_idle,
            ..News::of(sm, inbox)
        };
        (news, result)
    }

    /// Cycles, in whole quanta, that an SM can run from the beginning of a quantum `at` on without
    /// looking up, but to see that a block has ended or that there is no room for a request.
    #[inline]
    fn for_itself(&self, at: Cycle, sm: &Sm) -> u64 {
        let left = self.span.end - at;
        if left == self.quantum || !sm.has_blocks() {
            return self.quantum;
        }
        let known = sm.port.known_for(self.quantum);
        let most = match self.heard_by {
            Some(_) => left.min(UNHEARD).max(self.quantum),
            None => left,
        };
        most.min(known) / self.quantum * self.quantum
    }

    /// The beginning of the first quantum from `at` on in which the SM has something to do, as far as
    /// it knows, or in which only the network can tell.
    #[inline]
    fn next_quantum(&self, at: Cycle, sm: &Sm, inbox: &Inbox) -> Cycle {
        let next = sm.next().min(inbox.next()).round_down(self.quantum).max(at);
        match sm.port.awaits_room() {
            true => self.room_at(at, next.min(self.span.end), sm),
            false => next,
        }
    }

    /// The beginning of the first quantum from `at` on, but not after `next`, in which there may be room
    /// for a request that was refused.
    fn room_at(&self, mut at: Cycle, next: Cycle, sm: &Sm) -> Cycle {
        while at < next {
            let last = at + (self.quantum - 1);
            if sm.port.has_room_for_refused(last) || at > self.span.start && !sm.port.knows_room() {
                break;
            }
            at += self.quantum;
        }
        at
    }
}

/// Whether nothing is resident, on its way or waiting.
#[inline]
fn is_idle(sm: &Sm, inbox: &Inbox) -> bool {
    sm.is_idle() && inbox.next() == Cycle::NEVER
}
