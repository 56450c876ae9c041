//! The load/store unit's part of a cycle: packets that come, accesses that move, and what is told of them.

use super::Sm;
use super::launch::Launched;
use super::memory::{self, TokenKind, untoken};
use super::units::NextCycle;
use crate::memory::network::inbox::Inbox;
use crate::time::Cycle;

impl Sm {
    /// One packet from the network.
    #[inline]
    pub(super) fn take_reply(&mut self, now: Cycle, inbox: &mut Inbox) {
        if inbox.next() > now || self.memory.is_quiet() && inbox.pass_parts(now) {
            return;
        }
        let Some((_, reply)) = inbox.front() else {
            return;
        };
        if !reply.is_in_parts() && self.passes_by(&reply) {
            // No part has to wake up for it.
        } else if untoken(reply.token).0 == TokenKind::Instruction {
            self.front.take_reply(reply);
        } else if self.memory.accepts_reply() {
            self.memory.take_reply(reply, now);
        } else {
            return;
        }
        inbox.pop();
    }

    /// The load/store unit, and with it the operand collectors.
    #[inline(always)] // its one caller is the cycle
    pub(super) fn memory_step(&mut self, now: Cycle, launched: &Launched) {
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
        if self.memory.enter_for_line(now) {
            // Operands are before all that has issued to it.
        } else if self.memory.accepts()
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
    pub(super) fn forgets_what_was_looked_up(&self) -> bool {
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
}
