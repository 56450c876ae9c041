//! Running a launch: one [period](super::period) after the other, and what it comes to.

use super::api::Launch;
use super::dispatch::Dispatcher;
use super::hot::HotSpots;
use super::pace::Pace;
use super::period::{Clocking, Course};
use super::refuse::oddities;
use super::{Gpu, SimError, Stuck};
use crate::exec::functional;
use crate::memory::clock::next_in_phase;
use crate::progress::Snapshot;
use crate::sm::{Launched, Sm, SmFault, summarise};
use crate::stats::{EnergyCounters, LaunchReport, MemoryCounters, SmStats, Totals};
use crate::time::Cycle;
use std::ops::ControlFlow;
use std::time::Instant;
use warpsim_ptx::kernel::Virtualised;

/// Quanta between two calls of the progress callback.
const PROGRESS_EVERY: u64 = 1024;
/// Cycles a spinning kernel is looked at before it is given up.
const LAST_LOOK: u64 = 4000;

impl Gpu {
    /// Runs a kernel to its end.
    pub fn launch(&mut self, module: usize, launch: &Launch) -> Result<(), SimError> {
        let (launched, occupancy, registers) = self.prepare(module, launch)?;
        let place = &mut self.modules[module].kernels[launch.kernel].launched;
        if !std::mem::replace(place, true) {
            let timed = (!self.options.functional).then_some(&*self.machine);
            self.warnings.extend(oddities(&launched.kernel, timed));
        }
        let begin = Instant::now();
        let blocks = launched.grid.blocks();
        self.options.progress.kernel(&launched.kernel.name, blocks);
        let files = self.modules[module].program.files.clone();
        let totals = if self.options.functional {
            let resident = occupancy.blocks.saturating_mul(self.machine.gpu.sms);
            self.run_functional(&launched, &files, resident as usize)
        } else {
            self.run_timed(&launched, &files)
        };
        self.host += begin.elapsed();
        let totals = totals?;
        self.launches += 1;
        self.totals.add(&totals);
        self.keep(LaunchReport {
            launches: 1,
            kernel: launched.kernel.name.clone(),
            grid: launch.grid,
            block: launch.block,
            registers,
            shared_bytes: launched.grid.total_shared,
            blocks_per_sm: occupancy.blocks,
            limited_by: occupancy.limited_by.to_string(),
            virtual_blocks: matches!(launched.kernel.virtualised, Virtualised::Form(_))
                .then(|| launched.grid.blocks()),
            totals,
        });
        Ok(())
    }

