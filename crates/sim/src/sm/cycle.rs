//! Running: the order of the stages within a cycle, and which cycles have to run.
//!
//! Stages run back to front within a cycle (writeback first, fetch last), so that a register
//! released in a cycle is usable by that cycle's issue and an instruction takes at least a cycle
//! for each stage.
//!
//! The pipeline sleeps in two halves. The second, from the collectors to writeback, says when it
//! has something to do in every cycle that runs. The first, from fetch to issue, is asked at the
//! end of a cycle in which it ran, and again only when its time comes, a warp changes, or room at
//! the units does.

use super::Sm;
use super::facts::OpFacts;
use super::issue::{self, Issue};
use super::launch::{Launched, Quantum, SmFault, View};
use super::memory::{self, Slots, TokenKind, untoken};
use super::units::{Done, NextCycle};
use crate::memory::network::inbox::Inbox;
use crate::memory::packet::Reply;
use crate::observe::Observer;
use crate::schedule::Together;
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
    /// The first half is looked at in every cycle: a part of it may come to have something to do
    /// although no warp changes.
    pub restless: bool,
}

impl Sm {
    /// A quantum begins with cycle `now`.
    #[inline]
    pub fn refill_port(&mut self, now: Cycle) {
        if self.port.refill(now) {
            self.memory.wake_up(now);
            self.clock.next = self.clock.next.min(now);
        }
    }

    /// Runs cycles up to (not including) `to`, or, where that is several quanta away, to the end of the one
    /// in which a block completes or a request finds no room.
    pub fn run(&mut self, to: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        if quantum.observed != self.residents.books.watch.is_on() {
            self.listen(quantum.observed);
        }
        self.run_cycles(to, quantum)
    }

    /// Tells what has happened in the cycles that have run, up to cycle `to`.
    pub fn tell(&mut self, to: Cycle, observer: &mut dyn Observer) {
        self.residents.books.watch.hand_over(self.id, observer);
        for (slot, event) in self.memory.take_lookups() {
            observer.warp(to, self.id, slot, event);
        }
    }

    /// Somebody listens, or nobody does.
    #[cold]
    pub(super) fn listen(&mut self, on: bool) {
        let residents = &mut self.residents;
        residents.books.watch.switch(on, residents.warps.slots());
        self.memory.watch(on);
        let in_step = residents.books.want_step();
        self.clock.restless = in_step || residents.model_ticks();
        if residents.warps.keep_in_step(in_step) {
            self.clock.next = self.clock.ran;
        }
    }

    fn run_cycles(&mut self, mut to: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        let mut now = self.clock.ran;
        let completed = self.residents.blocks.completed();
        if quantum.skip {
            // Nothing has changed since the last run but blocks and packets that have come.
            let next = self.next().max(now);
            now = self.pass_packets(now, next, to, quantum.inbox);
        } else if self.next().min(quantum.inbox.next()) < to {
            // A stepped run is awake in every cycle: what counts is whether a skipped one would be.
            self.clock.moved = to;
        }
        while now < to {
            if let Err(e) = self.cycle(now, quantum) {
                self.clock.ran = now;
                return Err(e);
            }
            now += 1;
            if self.residents.blocks.completed() != completed || self.port.awaits_room() {
                to = to.min(now.round_up(quantum.cycles));
            }
            if quantum.skip {
                self.clock.moved = now;
                now = self.skip_to(now, to, quantum.inbox);
            }
        }
        self.clock.ran = to;
        // A stepped run asks too: it is how a deadlock is seen.
        self.clock.next = if quantum.skip { now } else { self.ask_all(now) };
        Ok(())
    }

