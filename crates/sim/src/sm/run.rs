//! Running: which cycles have to run, and the order of the stages within one.
//!
//! The pipeline sleeps in two halves. The second, from the collectors to writeback, says when it
//! has something to do in every cycle that runs. The first, from fetch to issue, is asked at the
//! end of a cycle in which it ran, and again only when its time comes, a warp changes
//! ([`touch`](Sm::touch)), or room at the units does.

use super::*;

impl Sm {
    /// The injection queue has room for so many flits in the quantum that begins with cycle
    /// `now`.
    #[inline]
    pub fn refill_port(&mut self, room: u32, now: Cycle) {
        if self.port.refill(room) {
            let now = now.get();
            self.ldst.wake_up(now);
            self.wake_at = self.wake_at.min(now);
        }
    }

    /// Runs cycles up to (not including) `to`.
    pub fn run(&mut self, to: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        self.watch_begin(quantum);
        let result = self.run_cycles(to.get(), quantum);
        self.watch_end(quantum);
        result
    }

    fn run_cycles(&mut self, to: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let mut now = self.ran;
        if quantum.skip {
            // Nothing has changed since the last run but blocks and packets that have come.
            let next = self.sleeps_until().get().max(now);
            now = self.pass_packets(now, next, to, quantum.inbox);
        }
        while now < to {
            self.cycle(now, quantum)?;
            now += 1;
            if quantum.skip {
                now = self.skip_to(now, to, quantum.inbox);
            }
        }
        self.ran = to;
        // A stepped run asks too: it is how a deadlock is seen.
        self.wake_at = if quantum.skip {
            now
        } else {
            self.next_event(Cycle::new(now)).get()
        };
        Ok(())
    }

    /// The next cycle with something to do, packets that arrive aside.
    pub fn sleeps_until(&self) -> Cycle {
        let arrival = self.arrivals.front().map_or(Cycle::NEVER, |&(at, _)| at);
        Cycle::new(self.wake_at).min(arrival)
    }

    /// One cycle.
    pub(super) fn cycle(&mut self, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let launched = quantum.launched;
        (self.now, self.turned) = (now, 0);
        self.take_arrivals(now, launched);
        self.take_reply(now, quantum.inbox);
        self.write_back(now, launched);
        self.enter_units(now, launched);
        self.memory_cycle(now, launched);
        if quantum.skip && self.first_half_rests(now) {
            self.turned = !0;
            return Ok(());
        }
        if self.model_ticks && self.model.next_event().is_some_and(|at| at <= now) {
            self.touch_all();
            self.model.tick(now, &mut self.groups);
            self.follow_groups(launched);
        }
        self.wake(now, launched);
        if self.stand(now) <= now {
            self.issue(now, quantum)?;
        }
        self.turned = !0;
        self.decode(launched);
        if !self.fetch_stays_at_rest() {
            self.fetch(now, launched);
        }
        if quantum.skip {
            self.first_half_at = self.first_half_wakes(now + 1);
        }
        Ok(())
    }

    /// Whether the first half of the pipeline, from fetch to issue, has nothing to do in a cycle
    /// whose second half has run: its time has not come, and nothing it looks at has changed.
    /// Nearly half of the cycles that run in breadth-first search only move what has been issued.
    #[inline]
    fn first_half_rests(&self, now: u64) -> bool {
        now < self.first_half_at
            && self.stirred.issue == 0
            && !self.stirred.fetch
            && self.room_seen == self.room()
            && !self.front.is_busy()
            // These may change their minds about when without touching a warp.
            && !self.everywhere
            && !self.model_ticks
    }

    /// The next cycle at or after `now` in which the first half has something to do, if nothing
    /// changes that it looks at.
    fn first_half_wakes(&mut self, now: u64) -> u64 {
        if self.front.is_busy() {
            return now;
        }
        let issue = self.stand(now);
        self.first_half_event(now, issue)
    }

    /// Whether fetch has nothing to do in this cycle either.
    #[inline]
    fn fetch_stays_at_rest(&mut self) -> bool {
        if !self.fetch_rests || self.stirred.fetch {
            self.stirred.fetch = false;
            let concerned = self.domains.iter().any(|d| d.concerns_fetch() != 0);
            self.fetch_rests = !concerned;
        }
        self.fetch_rests &= !self.front.wants_cycle();
        self.fetch_rests
    }

