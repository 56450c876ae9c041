//! Windows of a launch: the engine runs all components to the end of one, then what has to be done for all of them together is done, in SM order.
//!
//! A window is a period, after which SMs see each other's stores; or a quantum of it, where an observer, a policy or the printer has to know of every quantum; or,
//! on several threads, as many periods as stores need not be shown for.

use super::course::{Clocking, Course};
use super::hot::Both;
use super::world::{Failed, World};
use crate::gpu::{Gpu, SimError};
use crate::time::Cycle;
use warpsim_engine::Part;

impl Gpu {
    /// Runs the windows of the period that begins with cycle `now`, or of several. Returns the end of the last, and that of the launch if it turns out to
    /// have been over before.
    pub(super) fn run_windows(
        &mut self,
        now: Cycle,
        course: &mut Course,
    ) -> Result<(Cycle, Option<Cycle>), SimError> {
        let Clocking { quantum, period } = course.clocking;
        if course.begins_span(now) {
            self.show_stores();
        }
        let end = match self.has_help() {
            true => course.unseen_until(now).unwrap_or(now + period),
            false => now + period,
        };
        self.begin_period(now, end, course)?;
        let mut at = now;
        while at < end {
            let to = match course.meets_each_quantum() {
                true => at + quantum,
                false => end,
            };
            at = self.run_window(at..to, end, course)?;
            if at < to && end > now + period {
                self.memory
                    .note_early(now + (at - now).next_multiple_of(period));
            }
            self.meet(at, course);
            if at == end {
                break;
            }
            if let Some(over) = self.over(course)
                && over <= at
            {
                self.end_period(at, course)?;
                return Ok((end, Some(over)));
            }
            if self.options.skip {
                let next = self.next(at).min(end).round_down(quantum).max(at);
                self.skip_to(next, course);
                at = next;
            }
        }
        self.end_period(end, course)?;
        Ok((end, None))
    }

    /// Whether other threads help.
    fn has_help(&mut self) -> bool {
        self.engine.crew().is_some_and(|crew| !crew.is_alone())
    }

    /// Runs all components through a window of a time for which stores are not shown and which ends with cycle `end`. Returns where the window has
    /// ended, which is earlier where the launch may be over.
    fn run_window(
        &mut self,
        span: std::ops::Range<Cycle>,
        end: Cycle,
        course: &mut Course,
    ) -> Result<Cycle, SimError> {
        let Clocking { quantum, period } = course.clocking;
        let (from, to) = (span.start.get(), span.end.get());
        let mut world = World::new(course.launched, &self.image, quantum);
        world.from = span.start;
        world.skip = self.options.skip;
        world.observed = course.hot.is_some();
        let mut parts: Vec<Part<World>> = Vec::with_capacity(self.sms.len() + 3);
        let sites = self.sms.iter_mut();
        parts.extend(sites.map(|site| {
            let clock = site.clock().get(); // it may have come further than where the window before has ended
            Part::new(site, clock, 0)
        }));
        parts.push(Part::new(&mut course.blocks, from, 0));
        if self.is_ahead {
            let clock = self.memory.backend_clock().get();
            let (requests, backend) = self.memory.apart();
            parts.push(Part::new(requests, from, 0));
            parts.push(Part::new(backend, clock, end.get() + period - to));
        } else {
            parts.push(Part::new(&mut self.memory, from, 0));
        }
        let ended = self.engine.run(&mut parts, to, &world);
        drop(parts);
        match world.first_failed() {
            Some(Failed { sm, fault, .. }) => Err(self.fault(sm, fault, course.launched)),
            None => Ok(Cycle::new(ended)),
        }
    }

