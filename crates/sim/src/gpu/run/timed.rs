//! A launch with timing: one [window](super::windows) after the other, and what it comes to.

use super::course::{Clocking, Course};
use super::sample::Sampler;
use crate::gpu::run::site::Site;
use crate::gpu::{Gpu, SimError, Stuck};
use crate::memory::clock::next_in_phase;
use crate::memory::stats::MemoryStats;
use crate::observe::Wants;
use crate::progress::Snapshot;
use crate::sm::{Launched, SmFault, summarise};
use crate::stats::{EnergyCounters, MemoryCounters, SmStats, Totals};
use crate::time::Cycle;

/// Quanta between two calls of the progress callback.
const PROGRESS_EVERY: u64 = 1024;
impl Gpu {
    /// The cycle in which the next launch begins: the next quantum's first, or the next one at
    /// which all clocks are in phase.
    fn launch_start(&self, quantum: u64) -> Cycle {
        let periods = match self.machine.gpu.launches_restart_clocks {
            true => &self.memory.clock_periods()[..],
            false => &[],
        };
        next_in_phase(self.cycle, quantum, periods)
    }

    /// Runs a launch with timing, and says what it has come to.
    pub(super) fn run_timed(
        &mut self,
        launched: &Launched,
        files: &[(u32, String)],
    ) -> Result<Totals, SimError> {
        let start = self.launch_start(self.machine.gpu.quantum.max(1).into());
        if self.machine.gpu.flush_l2_between_kernels {
            self.memory.invalidate_l2();
        }
        // What passes between launches, so that all clocks are in phase again, is no launch's.
        self.memory.skip_to(start);
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
        self.show_stores();
        self.memory.back_to(end);
        self.last_sm = course.blocks.dispatcher.last();
        let finish = self.finished(start);
        if course.limit.as_ref().is_some_and(|limit| finish > limit.at) {
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
        let (start, Clocking { quantum, period }) = (course.start, course.clocking);
        let mut quanta = 0u64;
        let mut now = start;
        if let Some(crew) = self.engine.crew() {
            crew.resume();
        }
        self.skip_to(now, course);
        loop {
            self.heed_limit(now, course)?;
            let (to, over) = self.run_windows(now, course)?;
            if let Some(over) = over {
                return Ok(over);
            }
            let ran = to - std::mem::replace(&mut now, to);
            if let Some(crew) = self.engine.crew() {
                crew.passed(ran);
            }
            if let Some(over) = self.over(course) {
                return Ok(over);
            }
            // Once the last block is done the launch may turn out to have ended already.
            if let Some(sampler) = &mut sampler
                && course.blocks.completed < course.blocks.total
            {
                self.sample(sampler, now, course.launched);
            }
            let before = quanta / PROGRESS_EVERY;
            quanta += ran / quantum;
            if quanta / PROGRESS_EVERY != before {
                self.tell_progress(now - start, course)?;
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
        let Some(limit) = &course.limit else {
            return Ok(());
        };
        if now < limit.at {
            if now >= limit.looked_at_from {
                course.hot.get_or_insert_default();
            }
            return Ok(());
        }
        // All warps have retired within the limit. Lines that no warp waits for may still be on their way.
        if course.blocks.completed == course.blocks.total
            && self.last_retired(course.start) < limit.at
        {
            return Ok(());
        }
        Err(self.over_limit(course, None))
    }

    /// What is said of a launch that needs more cycles than it may, and may have `ended` after so many.
    fn over_limit(&self, course: &Course, ended: Option<u64>) -> SimError {
        let at = course.limit.as_ref().map_or(course.start, |limit| limit.at);
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
            self.tell_sample(&mut sampler, finish, &sm);
        }
        if let Some(observer) = &mut self.options.observer {
            let sites = self.sms.iter_mut();
            let of_details = sites.filter(|site| site.wants == Wants::Details);
            of_details.for_each(|site| site.sm.tell_of_pipes(observer.as_mut()));
            observer.ended(finish);
        }
        let after = self.memory.stats();
        let memory = MemoryCounters::of(&after).since(&MemoryCounters::of(before));
        let energy = EnergyCounters::of(&self.machine, finish - start, &sm, &memory);
        let stacks = self.sms.iter().map(|site| site.sm.deepest_stack());
        Totals {
            cycles: finish - start,
            energy,
            core_mhz: self.machine.gpu.core_mhz.into(),
            sms: self.sms.len() as u64,
            max_warps: crate::divergence::max_warps(&self.machine),
            sm,
            memory,
            dram_clocks: after.dram.total_clocks - before.dram.total_clocks,
            deepest_stack: stacks.max().unwrap_or(0) as u64,
        }
    }

    pub(super) fn fault(&self, sm: usize, e: SmFault, launched: &Launched) -> SimError {
        let kernel = &launched.kernel;
        let mut report = e.fault.report(kernel, e.pc, self.sms[sm].sm.threads());
        report.name_argument(kernel, &launched.grid.params, &self.image);
        SimError::Fault(Box::new(report))
    }

    /// Tells how far a launch is that has run for so many cycles, and whether it is to be given up.
    fn tell_progress(&mut self, cycles: u64, course: &Course) -> Result<(), SimError> {
        let snapshot = self.snapshot(course.blocks.completed, course.blocks.total);
        let issued = |site: &Site| site.sm.stats().counters.warp_instructions;
        let running: u64 = self.sms.iter().map(issued).sum();
        self.options.progress.update(Snapshot {
            cycles: snapshot.cycles + cycles,
            warp_instructions: snapshot.warp_instructions + running,
            ..snapshot
        });
        match self.options.progress.stops() {
            true => Err(SimError::Stopped {
                kernel: course.launched.kernel.name.clone(),
                cycle: cycles,
            }),
            false => Ok(()),
        }
    }

    /// The end of the last quantum in which something happened.
    fn last_moved(&self, course: &Course) -> Cycle {
        let quantum = course.clocking.quantum;
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
        let launched = course.launched;
        let stuck_warps = |site: &Site| site.sm.stuck_warps(launched);
        let under_way = self
            .sms
            .iter()
            .filter_map(|site| site.sm.memory_under_way());
        Box::new(Stuck {
            not_started: course.blocks.total - course.blocks.dispatcher.sent(),
            places: u64::from(launched.blocks_per_sm) * self.sms.len() as u64,
            kernel: launched.kernel.name.clone(),
            cycle: at - course.start,
            warps: self.sms.iter().flat_map(stuck_warps).collect(),
            memory: under_way.collect(),
        })
    }
}
