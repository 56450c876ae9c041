//! Running: which cycles have to run, and the order of the stages within one.

use super::*;

impl Sm {
    /// Runs cycles up to (not including) `to`.
    pub fn run(&mut self, to: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        self.watch_begin(quantum);
        let result = self.run_cycles(to, quantum);
        self.watch_end(quantum);
        result
    }

    pub(super) fn run_cycles(&mut self, to: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let mut now = self.ran;
        if quantum.skip {
            // Nothing has changed since the last run but blocks and packets that have come.
            let next = self.sleeps_until().max(now);
            now = self.pass_packets(now, next, to);
        }
        while now < to {
            self.cycle(now, quantum)?;
            now += 1;
            if quantum.skip {
                now = self.skip_to(now, to);
            }
        }
        self.ran = to;
        // A stepped run asks too: it is how a deadlock is seen.
        self.wake_at = if quantum.skip {
            now
        } else {
            self.next_event(now)
        };
        Ok(())
    }

    /// The next cycle with something to do, packets that arrive aside.
    pub fn sleeps_until(&self) -> u64 {
        let arrival = self.arrivals.front().map_or(u64::MAX, |&(at, _)| at);
        self.wake_at.min(arrival)
    }

    /// One cycle.
    pub(super) fn cycle(&mut self, now: u64, quantum: &mut Quantum) -> Result<(), SmFault> {
        let launched = quantum.launched;
        (self.now, self.turned) = (now, 0);
        self.take_arrivals(now, launched);
        self.take_reply(now);
        self.write_back(now, launched);
        self.enter_units(now, launched);
        self.memory_cycle(now, launched);
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
        Ok(())
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
    pub(super) fn take_reply(&mut self, now: u64) {
        let Some(&reply) = self.port.arrived(now) else {
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
        self.port.inbox.pop_front();
    }

    /// Sleepers whose time is up.
    pub(super) fn wake(&mut self, now: u64, launched: &Launched) {
        if self.sleepers.iter().all(|&(until, _)| until > now) {
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

    /// The next cycle at or after `now` that has to run. Packets on the way there that would
    /// change nothing but a counter are taken as they pass.
    pub(super) fn skip_to(&mut self, now: u64, to: u64) -> u64 {
        let mut next = self.next_event_but_issue(now);
        if next > now {
            next = next.min(self.stand(now));
        }
        self.pass_packets(now, next, to)
    }

    /// Nothing but packets happens before cycle `next`: the cycle at or after `now` that has to
    /// run first.
    #[inline]
    fn pass_packets(&mut self, now: u64, next: u64, to: u64) -> u64 {
        if next == now {
            return now;
        }
        while let Some(&(at, reply)) = self.port.inbox.front() {
            let at = at.max(now);
            if at >= next.min(to) || !self.passes_by(&reply) {
                return next.min(at);
            }
            self.port.inbox.pop_front();
            if let Some(behind) = self.port.inbox.front_mut() {
                behind.0 = behind.0.max(at + 1); // one packet a cycle
            }
        }
        next
    }

    /// Whether a packet changes nothing that anybody waits for: part of a line whose rest is
    /// still to come, or an acknowledgement that is not a warp's last.
    pub(super) fn passes_by(&mut self, reply: &crate::memory::packet::Reply) -> bool {
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

    /// The next cycle at or after `now` in which something can happen; until then every cycle
    /// is like the one before.
    pub fn next_event(&self, now: u64) -> u64 {
        let inside = self.next_event_but_issue(now).min(self.issue_due(now));
        inside.min(self.port.next().map_or(u64::MAX, |t| t.max(now)))
    }

    /// The same, packets that arrive and warps that issue aside.
    fn next_event_but_issue(&self, now: u64) -> u64 {
        if !self.collectors.stand_still() || self.front.is_busy() {
            return now;
        }
        let mut next = self.ldst.next_event(now);
        if next == now {
            return now;
        }
        if !self.fetch_rests && self.domains.iter().any(|d| d.concerns_fetch() != 0) {
            return now;
        }
        let mut by = |time: Option<u64>| next = next.min(time.unwrap_or(u64::MAX));
        by(self.wheel.next(now));
        by(self.arrivals.front().map(|&(t, _)| t.max(now)));
        by(self.model.next_event().map(|t| t.max(now)));
        by(self.policy.next_event(now));
        for &(t, _) in &self.sleepers {
            next = next.min(t.max(now));
        }
        next
    }
}
