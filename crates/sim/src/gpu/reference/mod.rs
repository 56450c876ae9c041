//! A launch on [reference SMs](crate::sm::reference), in the plainest way: quantum after quantum, every SM runs through
//! every cycle, then the memory system does.

mod ends;

use super::run::dispatch::Dispatcher;
use super::{Gpu, SimError};
use crate::memory::system::period;
use crate::sm::reference::{Sm, World};
use crate::sm::{Coming, Launched, summarise};
use crate::stats::{SmStats, Totals};
use crate::time::Cycle;

/// Cycles without anything that happens after which nothing ever will: more than anything takes that says nothing of
/// itself.
const STUCK_AFTER: u64 = 20_000;

/// Quanta between two calls of the progress callback.
const PROGRESS_EVERY: u64 = 1024;

/// A launch under way.
struct Course<'a> {
    launched: &'a Launched,
    start: Cycle,
    quantum: u64,
    dispatcher: Dispatcher,
    /// Logical blocks that have been handed out to virtual ones.
    next_number: u64,
    /// The SMs have been told that nothing is left to be handed out.
    told_last: bool,
    /// By SM: the end of the quantum in which it became idle, if it is.
    idle_since: Vec<Option<Cycle>>,
}

impl Gpu {
    /// Runs a launch, and says what it has come to.
    pub(super) fn run_on_reference(&mut self, launched: &Launched) -> Result<Totals, SimError> {
        let quantum = u64::from(self.machine.gpu.quantum.max(1));
        let start = self.begin_launch();
        let before = self.memory.stats();
        self.reference
            .iter_mut()
            .for_each(|sm| sm.begin(launched, start));
        let (sms, blocks) = (self.reference.len(), launched.grid.blocks());
        let mut course = Course {
            launched,
            start,
            quantum,
            dispatcher: Dispatcher::new(blocks, launched.blocks_per_sm, sms, self.last_sm),
            next_number: blocks,
            told_last: false,
            idle_since: vec![Some(start); sms],
        };
        // A block dispatched in a cycle is first fetched for in the next.
        self.send_blocks(start + 1, &mut course);
        let end = self.run_quanta(&mut course)?;
        self.memory.back_to(end);
        self.last_sm = course.dispatcher.last;
        let retired = self
            .reference
            .iter()
            .map(Sm::last_retired)
            .fold(start, Cycle::max);
        let finish = retired.max(self.memory.idle_since()) + 1;
        self.cycle = finish;
        let mut sm = SmStats::default();
        for core in &mut self.reference {
            core.finish(finish);
            sm.add(core.stats());
        }
        let places = u64::from(launched.blocks_per_sm) * sms as u64;
        summarise(
            self.reference.iter().map(Sm::ended),
            places,
            &mut sm.counters,
        );
        let stacks = self.reference.iter().map(Sm::deepest_stack);
        let deepest = u64::from(stacks.max().unwrap_or(0));
        let totals = self.totals_of(start..finish, sm, &before, deepest);
        match self.options.max_cycles {
            Some(limit) if totals.cycles > limit => {
                Err(self.over_limit_on_reference(limit, &course))
            }
            _ => Ok(totals),
        }
    }

    /// Runs quanta until nothing is left. Returns the end of the last one in which there was something.
    fn run_quanta(&mut self, course: &mut Course) -> Result<Cycle, SimError> {
        let (start, quantum) = (course.start, course.quantum);
        // SMs see each other's stores behind each period.
        let period = period(&self.machine) * quantum;
        for number in 0.. {
            let now = start + number * quantum;
            let to = now + quantum;
            let begins_period = (now - start).is_multiple_of(period);
            if begins_period {
                self.heed_limit_on_reference(now, course)?;
                self.begin_period_on_reference(now + period, course)?;
            }
            self.run_quantum(now, course)?;
            match self.is_a_period_ahead() {
                true => self.memory.run_requests_to(to),
                false => self.memory.advance(to),
            }
            self.receive_on_reference();
            self.send_blocks(to, course);
            let ends_period = (to - start).is_multiple_of(period);
            if ends_period {
                self.end_period_on_reference(to, course)?;
            }
            // Partitions that are ahead may still have something to do in the period.
            if let Some(end) = self.over_on_reference(course).filter(|end| *end <= to) {
                if !ends_period {
                    self.end_period_on_reference(to, course)?;
                }
                return Ok(end);
            }
            if number % PROGRESS_EVERY == PROGRESS_EVERY - 1 {
                let issued = |sm: &Sm| sm.stats().counters.warp_instructions;
                let issued = self.reference.iter().map(issued).sum();
                self.tell_progress(to - start, issued, &course.dispatcher, course.launched)?;
            }
            let moved = self.reference.iter().map(Sm::moved).fold(start, Cycle::max);
            if to.since(moved.max(self.memory.idle_since())) > STUCK_AFTER {
                return Err(SimError::Deadlock(self.stuck_on_reference(moved, course)));
            }
        }
        unreachable!("time has no end")
    }