    /// The next cycle with something to do, packets that arrive aside.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.clock.next.min(self.residents.blocks.next_arrival())
    }

    /// One cycle.
    #[inline(always)] // its one caller is the loop over cycles
    fn cycle(&mut self, now: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        let launched = quantum.launched;
        self.residents.warps.start_cycle(now);
        if self.units.power().is_some() {
            self.catch_up_power(now, launched);
        }
        self.residents.take_arrivals(now, launched);
        self.take_reply(now, quantum.inbox);
        self.write_back(now, launched);
        if self.collectors.are_to_be_asked() {
            self.units.step(now, &mut self.collectors, &launched.facts);
        }
        self.memory_step(now, launched);
        if let Some(most) = self.memory_ahead {
            let may = self.memory.backlog() <= most;
            self.collectors.let_memory_issue(may);
        }
        if quantum.skip && self.first_half_rests(now) {
            self.residents.warps.end_turns();
            return Ok(());
        }
        self.residents.tick(now, launched);
        self.residents.wake(now, launched);
        self.residents.tick_plan(now, launched);
        if self
            .issue
            .may_act(now, &mut self.residents, &self.collectors)
        {
            match self.issue.is_plain(&self.residents) {
                true => self.issue_step(now, quantum, Issue::step)?,
                false => self.issue_otherwise(now, quantum)?,
            }
        }
        self.residents.warps.end_turns();
        self.front
            .step(now, &mut self.residents, &mut self.port, launched);
        if quantum.skip {
            self.clock.first_half = self.ask_first_half(now + 1);
        }
        Ok(())
    }

    /// Issue's part of a cycle.
    #[inline(always)]
    fn issue_step(
        &mut self,
        now: Cycle,
        quantum: &mut Quantum,
        step: impl FnOnce(&mut Issue, Cycle, &mut issue::Surroundings) -> Result<(), SmFault>,
    ) -> Result<(), SmFault> {
        let mut view = View {
            launched: quantum.launched,
            image: quantum.image,
            leavings: &mut self.leavings,
            sm: self.id,
            core_mhz: self.core_mhz,
        };
        let mut with = issue::Surroundings {
            residents: &mut self.residents,
            collectors: &mut self.collectors,
            units: &mut self.units,
            memory: &mut self.memory,
            view: &mut view,
        };
        step(&mut self.issue, now, &mut with)
    }

    /// The same where schedulers do not take their turns one by one.
    #[inline(never)]
    fn issue_otherwise(&mut self, now: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        self.issue_step(now, quantum, Issue::step_otherwise)
    }

    /// One packet from the network.
    #[inline]
    fn take_reply(&mut self, now: Cycle, inbox: &mut Inbox) {
        if inbox.next() > now || self.memory.is_quiet() && inbox.pass_parts(now) {
            return;
        }
        let Some((_, reply)) = inbox.front() else {
            return;
        };
        if !reply.is_in_parts() && self.passes_by(&reply) {
            // Nobody has to wake up for it.
        } else if untoken(reply.token).0 == TokenKind::Instruction {
            self.front.take_reply(reply);
        } else if self.memory.accepts_reply() {
            self.memory.take_reply(reply, now);
        } else {
            return;
        }
        inbox.pop();
    }

    /// ALU results whose time has come.
    #[inline]
    fn write_back(&mut self, now: Cycle, launched: &Launched) {
        while let Some(done) = self.units.pop(now) {
            let facts = &launched.facts[done.pc as usize];
            if self.residents.books.plans() {
                self.write_back_gang(done, now, facts, launched);
                continue;
            }
            self.collectors.write(done.slot, &facts.write_banks);
            self.residents.complete_here(done.slot, facts, launched);
            self.residents.follow(launched);
            if facts.control && self.front.waits_for_branches() {
                self.residents.resolve(done.slot);
            }
        }
    }

    /// An ALU result where warps may go in gangs: with it, those of the other warps of its gang that come
    /// next in the same cycle.
    #[inline(never)]
    fn write_back_gang(&mut self, done: Done, now: Cycle, facts: &OpFacts, launched: &Launched) {
        let gang = match done.slices {
            0 => {
                let gang = self.pop_gang(done, now);
                for slot in self.residents.warps.slots_of(gang) {
                    self.collectors.write(slot, &facts.write_banks);
                }
                gang
            }
            // Its collectors are ideal: no bank is busy with it.
            slices => Together::new(self.residents.warps.place(done.slot), 1, slices),
        };
        match gang.len() {
            1 => self.residents.complete(done.slot, facts, launched),
            _ => self.residents.complete_gang(gang, facts, launched),
        }
        self.residents.follow(launched);
        if facts.control && self.front.waits_for_branches() {
            for slot in self.residents.warps.slots_of(gang) {
                self.residents.resolve(slot);
            }
        }
    }

    /// The warps of a home warp, that of `done` the first, whose results of one instruction come one behind
    /// the other in this cycle: takes those of the others.
    #[inline]
    fn pop_gang(&mut self, done: Done, now: Cycle) -> Together {
        let warps = &self.residents.warps;
        let Some(mut gang) = warps.gang_of(Slots::one(done.slot)) else {
            return Together::alone(warps.place(done.slot));
        };
        while let Some(next) = self.units.peek(now)
            && next.slices == 0
            && next.pc == done.pc
            && let Some(next) = warps.gang_of(Slots::one(next.slot))
            && let Some(more) = gang.with(next)
        {
            self.units.pop(now);
            gang = more;
        }
        gang
    }

    /// The load/store unit, and with it the operand collectors.
    #[inline(always)] // its one caller is the cycle
    fn memory_step(&mut self, now: Cycle, launched: &Launched) {
        let mut awake = self.memory.is_awake(now);
        let collectors_rest = self.collectors.stand_still();
        if !awake && collectors_rest && !self.forgets_what_was_looked_up() {
            debug_assert!(
                !self.memory.accepts()
                    || self.collectors.oldest_for_memory(&launched.facts).is_none()
            );
            self.collectors.end_cycle();
            return;
        }
        if self.residents.may_forget_lines() {
            self.forget_lines(now);
            awake = self.memory.is_awake(now); // some lookups may be due again
        }
        if awake {
            let (memory, mut with) = self.memory_with(launched);
            memory.write_back(now, &mut with);
        }
        if collectors_rest {
            self.collectors.end_cycle();
        } else {
            let (units, facts) = (&mut self.units, &launched.facts[..]);
            self.collectors.step(facts, NextCycle { units, facts, now });
        }
        if awake {
            let (memory, mut with) = self.memory_with(launched);
            memory.cycle(now, &mut with);
        }
        if self.memory.accepts()
            && let Some(group) = self.collectors.oldest_for_memory(&launched.facts)
        {
            let op = self.collectors.leave(group);
            self.memory.enter(op.memory, now);
        }
        if !self.events.is_empty() {
            self.hear_of_memory(launched);
        }
    }

    /// The load/store unit and what is around it.
    #[inline(always)]
    fn memory_with<'a>(
        &'a mut self,
        launched: &'a Launched,
    ) -> (&'a mut memory::LoadStore, memory::Surroundings<'a>) {
        let with = memory::Surroundings {
            collectors: &mut self.collectors,
            facts: &launched.facts,
            port: &mut self.port,
            stats: &mut self.residents.books.stats.counters,
            events: &mut self.events,
        };
        (&mut self.memory, with)
    }

    /// The data cache forgets its lines where a fence was passed or, if it is to, the last block has left.
    #[cold]
    fn forget_lines(&mut self, now: Cycle) {
        let emptied = self.residents.take_emptied() && self.flush_l1_when_idle;
        if self.residents.take_fence_passed() || emptied {
            let stats = &mut self.residents.books.stats.counters;
            self.memory.invalidate_data(now, stats);
        }
    }

    /// Whether it may do so while there are lookups that have been made before their time.
    #[inline]
    fn forgets_what_was_looked_up(&self) -> bool {
        self.residents.may_forget_lines() && self.memory.has_looked_ahead()
    }

    /// Hands on what has happened in the load/store unit.
    #[inline(never)]
    fn hear_of_memory(&mut self, launched: &Launched) {
        let mut events = &self.events[..];
        let plans = self.residents.books.plans();
        while let Some((&event, rest)) = events.split_first() {
            events = rest;
            if plans && let Some(others) = self.residents.heard_by_gang(event, rest, launched) {
                events = &rest[others..];
                continue;
            }
            let record = |op| self.memory.record(op);
            self.residents.memory_event(event, record, launched);
        }
        self.events.clear();
        self.residents.follow(launched);
    }

    /// Whether the first half of the pipeline, from fetch to issue, has nothing to do in a cycle
    /// whose second half has run: its time has not come, and nothing it looks at has changed.
    /// Nearly half of the cycles that run in breadth-first search only move what has been issued.
    #[inline]
    fn first_half_rests(&self, now: Cycle) -> bool {
        let warps = &self.residents.warps;
        now < self.clock.first_half
            && !self.issue.has_to_look(warps, self.collectors.room())
            && !warps.stirs_fetch()
            && !self.front.is_busy()
            && !self.clock.restless
    }

    /// The next cycle at or after `now` in which the first half has something to do, if nothing
    /// changes that it looks at.
    fn ask_first_half(&mut self, now: Cycle) -> Cycle {
        if self.front.is_busy() {
            return now;
        }
        let issue = self.issue.look(now, &mut self.residents, &self.collectors);
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
    fn skip_to(&mut self, now: Cycle, to: Cycle, inbox: &mut Inbox) -> Cycle {
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
    fn pass_packets(&mut self, now: Cycle, next: Cycle, to: Cycle, inbox: &mut Inbox) -> Cycle {
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

    /// Whether a packet, of other lines than those that [come in parts](Reply::is_in_parts), changes nothing that anybody
    /// waits for: part of a line whose rest is still to come, or an acknowledgement that is not a warp's last.
    fn passes_by(&mut self, reply: &Reply) -> bool {
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