    fn run_functional(
        &mut self,
        launched: &Launched,
        files: &[(u32, String)],
        resident_blocks: usize,
    ) -> Result<Totals, SimError> {
        let options = functional::Options {
            max_instructions: self.options.max_cycles.unwrap_or(u64::MAX),
            resident_blocks,
            ..functional::Options::default()
        };
        let listeners = functional::Listeners {
            hand_on: &mut |prints| {
                self.printed.hand_on(prints, &mut self.options);
                match self.options.progress.stops() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
            races: self.races.as_mut(),
        };
        let result = functional::run(
            &launched.code,
            &launched.kernel,
            files,
            &launched.grid,
            &mut self.image,
            listeners,
            options,
        );
        let stats = result.map_err(|e| SimError::Functional(Box::new(e)))?;
        let mut totals = Totals {
            sms: self.machine.gpu.sms as u64,
            core_mhz: self.machine.gpu.core_mhz.into(),
            ..Totals::default()
        };
        totals.sm.counters.warp_instructions = stats.warp_instructions;
        totals.sm.counters.thread_instructions = stats.thread_instructions;
        totals.sm.counters.blocks = launched.grid.blocks();
        Ok(totals)
    }

    /// The cycle in which the next launch begins: the next quantum's first, or the next one at
    /// which all clocks are in phase.
    fn launch_start(&self, quantum: u64) -> Cycle {
        let periods = match self.machine.gpu.launches_restart_clocks {
            true => &self.memory.clock_periods()[..],
            false => &[],
        };
        next_in_phase(self.cycle, quantum, periods)
    }

    fn run_timed(
        &mut self,
        launched: &Launched,
        files: &[(u32, String)],
    ) -> Result<Totals, SimError> {
        let start = self.launch_start(self.machine.gpu.quantum.max(1).into());
        if self.machine.gpu.flush_l2_between_kernels {
            self.memory.invalidate_l2();
        }
        let memory_before = MemoryCounters::of(&self.memory.stats());
        let clocks_before = self.memory.stats().dram.total_clocks;
        for sm in &mut self.sms {
            sm.begin(launched, start);
        }
        if let Some(observer) = &mut self.options.observer {
            observer.launched(start, &launched.kernel, files);
        }
        let mut sampler = self.sampler(start, &memory_before);
        let limit = self.options.max_cycles.map(|n| start.saturating_add(n));
        let mut course = self.set_out(launched, files, start, sampler.is_some());
        let Clocking { quantum, period } = course.clocking;
        let total = course.total;
        let mut quanta = 0u64;
        let mut now = start;
        let end = loop {
            self.begin_window(now, &mut course);
            let (to, over) = self.run_periods(now, &mut course)?;
            if let Some(over) = over {
                break over;
            }
            let ran = to - std::mem::replace(&mut now, to);
            if let Some(over) = self.over(&course) {
                break over;
            }
            // Once the last block is done the launch may turn out to have ended already.
            if let Some(sampler) = &mut sampler
                && course.completed < total
            {
                self.sample(sampler, now, launched);
            }
            let before = quanta / PROGRESS_EVERY;
            quanta += ran / quantum;
            if quanta / PROGRESS_EVERY != before {
                self.tell_progress(now - start, &course)?;
            }
            let next = self.next(now, &course.pace);
            if next == Cycle::NEVER {
                let last = self.last_moved(&course);
                let stuck = self.stuck(launched, files, last - start, &course.dispatcher);
                return Err(SimError::Deadlock(stuck));
            }
            if self.options.skip {
                now = start + (next - start) / period * period;
                self.memory.skip_to(now);
            }
            if let Some(limit) = limit
                && now >= limit
            {
                match &course.hot {
                    None => course.hot = Some(HotSpots::default()),
                    Some(spots) if now >= limit + LAST_LOOK => {
                        let stuck = self.stuck(launched, files, now - start, &course.dispatcher);
                        let loops = spots.loops(&stuck.warps, launched);
                        return Err(SimError::CycleLimit {
                            limit: limit - start,
                            stuck,
                            loops,
                        });
                    }
                    _ => {}
                }
            }
        };
        self.show_stores(&mut course);
        self.memory.back_to(end);
        let last = self
            .sms
            .iter()
            .map(|sm| sm.last_retired())
            .max()
            .unwrap_or(start);
        let finish = last.max(self.memory.idle_since()).max(start) + 1;
        self.cycle = finish;
        self.last_sm = course.dispatcher.last();
        let mut sm = SmStats::default();
        for core in &mut self.sms {
            core.finish(finish);
            sm.add(core.stats());
        }
        let places = u64::from(launched.blocks_per_sm) * self.sms.len() as u64;
        let ended = self.sms.iter().map(|core| core.ended());
        summarise(ended, places, &mut sm.counters);
        if let Some(sampler) = &mut sampler {
            self.tell_sample(sampler, finish, &sm);
        }
        if let Some(observer) = &mut self.options.observer {
            observer.ended(finish);
        }
        let memory = MemoryCounters::of(&self.memory.stats()).since(&memory_before);
        let energy = EnergyCounters::of(&self.machine, finish - start, &sm, &memory);
        Ok(Totals {
            cycles: finish - start,
            energy,
            core_mhz: self.machine.gpu.core_mhz.into(),
            sms: self.sms.len() as u64,
            max_warps: crate::divergence::max_warps(&self.machine),
            sm,
            memory,
            dram_clocks: (self.memory.stats().dram.total_clocks - clocks_before),
            deepest_stack: self
                .sms
                .iter()
                .map(|sm| sm.deepest_stack())
                .max()
                .unwrap_or(0) as u64,
        })
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
        let snapshot = self.snapshot(course.completed, course.total);
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

    fn stuck(
        &self,
        launched: &Launched,
        files: &[(u32, String)],
        cycle: u64,
        dispatcher: &Dispatcher,
    ) -> Box<Stuck> {
        Box::new(Stuck {
            not_started: launched.grid.blocks() - dispatcher.sent(),
            places: u64::from(launched.blocks_per_sm) * self.sms.len() as u64,
            kernel: launched.kernel.name.clone(),
            cycle,
            warps: self
                .sms
                .iter()
                .flat_map(|sm| sm.stuck_warps(launched))
                .collect(),
            files: files.to_vec(),
            memory: (self.sms.iter().filter_map(|sm| sm.memory_under_way()))
                .chain(self.memory.describe_pending())
                .collect(),
        })
    }

    pub(super) fn snapshot(&self, blocks_done: u64, blocks_total: u64) -> Snapshot {
        Snapshot {
            cycles: self.totals.cycles,
            warp_instructions: self.totals.sm.counters.warp_instructions,
            blocks_done,
            blocks_total,
        }
    }
}
