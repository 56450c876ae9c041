//! The windows of a launch: the engine runs all components to the end of one, then what has to be done for all of them together is done, in SM order.
//!
//! A window is a period, after which SMs see each other's stores; or a quantum of it, where an observer, a policy or the printer has to know of every quantum.

use super::course::Course;
use super::hot::Both;
use super::world::{Failed, World};
use crate::gpu::{Gpu, SimError};
use crate::time::Cycle;
use warpsim_engine::Component;

impl Gpu {
    /// Runs the windows of the period that begins with cycle `now`, or of less if the launch turns out to be over.
    pub(super) fn run_period(&mut self, now: Cycle, course: &mut Course) -> Result<(), SimError> {
        let end = now + course.period;
        self.begin_period(end, course)?;
        let mut at = now;
        while at < end {
            let to = match course.meets_each_quantum() {
                true => at + course.quantum,
                false => end,
            };
            at = self.run_window(at..to, course)?;
            self.meet(at, course);
            if self.over(course).is_some_and(|over| over <= at) {
                break;
            }
            if self.options.skip && at < end {
                at = self.next(at).min(end).round_down(course.quantum).max(at);
                self.skip_to(at, course);
            }
        }
        self.end_period(end, course)
    }

    /// Runs all components through a window. Returns where it has ended, which is earlier where the launch may be over.
    fn run_window(
        &mut self,
        span: std::ops::Range<Cycle>,
        course: &mut Course,
    ) -> Result<Cycle, SimError> {
        let mut world = World::new(course.launched, &self.image, course.quantum);
        world.from = span.start;
        world.skip = self.options.skip;
        world.observed = course.hot.is_some();
        let memory: [Option<&mut dyn Component<World>>; 2] = match self.is_ahead {
            true => {
                let (requests, backend) = self.memory.apart();
                [Some(requests), Some(backend)]
            }
            false => [Some(&mut self.memory), None],
        };
        let sites = self.sms.iter_mut();
        let components = sites
            .map(|site| site as &mut dyn Component<World>)
            .chain([&mut course.blocks as &mut dyn Component<World>])
            .chain(memory.into_iter().flatten());
        let ended = self.engine.run(components, span.end.get(), &world);
        match world.first_failed() {
            Some(Failed { sm, fault, .. }) => {
                Err(self.fault(fault, self.sms[sm].sm.threads(), course.launched))
            }
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

    /// A period begins that ends with cycle `end`.
    fn begin_period(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        if course.sampled {
            self.memory.count_at(end);
        }
        if !self.performs_atomics_before(course) {
            return Ok(());
        }
        self.memory.run_backend_to(end);
        self.perform_atomics(end, course)
    }

    /// All SMs have come to the end of a period: the others see what they have stored.
    fn end_period(&mut self, end: Cycle, course: &Course) -> Result<(), SimError> {
        for site in &mut self.sms {
            if site.sm.has_stored() {
                site.sm.leavings.stores.flush_into(&mut self.image);
            }
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
        course.period > course.quantum
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
            Some((sm, fault)) => {
                let threads = self.sms[usize::from(sm)].sm.threads();
                Err(self.fault(fault, threads, course.launched))
            }
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
    pub(super) fn next(&mut self, now: Cycle) -> Cycle {
        let mut next = self.memory.next_event();
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
        if !course.blocks.dispatcher.is_over() || !self.memory.idle() {
            return None;
        }
        let quantum = course.quantum;
        let memory = self.memory.idle_since().round_down(quantum) + quantum;
        let mut since = self.sms.iter().map(|site| site.idle_since());
        since.try_fold(memory, |last, since| Some(last.max(since?)))
    }
}
