//! Running a launch.
//!
//! With timing it is one [window](windows) after the other, which the engine runs: [`components`] says what the components are and what each needs of the
//! others. An SM is one where it stands in the machine ([`site`]); so are the [dispatcher](blocks) and the parts of the memory system.

mod blocks;
mod components;
mod course;
pub(super) mod dispatch;
mod hot;
mod sample;
mod site;
mod timed;
mod windows;
mod world;

use super::api::Launch;
use super::refuse::oddities;
use super::{Gpu, SimError};
use crate::exec::functional::{self, FunctionalStats, SimFault};
use crate::exec::grid::Grid;
use crate::exec::memory::image::GlobalMemory;
use crate::progress::Snapshot;
use crate::sm::Launched;
use crate::stats::{LaunchReport, Totals};
pub(super) use blocks::Board;
pub(super) use components::{engine, others};
pub(super) use site::Site;
use std::ops::ControlFlow;
use std::time::Instant;
use warpsim_ptx::kernel::Virtualised;

/// What a launch that something else executes is given.
pub struct Execution<'a> {
    /// The launch as its threads see it.
    pub grid: &'a Grid,
    /// The module's variables: name, address, bytes.
    pub symbols: &'a [(String, u64, u64)],
    /// Global memory.
    pub image: &'a mut GlobalMemory,
    /// Limits.
    pub options: functional::Options,
    /// Called now and then: takes what was printed, says whether to go on.
    pub hand_on: &'a mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
}

/// Executes a launch without timing, in another way than PTX is.
pub type Execute<'e> = dyn FnMut(Execution<'_>) -> Result<FunctionalStats, SimFault> + 'e;

impl Gpu {
    /// Runs a kernel to its end.
    pub fn launch(&mut self, module: usize, launch: &Launch) -> Result<(), SimError> {
        self.launch_as(module, launch, None)
    }

    /// Has something else execute a launch to its end: the kernel's machine code. Only where there is no timing.
    pub fn launch_by(
        &mut self,
        module: usize,
        launch: &Launch,
        execute: &mut Execute<'_>,
    ) -> Result<(), SimError> {
        if !self.options.functional {
            let text = "only PTX is executed with timing";
            return Err(SimError::BadLaunch(text.into()));
        }
        self.launch_as(module, launch, Some(execute))
    }

    fn launch_as(
        &mut self,
        module: usize,
        launch: &Launch,
        execute: Option<&mut Execute<'_>>,
    ) -> Result<(), SimError> {
        if self.failed {
            let text = "a launch has failed on this GPU and is still on its SMs: take a new one";
            return Err(SimError::BadLaunch(text.into()));
        }
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
            self.run_functional(module, &launched, resident as usize, execute)
        } else if self.options.reference {
            self.run_on_reference(&launched)
        } else {
            self.run_timed(&launched, &files)
        };
        self.host += begin.elapsed();
        self.failed = totals.is_err() && !self.options.functional;
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

    /// Executes a launch without timing, between those with timing: memory is as after it, the machine's time and its statistics are as
    /// before. What it has executed is handed back.
    pub fn execute(&mut self, module: usize, launch: &Launch) -> Result<Totals, SimError> {
        if self.failed {
            let text = "a launch has failed on this GPU: it has to recover first";
            return Err(SimError::BadLaunch(text.into()));
        }
        let (launched, occupancy, _) = self.prepare(module, launch)?;
        let begin = Instant::now();
        let blocks = launched.grid.blocks();
        self.options.progress.kernel(&launched.kernel.name, blocks);
        let resident = occupancy.blocks.saturating_mul(self.machine.gpu.sms);
        let totals = self.run_functional(module, &launched, resident as usize, None);
        self.host += begin.elapsed();
        self.launches += 1;
        totals
    }

    fn run_functional(
        &mut self,
        module: usize,
        launched: &Launched,
        resident_blocks: usize,
        execute: Option<&mut Execute<'_>>,
    ) -> Result<Totals, SimError> {
        let options = functional::Options {
            max_instructions: self.options.max_cycles.unwrap_or(u64::MAX),
            resident_blocks,
            ..functional::Options::default()
        };
        let module = &self.modules[module];
        let hand_on = &mut |prints: &mut Vec<u8>| {
            self.printed.hand_on(prints, &mut self.options);
            match self.options.progress.stops() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let result = match execute {
            Some(execute) => {
                let named = module.program.symbols.iter().zip(&module.symbols);
                let symbols: Vec<(String, u64, u64)> = named
                    .map(|(symbol, address)| (symbol.name.to_string(), *address, symbol.size))
                    .collect();
                execute(Execution {
                    grid: &launched.grid,
                    symbols: &symbols,
                    image: &mut self.image,
                    options,
                    hand_on,
                })
            }
            None => functional::run(
                &launched.code,
                &launched.kernel,
                &launched.grid,
                &mut self.image,
                functional::Listeners {
                    hand_on,
                    races: self.races.as_mut(),
                    steps: self.steps.as_mut(),
                },
                options,
            ),
        };
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

    pub(super) fn snapshot(&self, blocks_done: u64, blocks_total: u64) -> Snapshot {
        Snapshot {
            cycles: self.totals.cycles,
            warp_instructions: self.totals.sm.counters.warp_instructions,
            blocks_done,
            blocks_total,
        }
    }
}
