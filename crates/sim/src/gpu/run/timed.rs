//! A launch with timing: one [period](super::period) after the other, and what it comes to.

use super::hot::HotSpots;
use super::pace::Pace;
use super::period::{Clocking, Course};
use super::sample::Sampler;
use crate::gpu::{Gpu, SimError, Stuck};
use crate::memory::clock::next_in_phase;
use crate::memory::stats::MemoryStats;
use crate::progress::Snapshot;
use crate::sm::{Launched, Sm, SmFault, summarise};
use crate::stats::{EnergyCounters, MemoryCounters, SmStats, Totals};
use crate::time::Cycle;

/// Quanta between two calls of the progress callback.
const PROGRESS_EVERY: u64 = 1024;
/// Cycles a spinning kernel is looked at before it is given up.
const LAST_LOOK: u64 = 4000;

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
        let before = self.memory.stats();
        for sm in &mut self.sms {
            sm.begin(launched, start);
        }
        if let Some(observer) = &mut self.options.observer {
            observer.launched(start, &launched.kernel, files);
        }
        let mut sampler = self.sampler(start, &MemoryCounters::of(&before));
        let mut course = self.set_out(launched, files, start, sampler.is_some());
        let end = self.run_to_end(&mut course, sampler.as_mut())?;
        self.show_stores(&mut course);
        self.memory.back_to(end);
        self.last_sm = course.blocks.dispatcher.last();
        Ok(self.add_up(&course, &before, sampler))
    }

    /// Runs one period after the other until nothing is left of a launch. Returns the cycle with which that is so.
    fn run_to_end(
        &mut self,
        course: &mut Course,
        mut sampler: Option<&mut Sampler>,
    ) -> Result<Cycle, SimError> {
        let (start, Clocking { quantum, period }) = (course.start, course.clocking);
        let mut quanta = 0u64;
        let mut now = start;
        loop {
            self.begin_window(now, course);
            let (to, over) = self.run_periods(now, course)?;
            if let Some(over) = over {
                return Ok(over);
            }
            let ran = to - std::mem::replace(&mut now, to);
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
            let next = self.next(now, &course.pace);
            if next == Cycle::NEVER {
                let last = self.last_moved(course);
                return Err(SimError::Deadlock(self.stuck(last, course)));
            }
            if self.options.skip {
                let before = now;
                now = start + (next - start) / period * period;
                self.memory.skip_to(now);
                if now > before {
                    self.hand_out_blocks(now, course); // some may have waited here for the others
                }
            }
            self.heed_limit(now, course)?;
        }
    }

    /// A launch that runs into its limit of cycles is given up, after a look at what its warps do.
    fn heed_limit(&self, now: Cycle, course: &mut Course) -> Result<(), SimError> {
        let Some(limit) = course.limit.filter(|&limit| now >= limit) else {
            return Ok(());
        };
        match &course.hot {
            None => course.hot = Some(HotSpots::default()),
            Some(spots) if now >= limit + LAST_LOOK => {
                let stuck = self.stuck(now, course);
                let loops = spots.loops(&stuck.warps, course.launched);
                return Err(SimError::CycleLimit {
                    limit: limit - course.start,
                    stuck,
                    loops,
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// A launch is over, before which memory had counted this: ends it on all SMs, and adds up what they have counted.
    fn add_up(
        &mut self,
        course: &Course,
        before: &MemoryStats,
        sampler: Option<Sampler>,
    ) -> Totals {
        let (launched, start) = (course.launched, course.start);
        let retired = self.sms.iter().map(|sm| sm.last_retired());
        let last = retired.fold(start, Cycle::max);
        let finish = last.max(self.memory.idle_since()) + 1;
        self.cycle = finish;
        let mut sm = SmStats::default();
        for core in &mut self.sms {
            core.finish(finish);
            sm.add(core.stats());
        }
        let places = u64::from(launched.blocks_per_sm) * self.sms.len() as u64;
        let ended = self.sms.iter().map(|core| core.ended());
        summarise(ended, places, &mut sm.counters);
        if let Some(mut sampler) = sampler {
            self.tell_sample(&mut sampler, finish, &sm);
        }
        if let Some(observer) = &mut self.options.observer {
            observer.ended(finish);
        }
        let after = self.memory.stats();
        let memory = MemoryCounters::of(&after).since(&MemoryCounters::of(before));
        let energy = EnergyCounters::of(&self.machine, finish - start, &sm, &memory);
        let stacks = self.sms.iter().map(|sm| sm.deepest_stack());
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

    pub(super) fn fault(
        &self,
        sm: usize,
        e: SmFault,
        launched: &Launched,
        files: &[(u32, String)],
    ) -> SimError {
        let report = e
            .fault
            .report(&launched.kernel, files, e.pc, self.sms[sm].threads());
        SimError::Fault(Box::new(report))
    }

    /// Tells how far a launch is that has run for so many cycles, and whether it is to be given up.
    fn tell_progress(&mut self, cycles: u64, course: &Course) -> Result<(), SimError> {
        let snapshot = self.snapshot(course.blocks.completed, course.blocks.total);
        let issued = |sm: &Sm| sm.stats().counters.warp_instructions;
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
        course.pace.moved().round_up(quantum).max(memory)
    }

    /// The next cycle, `now` at the earliest, in which anything can happen anywhere.
    pub(super) fn next(&self, now: Cycle, pace: &Pace) -> Cycle {
        let sms = match self.options.skip {
            true if pace.next() <= now => return now,
            true if pace.awaits_room(|sm, room| self.memory.has_room_soon(sm, room)) => return now,
            true => pace.next(),
            // An SM that steps is always awake: ask what it could do.
            false => self
                .sms
                .iter()
                .map(|sm| sm.ask_all(now))
                .fold(Cycle::NEVER, Cycle::min),
        };
        let memory = self.memory.next().min(self.memory.next_reply());
        memory.min(sms).max(now)
    }

    /// Who waits for what, of a launch that has come to cycle `at` and does not end.
    fn stuck(&self, at: Cycle, course: &Course) -> Box<Stuck> {
        let launched = course.launched;
        let stuck_warps = |sm: &Sm| sm.stuck_warps(launched);
        let under_way = self.sms.iter().filter_map(|sm| sm.memory_under_way());
        Box::new(Stuck {
            not_started: course.blocks.total - course.blocks.dispatcher.sent(),
            places: u64::from(launched.blocks_per_sm) * self.sms.len() as u64,
            kernel: launched.kernel.name.clone(),
            cycle: at - course.start,
            warps: self.sms.iter().flat_map(stuck_warps).collect(),
            files: course.files.to_vec(),
            memory: under_way.chain(self.memory.describe_pending()).collect(),
        })
    }
}
