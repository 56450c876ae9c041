//! Which cycles have to run.
//!
//! The pipeline sleeps in two halves. The second, from the collectors to writeback, says when it
//! has something to do in every cycle that runs. The first, from fetch to issue, is asked at the
//! end of a cycle in which it ran, and again only when its time comes, a warp changes, or room at
//! the units does. Packets that change nothing but a counter are taken as they pass.

use super::Sm;
use super::memory::{TokenKind, untoken};
use super::residents::Residents;
use crate::memory::network::inbox::Inbox;
use crate::memory::packet::Reply;
use crate::time::Cycle;

/// When an SM runs.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// First cycle that has not run.
    pub ran: Cycle,
    /// The one behind the last in which there was something to do.
    pub moved: Cycle,
    /// Next cycle in which the first half of the pipeline has something to do, as of the last
    /// cycle in which it had.
    pub first_half: Cycle,
    /// Next cycle with something to do, as of the end of the last run; packets and blocks that
    /// arrive aside.
    pub next: Cycle,
    /// First cycle for which a policy that looks at warps has not been asked.
    pub asked: Cycle,
    /// The first half is looked at in every cycle: a part of it may come to have something to do
    /// although no warp changes.
    pub restless: bool,
}

impl Sm {
    /// The next cycle with something to do, packets that arrive aside.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.clock.next.min(self.residents.blocks.next_arrival())
    }

    /// Whether the first half of the pipeline, from fetch to issue, has nothing to do in a cycle
    /// whose second half has run: its time has not come, and nothing it looks at has changed.
    /// Nearly half of the cycles that run in breadth-first search only move what has been issued.
    #[inline]
    pub(super) fn first_half_rests(&self, now: Cycle) -> bool {
        let warps = &self.residents.warps;
        now < self.clock.first_half
            && !self.issue.has_to_look(warps, self.collectors.room())
            && !warps.stirs_fetch()
            && !self.front.is_busy()
            && !self.clock.restless
    }

    /// The next cycle at or after `now` in which the first half has something to do, if nothing
    /// changes that it looks at.
    pub(super) fn ask_first_half(&mut self, now: Cycle) -> Cycle {
        if self.front.is_busy() {
            return now;
        }
        let Residents { warps, books, .. } = &mut self.residents;
        let issue = self.issue.look(now, warps, books, &self.collectors);
        self.first_half_next(now, issue)
    }

    /// When the first half has something to do, if issue has in cycle `issue`.
    #[inline(always)]
    fn first_half_next(&self, now: Cycle, issue: Cycle) -> Cycle {
        if issue <= now {
            return now;
        }
        let front = self.front.next(now, &self.residents.warps);
        issue.min(front).min(self.residents.next().max(now))
    }

    /// The next cycle at or after `now` in which what has been issued has something to do, packets
    /// that arrive aside.
    #[inline]
    fn second_half_next(&self, now: Cycle) -> Cycle {
        if !self.collectors.stand_still() {
            return now;
        }
        let memory = self.memory.next();
        if memory <= now || self.forgets_what_was_looked_up() {
            return now;
        }
        let arrival = self.residents.blocks.next_arrival().max(now);
        memory.min(arrival).min(self.units.next())
    }

    /// The next cycle at or after `now` in which something can happen, packets that arrive aside;
    /// until then every cycle is like the one before.
    pub fn ask_all(&self, now: Cycle) -> Cycle {
        let issue = self.residents.warps.issue_due(&self.collectors);
        self.first_half_next(now, issue.max(now))
            .min(self.second_half_next(now))
    }

    /// The next cycle at or after `now` that has to run, `now` - 1 having run. Packets on the way
    /// there that would change nothing but a counter are taken as they pass.
    #[inline]
    pub(super) fn skip_to(&mut self, now: Cycle, to: Cycle, inbox: &mut Inbox) -> Cycle {
        let next = self.clock.first_half.max(now);
        let next = if next > now {
            next.min(self.second_half_next(now))
        } else {
            now
        };
        self.pass_packets(now, next, to, inbox)
    }

    /// Nothing but packets happens before cycle `next`: the cycle at or after `now` that has to
    /// run first.
    #[inline]
    pub(super) fn pass_packets(
        &mut self,
        now: Cycle,
        next: Cycle,
        to: Cycle,
        inbox: &mut Inbox,
    ) -> Cycle {
        if next == now || inbox.next() >= next.min(to) {
            return next;
        }
        self.pass_them(now, next, to, inbox)
    }

    #[inline(never)]
    fn pass_them(&mut self, now: Cycle, next: Cycle, to: Cycle, inbox: &mut Inbox) -> Cycle {
        loop {
            let at = inbox.next().max(now);
            if at >= next.min(to) {
                return next;
            }
            if self.memory.is_quiet() && inbox.pass_parts(now) {
                continue;
            }
            let mut passes = |reply: &Reply| !reply.is_in_parts() && self.passes_by(reply);
            if !inbox.front().is_some_and(|(_, reply)| passes(&reply)) {
                return at;
            }
            inbox.pop();
            inbox.hold_until(at + 1); // one packet per cycle
        }
    }

    /// Whether a packet whose line does not [come in parts](Reply::is_in_parts) changes nothing that a warp
    /// waits for: part of a line whose rest is still to come, or an acknowledgement that is not a warp's last.
    pub(super) fn passes_by(&mut self, reply: &Reply) -> bool {
        if !self.memory.is_quiet() {
            return false;
        }
        match untoken(reply.token) {
            (TokenKind::Store, slot) => self.residents.acknowledged_by_the_way(&[slot as u16]),
            (TokenKind::JointStore, number) => {
                let storers = self.memory.storers(number);
                let passes = self.residents.acknowledged_by_the_way(storers);
                if passes {
                    self.memory.acknowledged_by_the_way(number);
                }
                passes
            }
            (TokenKind::WriteBack, _) => true,
            (TokenKind::Uncached, _) => false,
            _ => !reply.last,
        }
    }
}
