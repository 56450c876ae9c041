//! A launch with timing: one [window](super::windows) after the other, and what it comes to.

use super::course::Course;
use super::sample::Sampler;
use crate::gpu::run::site::Site;
use crate::gpu::{Gpu, SimError, Stuck};
use crate::memory::stats::MemoryStats;
use crate::observe::Wants;
use crate::sm::{Launched, summarise};
use crate::stats::{MemoryCounters, SmStats, Totals};
use crate::time::Cycle;

/// Cycles between two calls of the progress callback.
const PROGRESS_EVERY: u64 = 4096;

impl Gpu {
    /// Runs a launch with timing, and says what it has come to.
    pub(super) fn run_timed(
        &mut self,
        launched: &Launched,
        files: &[(u32, String)],
    ) -> Result<Totals, SimError> {
        let start = self.begin_launch();
        let before = self.memory.stats();
        let observer = self.options.observer.as_deref();
        for (number, site) in self.sms.iter_mut().enumerate() {
            site.sm.begin(launched, start);
            site.wants = observer.map_or(Wants::Nothing, |o| o.wants(number as u16));
        }
        if let Some(observer) = &mut self.options.observer {
            observer.launched(start, &launched.kernel, files);
        }
        let mut sampler = self.sampler(start, &MemoryCounters::of(&before));
        let mut course = self.set_out(launched, start, sampler.is_some());
        let end = self.run_to_end(&mut course, sampler.as_mut())?;
        self.memory.back_to(end);
        self.last_sm = course.blocks.dispatcher.last;
        let finish = self.finished(start);
        if course.limit.is_some_and(|limit| finish > limit) {
            return Err(self.over_limit(&course, Some(finish - start)));
        }
        Ok(self.add_up(&course, finish, &before, sampler))
    }

    /// Runs windows until nothing is left of a launch. Returns the cycle in which it is over.
    fn run_to_end(
        &mut self,
        course: &mut Course,
        mut sampler: Option<&mut Sampler>,
    ) -> Result<Cycle, SimError> {
        let (start, period) = (course.start, course.period);
        let mut now = start;
        self.skip_to(now, course);
        loop {
            self.heed_limit(now, course)?;
            self.run_period(now, course)?;
            let begin = now;
            now += period;
            if let Some(over) = self.over(course).filter(|over| *over <= now) {
                return Ok(over);
            }
            // Once the last block is done the launch may turn out to have ended already.
            if let Some(sampler) = &mut sampler
                && !course.blocks.dispatcher.is_over()
            {
                self.sample(sampler, now, course.launched);
            }
            if (now - start) / PROGRESS_EVERY != (begin - start) / PROGRESS_EVERY {
                let issued = |site: &Site| site.sm.stats().counters.warp_instructions;
                let issued = self.sms.iter().map(issued).sum();
                let dispatcher = &course.blocks.dispatcher;
                self.tell_progress(now - start, issued, dispatcher, course.launched)?;
            }
            if self.memory.idle_since() >= now {
                continue; // the back end, which is ahead, had something to do behind this cycle
            }
            let next = self.next(now);
            if next == Cycle::NEVER {
                let last = self.last_moved(course);
                let mut stuck = self.stuck(last, course);
                stuck.memory.extend(self.memory.describe_pending());
                return Err(SimError::Deadlock(stuck));
            }
            if self.options.skip {
                now = start + (next - start) / period * period;
                self.skip_to(now, course);
            }
        }
    }

    /// A launch that has come to its limit of cycles, and has not ended, is given up. What its warps do is looked at for a
    /// while before.
    fn heed_limit(&self, now: Cycle, course: &mut Course) -> Result<(), SimError> {
        if course.is_near_limit(now) {
            course.hot.get_or_insert_default();
        }
        let Some(limit) = course.limit.filter(|limit| now >= *limit) else {
            return Ok(());
        };
        // All warps have retired within the limit. Lines that no warp waits for may still be on their way.
        let all_have_ended = course.blocks.dispatcher.is_over();
        match all_have_ended && self.last_retired(course.start) < limit {
            true => Ok(()),
            false => Err(self.over_limit(course, None)),
        }
    }

