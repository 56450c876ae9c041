//! What launches have in common, whichever SMs they run on: how one begins, what it comes to, the fault of a thread, and how far it is.

use super::run::dispatch::Dispatcher;
use super::{Gpu, SimError};
use crate::exec::state::Threads;
use crate::memory::clock::next_in_phase;
use crate::memory::stats::MemoryStats;
use crate::progress::Snapshot;
use crate::sm::{Launched, SmFault};
use crate::stats::{EnergyCounters, MemoryCounters, SmStats, Totals};
use crate::time::Cycle;
use std::ops::Range;

impl Gpu {
    /// Memory is made ready for the next launch. Returns the cycle in which it begins: the next quantum's first, or the next one at which all clocks are in
    /// phase. What passes until then is no launch's.
    pub(super) fn begin_launch(&mut self) -> Cycle {
        let periods = match self.machine.gpu.launches_restart_clocks {
            true => &self.memory.clock_periods()[..],
            false => &[],
        };
        let quantum = u64::from(self.machine.gpu.quantum.max(1));
        let start = next_in_phase(self.cycle, quantum, periods);
        if self.machine.gpu.flush_l2_between_kernels {
            self.memory.invalidate_l2();
        }
        self.memory.skip_to(start);
        start
    }

    /// What a launch comes to that took these cycles, in which SMs counted this, and before which memory had counted that.
    pub(super) fn totals_of(
        &self,
        cycles: Range<Cycle>,
        sm: SmStats,
        before: &MemoryStats,
        deepest_stack: u64,
    ) -> Totals {
        let cycles = cycles.end - cycles.start;
        let after = self.memory.stats();
        let memory = MemoryCounters::of(&after).since(&MemoryCounters::of(before));
        Totals {
            cycles,
            energy: EnergyCounters::of(&self.machine, cycles, &sm, &memory),
            core_mhz: self.machine.gpu.core_mhz.into(),
            sms: self.sms.len() as u64,
            max_warps: crate::divergence::max_warps(&self.machine),
            sm,
            memory,
            dram_clocks: after.dram.total_clocks - before.dram.total_clocks,
            deepest_stack,
        }
    }

    /// A thread of an SM with these threads has failed.
    pub(super) fn fault(&self, fault: SmFault, threads: &Threads, launched: &Launched) -> SimError {
        let kernel = &launched.kernel;
        let mut report = fault.fault.report(kernel, fault.pc, threads);
        report.name_argument(kernel, &launched.grid.params, &self.image);
        SimError::Fault(Box::new(report))
    }

    /// Tells how far a launch is that has run for so many cycles and issued so many instructions, and whether it is to be given up.
    pub(super) fn tell_progress(
        &mut self,
        cycles: u64,
        issued: u64,
        dispatcher: &Dispatcher,
        launched: &Launched,
    ) -> Result<(), SimError> {
        let snapshot = self.snapshot(dispatcher.ended, dispatcher.total);
        self.options.progress.update(Snapshot {
            cycles: snapshot.cycles + cycles,
            warp_instructions: snapshot.warp_instructions + issued,
            ..snapshot
        });
        match self.options.progress.stops() {
            true => Err(SimError::Stopped {
                kernel: launched.kernel.name.clone(),
                cycle: cycles,
            }),
            false => Ok(()),
        }
    }
}