    /// All components have come to cycle `at`: does what is to be done for all SMs, in their order.
    fn meet(&mut self, at: Cycle, course: &mut Course) {
        let Course { blocks, hot, .. } = course;
        for site in &mut self.sms {
            site.receive();
            let sm = &mut site.sm;
            match (hot.as_mut(), self.options.observer.as_deref_mut()) {
                (Some(spots), Some(observer)) => sm.tell(at, &mut Both(spots, observer)),
                (Some(spots), None) => sm.tell(at, spots),
                (None, Some(observer)) => sm.tell(at, observer),
                (None, None) => {}
            }
            if !sm.leavings.prints.is_empty() {
                self.printed
                    .hand_on(&mut sm.leavings.prints, &mut self.options);
            }
        }
        blocks.hand_out_numbers(at, &mut self.sms);
        if blocks.are_all_out() {
            for site in &mut self.sms {
                site.sm.expect_no_more(at);
            }
        }
    }

    /// A time begins with cycle `now` in which stores are not shown, and which ends with cycle `end`.
    fn begin_period(&mut self, now: Cycle, end: Cycle, course: &Course) -> Result<(), SimError> {
        self.memory.note_at(end);
        if !self.performs_atomics_before(course) {
            return Ok(());
        }
        let first = now + course.clocking.period;
        self.memory.run_backend_to(first);
        self.perform_atomics(first, course)
    }

    /// All SMs have come to the end of a period: the others see what they have stored.
    fn end_period(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        if !course.launched.reads_no_stores {
            self.show_stores();
        }
        match self.performs_atomics_before(course) {
            true => Ok(()),
            false => self.perform_atomics(end, course),
        }
    }

    /// Whether the atomics of a period are performed before it, so that a warp that has the answer to one finds it in memory. All that its thread has stored
    /// before is there, too, because an atomic is served at least two periods after it was sent. Where a period is a quantum, no answer comes within it, and
    /// atomics are performed behind it.
    fn performs_atomics_before(&self, course: &Course) -> bool {
        course.clocking.period > course.clocking.quantum
    }

    /// SMs see what all of them have stored.
    pub(super) fn show_stores(&mut self) {
        for site in &mut self.sms {
            if site.sm.has_stored() {
                site.sm.leavings.stores.flush_into(&mut self.image);
            }
        }
    }

    /// Performs the atomics that slices have served before cycle `end`, in that order.
    fn perform_atomics(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        let mut failed = None;
        for (_, sm, token) in self.memory.take_atomics(end) {
            let site = &mut self.sms[usize::from(sm)];
            if let Err(fault) = site.sm.perform_atomic(token, &mut self.image) {
                failed.get_or_insert((sm, fault));
            }
        }
        match failed {
            Some((sm, fault)) => Err(self.fault(sm.into(), fault, course.launched)),
            None => Ok(()),
        }
    }

    /// Nothing happens before cycle `now`.
    pub(super) fn skip_to(&mut self, now: Cycle, course: &mut Course) {
        for site in &mut self.sms {
            site.skip_to(now);
        }
        course.blocks.skip_to(now);
        self.memory.skip_to(now);
    }

    /// The next cycle, `now` at the earliest, in which anything can happen anywhere.
    pub(super) fn next(&self, now: Cycle) -> Cycle {
        let mut next = self.memory.next();
        for (number, site) in self.sms.iter().enumerate() {
            let wanted = site.sm.port.wanted();
            next = next.min(match self.options.skip {
                true if site.sm.port.awaits_room() && self.memory.has_room_soon(number, wanted) => {
                    now
                }
                true => site.next(),
                // An SM that steps is always awake: ask what it could do.
                false => site.ask_all(now),
            });
            if next <= now {
                return now;
            }
        }
        next
    }

    /// If nothing is left of a launch: the end of the last quantum in which there was.
    pub(super) fn over(&self, course: &Course) -> Option<Cycle> {
        if course.blocks.completed < course.blocks.total || !self.memory.idle() {
            return None;
        }
        let quantum = course.clocking.quantum;
        let memory = self.memory.idle_since().round_down(quantum) + quantum;
        let mut since = self.sms.iter().map(|site| site.idle_since());
        since.try_fold(memory, |last, since| Some(last.max(since?)))
    }
}