    /// What is said of a launch that needs more cycles than it may, and may have `ended` after so many.
    fn over_limit(&self, course: &Course, ended: Option<u64>) -> SimError {
        let at = course.limit.unwrap_or(course.start);
        let stuck = self.stuck(at, course);
        let spots = course.hot.as_ref();
        let loops = spots.map(|spots| spots.loops(&stuck.warps, course.launched));
        SimError::CycleLimit {
            limit: at - course.start,
            ended,
            stuck,
            loops: loops.unwrap_or_default(),
        }
    }

    /// The first cycle that does not belong to a launch, nothing of which is left.
    fn finished(&self, start: Cycle) -> Cycle {
        self.last_retired(start).max(self.memory.idle_since()) + 1
    }

    /// The last cycle in which a warp has retired, or the launch's first.
    fn last_retired(&self, start: Cycle) -> Cycle {
        let retired = self.sms.iter().map(|site| site.sm.last_retired());
        retired.fold(start, Cycle::max)
    }

    /// A launch is over with cycle `finish`, before which memory had counted this: ends it on all SMs, and adds up what they
    /// have counted.
    fn add_up(
        &mut self,
        course: &Course,
        finish: Cycle,
        before: &MemoryStats,
        sampler: Option<Sampler>,
    ) -> Totals {
        let (launched, start) = (course.launched, course.start);
        self.cycle = finish;
        let mut sm = SmStats::default();
        for site in &mut self.sms {
            site.sm.finish(finish);
            sm.add(site.sm.stats());
        }
        let places = u64::from(launched.blocks_per_sm) * self.sms.len() as u64;
        let ended = self.sms.iter().map(|site| site.sm.ended());
        summarise(ended, places, &mut sm.counters);
        if let Some(mut sampler) = sampler {
            let memory = MemoryCounters::of(&self.memory.stats());
            self.tell_sample(&mut sampler, finish, &sm, &memory);
        }
        if let Some(observer) = &mut self.options.observer {
            let sites = self.sms.iter_mut();
            let of_details = sites.filter(|site| site.wants == Wants::Details);
            of_details.for_each(|site| site.sm.tell_of_pipes(observer.as_mut()));
            observer.ended(finish);
        }
        let stacks = self.sms.iter().map(|site| site.sm.deepest_stack());
        let deepest = stacks.max().unwrap_or(0) as u64;
        self.totals_of(start..finish, sm, before, deepest)
    }

    /// The end of the last quantum in which something happened.
    fn last_moved(&self, course: &Course) -> Cycle {
        let quantum = course.quantum;
        let memory = self.memory.idle_since().round_down(quantum) + quantum;
        let moved = self.sms.iter().map(|site| site.sm.moved_to());
        moved
            .fold(course.start, Cycle::max)
            .round_up(quantum)
            .max(memory)
    }

    /// What each warp of a launch that does not end waits for in cycle `at`. How far the memory system is depends on how
    /// it is simulated, unless it has nothing more to do.
    fn stuck(&self, at: Cycle, course: &Course) -> Box<Stuck> {
        let (launched, dispatcher) = (course.launched, &course.blocks.dispatcher);
        let stuck_warps = |site: &Site| site.sm.stuck_warps(launched);
        let under_way = self
            .sms
            .iter()
            .filter_map(|site| site.sm.memory_under_way());
        Box::new(Stuck {
            not_started: dispatcher.total - dispatcher.sent,
            places: u64::from(launched.blocks_per_sm) * self.sms.len() as u64,
            kernel: launched.kernel.name.clone(),
            cycle: at - course.start,
            warps: self.sms.iter().flat_map(stuck_warps).collect(),
            memory: under_way.collect(),
        })
    }
}
