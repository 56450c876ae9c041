//! Running: the order of the stages within a cycle. Which cycles have to run is said in
//! [`skipping`](super::skipping).
//!
//! Stages run back to front within a cycle (writeback first, fetch last), so that a register
//! released in a cycle is usable by that cycle's issue and an instruction takes at least a cycle
//! for each stage.

use super::Sm;
use super::issue::{self, Issue};
use super::launch::{Quantum, SmFault, View};
use super::residents::Residents;
use crate::observe::Observer;
use crate::time::Cycle;

impl Sm {
    /// A quantum begins with cycle `now`.
    #[inline]
    pub fn refill_port(&mut self, now: Cycle) {
        let at = match self.port.refill(now) {
            true => now,
            false => self.port.retry_at().max(now),
        };
        self.memory.wake_up(at);
        self.clock.next = self.clock.next.min(at);
    }

    /// Runs cycles up to (not including) `to`, or, where that is several quanta away, to the end of the one
    /// in which a block completes or a request finds no room.
    pub fn run(&mut self, to: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        let watch = &self.residents.books.watch;
        if (quantum.observed, quantum.details) != (watch.is_on(), watch.hears_details()) {
            self.listen(quantum.observed, quantum.details);
        }
        self.run_cycles(to, quantum)
    }

    /// Tells what has happened in the cycles that have run, up to cycle `to`.
    pub fn tell(&mut self, to: Cycle, observer: &mut dyn Observer) {
        self.residents.books.watch.hand_over(self.id, observer);
        for (slot, event) in self.memory.take_lookups() {
            observer.warp(to, self.id, slot, event);
        }
        if self.residents.books.watch.hears_details() {
            self.tell_of_pipes(observer);
        }
    }

    /// Tells what has become known of pipes: instructions that were folded, and gates of lanes.
    pub fn tell_of_pipes(&mut self, observer: &mut dyn Observer) {
        for (cycle, slot, detail) in self.units.take_folded() {
            observer.detail(cycle, self.id, slot, detail);
        }
        for (cycle, pipe, number, gate) in self.units.take_gate_changes() {
            observer.lanes(cycle, self.id, pipe, number, gate);
        }
    }

    /// An observer listens, to details if so, or none does.
    #[cold]
    pub(super) fn listen(&mut self, on: bool, details: bool) {
        let slots = self.residents.warps.slots();
        self.residents.books.watch.switch(on, details, slots);
        self.memory.watch(on);
        self.units.watch(details);
        self.is_watched = self.looks_at_warps();
        self.results_are_special = details || self.residents.books.plans();
        let residents = &mut self.residents;
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
        if self.is_watched {
            self.residents.tell_paths();
        }
        self.clock.ran = to;
        // A stepped run asks too: it is how a deadlock is seen.
        self.clock.next = if quantum.skip { now } else { self.ask_all(now) };
        Ok(())
    }

    /// One cycle.
    #[inline(always)] // its one caller is the loop over cycles
    fn cycle(&mut self, now: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        let launched = quantum.launched;
        match self.is_watched {
            true => self.start_watched_cycle(now, launched),
            false => self.residents.warps.start_cycle(now),
        }
        self.residents.take_arrivals(now, launched);
        self.take_reply(now, quantum.inbox);
        self.write_back(now, launched);
        if self.collectors.are_to_be_asked() || self.units.are_asked_for_lanes() {
            self.units.step(now, &mut self.collectors, &launched.facts);
        }
        self.memory_step(now, launched);
        if let Some(most) = self.memory_ahead {
            let may = self.memory.backlog() <= most;
            self.collectors.let_memory_issue(may);
        }
        if quantum.skip && self.first_half_rests(now) {
            self.clock.asked = now; // issue does not come to ask
            self.residents.warps.end_turns();
            return Ok(());
        }
        self.residents.tick(now, launched);
        self.residents.wake(now, launched);
        self.residents.tick_plan(now, launched);
        let Residents { warps, books, .. } = &mut self.residents;
        let may_act = self.issue.may_act(now, warps, books, &self.collectors);
        if may_act {
            match books.plans() {
                true => self.issue_planned(now, quantum)?,
                false => self.issue_step(now, quantum, Issue::step)?,
            }
        } else if self.is_watched {
            self.ask_without_issue();
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

    /// The issue stage of a cycle, where the policy plans what all schedulers issue.
    #[inline(never)]
    fn issue_planned(&mut self, now: Cycle, quantum: &mut Quantum) -> Result<(), SmFault> {
        self.issue_step(now, quantum, Issue::step_planned)
    }
}