    /// One packet from the network.
    pub(super) fn take_reply(&mut self, now: u64, inbox: &mut Inbox) {
        let Some((_, reply)) = inbox.front().filter(|&(at, _)| at.get() <= now) else {
            return;
        };
        if self.passes_by(&reply) {
            // Nobody has to wake up for it.
        } else if port::untoken(reply.token).0 == port::TokenKind::Instruction {
            self.front.take_reply(reply);
        } else if self.ldst.accepts_reply() {
            self.ldst.take_reply(reply, now);
        } else {
            return;
        }
        inbox.pop();
    }

    /// Sleepers whose time is up.
    pub(super) fn wake(&mut self, now: u64, launched: &Launched) {
        if self.sleepers.is_empty() || self.sleepers.iter().all(|&(until, _)| until > now) {
            return;
        }
        self.touch_all();
        let mut sleepers = std::mem::take(&mut self.sleepers);
        sleepers.retain(|&(until, slot)| {
            if until <= now {
                self.let_go(Hold::Asleep, slot);
            }
            until > now
        });
        self.sleepers = sleepers;
        self.follow_groups(launched);
    }

    /// The next cycle at or after `now` that has to run, `now` - 1 having run. Packets on the way
    /// there that would change nothing but a counter are taken as they pass.
    #[inline]
    fn skip_to(&mut self, now: u64, to: u64, inbox: &mut Inbox) -> u64 {
        let next = self.first_half_at.max(now);
        let next = if next > now {
            next.min(self.second_half_event(now))
        } else {
            now
        };
        self.pass_packets(now, next, to, inbox)
    }

    /// Nothing but packets happens before cycle `next`: the cycle at or after `now` that has to
    /// run first.
    #[inline]
    fn pass_packets(&mut self, now: u64, next: u64, to: u64, inbox: &mut Inbox) -> u64 {
        if next == now {
            return now;
        }
        while let Some((at, reply)) = inbox.front() {
            let at = at.get().max(now);
            if at >= next.min(to) {
                break;
            }
            if !self.passes_by(&reply) {
                return at;
            }
            inbox.pop();
            inbox.hold_until(Cycle::new(at + 1)); // one packet per cycle
        }
        next
    }

    /// Whether a packet changes nothing that anybody waits for: part of a line whose rest is
    /// still to come, or an acknowledgement that is not a warp's last.
    fn passes_by(&mut self, reply: &crate::memory::packet::Reply) -> bool {
        if !self.ldst.is_quiet() {
            return false;
        }
        match port::untoken(reply.token) {
            (port::TokenKind::Store, slot) => {
                let stores = &mut self.slots[slot as usize].stores;
                let more = *stores > 1;
                *stores -= more as u32;
                more
            }
            (port::TokenKind::WriteBack, _) => true,
            (port::TokenKind::Uncached, _) => false,
            _ => !reply.last,
        }
    }

    /// The next cycle at or after `now` in which something can happen, packets that arrive aside;
    /// until then every cycle is like the one before.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let now = now.get();
        let first_half = self.first_half_event(now, self.issue_due(now));
        Cycle::new(first_half.min(self.second_half_event(now)))
    }

    /// The same for fetch, decode and issue, which has something to do in cycle `issue`.
    fn first_half_event(&self, now: u64, issue: u64) -> u64 {
        if issue <= now || self.front.is_busy() {
            return now;
        }
        if !self.fetch_rests && self.domains.iter().any(|d| d.concerns_fetch() != 0) {
            return now;
        }
        let mut next = issue;
        let mut by = |time: Option<u64>| next = next.min(time.unwrap_or(u64::MAX));
        by(self.model.next_event().map(|t| t.max(now)));
        by(self.policy.next_event(now));
        for &(t, _) in &self.sleepers {
            next = next.min(t.max(now));
        }
        next
    }

    /// The same for what has been issued, packets that arrive aside.
    #[inline]
    fn second_half_event(&self, now: u64) -> u64 {
        if !self.collectors.stand_still() {
            return now;
        }
        let next = self.ldst.next_event(now);
        if next == now {
            return now;
        }
        let arrival = self.arrivals.front();
        let arrival = arrival.map_or(u64::MAX, |&(t, _)| t.get().max(now));
        let done = self.wheel.next(now).unwrap_or(u64::MAX);
        next.min(arrival).min(done)
    }
}