    /// The SMs run a quantum, one after the other; what they leave is collected.
    fn run_quantum(&mut self, now: Cycle, course: &mut Course) -> Result<(), SimError> {
        let to = now + course.quantum;
        let mut failed = None;
        for (number, sm) in self.reference.iter_mut().enumerate() {
            let backlog = self.memory.requests().backlog(number);
            sm.port.hear_backlog(backlog, now);
            sm.port.refill(now);
            sm.leavings.stores.go_on();
            let replies = &mut self.reference_replies[number];
            replies.inbox.show(to);
            let mut world = World {
                launched: course.launched,
                image: &self.image,
                inbox: &mut replies.inbox,
            };
            if let Err(fault) = sm.run(to, &mut world) {
                failed.get_or_insert((number, fault));
            }
            replies.publish(&self.memory.wires().sms[number]);
        }
        for (number, sm) in self.reference.iter_mut().enumerate() {
            for (cycle, request) in sm.port.sent.drain(..) {
                self.memory.push(cycle, request);
            }
            course.dispatcher.ended(number, sm.take_completed());
            self.printed
                .hand_on(&mut sm.leavings.prints, &mut self.options);
            let idle = sm.is_idle() && self.reference_replies[number].inbox.next() == Cycle::NEVER;
            let since = &mut course.idle_since[number];
            *since = idle.then(|| since.unwrap_or(to));
        }
        match failed {
            Some((sm, fault)) => {
                Err(self.fault(fault, self.reference[sm].threads(), course.launched))
            }
            None => Ok(()),
        }
    }

    /// Blocks go to where there is room for them, and logical blocks to virtual ones that have asked, from cycle `at` on.
    fn send_blocks(&mut self, at: Cycle, course: &mut Course) {
        let sms = &mut self.reference;
        course
            .dispatcher
            .dispatch(at, at + course.quantum, |sm, at, block| {
                sms[sm].expect(at, Coming::Block(block));
            });
        let virtual_blocks = course.launched.grid.virtual_blocks;
        let latency = u64::from(self.machine.virtual_blocks.latency);
        for sm in sms.iter_mut() {
            for request in sm.take_requests() {
                let left = virtual_blocks.is_some_and(|v| course.next_number < v.logical);
                let number = left.then_some(course.next_number);
                course.next_number += u64::from(left);
                let block = request.block;
                sm.expect(
                    at.max(request.at + latency),
                    Coming::Answer { block, number },
                );
            }
        }
        let numbers_left = virtual_blocks.is_some_and(|v| course.next_number < v.logical);
        let first = at == course.start + 1;
        if !first && !course.told_last && !course.dispatcher.has_more() && !numbers_left {
            course.told_last = true;
            for sm in sms.iter_mut().filter(|sm| sm.hears_of_last_block()) {
                sm.expect(at, Coming::LastBlock);
            }
        }
    }

    /// If nothing is left of a launch: the end of the last quantum in which there was.
    fn over_on_reference(&self, course: &Course) -> Option<Cycle> {
        if !course.dispatcher.is_over() || !self.memory.idle() {
            return None;
        }
        let quantum = course.quantum;
        let memory = self.memory.idle_since().round_down(quantum) + quantum;
        let sms = course.idle_since.iter().copied();
        let last = sms.collect::<Option<Vec<Cycle>>>()?;
        Some(last.into_iter().fold(memory, Cycle::max))
    }

    /// Whether periods are longer than quanta: then memory's back end is a period ahead of the SMs.
    fn is_a_period_ahead(&self) -> bool {
        period(&self.machine) > 1
    }

    /// The SMs receive what has come for them.
    fn receive_on_reference(&mut self) {
        for (replies, wires) in self
            .reference_replies
            .iter_mut()
            .zip(&self.memory.wires().sms)
        {
            replies.receive(wires);
        }
    }

    /// A period begins that ends with cycle `end`. Where the back end is ahead it is run up to there, and its atomics are performed.
    fn begin_period_on_reference(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        if !self.is_a_period_ahead() {
            return Ok(());
        }
        self.memory.run_backend_to(end);
        self.receive_on_reference();
        self.perform_atomics_on_reference(end, course)
    }

    /// A period has ended with cycle `end`: the SMs see each other's stores.
    fn end_period_on_reference(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        for sm in &mut self.reference {
            sm.leavings.stores.flush_into(&mut self.image);
        }
        match self.is_a_period_ahead() {
            true => Ok(()),
            false => self.perform_atomics_on_reference(end, course),
        }
    }

    /// Performs the atomics that slices have served before cycle `end`, in that order.
    fn perform_atomics_on_reference(
        &mut self,
        end: Cycle,
        course: &Course,
    ) -> Result<(), SimError> {
        let mut failed = None;
        for (_, sm, token) in self.memory.take_atomics(end) {
            let performed = self.reference[usize::from(sm)].perform_atomic(token, &mut self.image);
            if let Err(fault) = performed {
                failed.get_or_insert((sm, fault));
            }
        }
        match failed {
            Some((sm, fault)) => {
                let threads = self.reference[usize::from(sm)].threads();
                Err(self.fault(fault, threads, course.launched))
            }
            None => Ok(()),
        }
    }
}
