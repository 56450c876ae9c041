//! Launches: which of them are timed, what they come to, and those that are counted as others of their kind.

use super::{Program, Session};
use crate::refused::{Answer, Refused, status_of};
use warpsim_doors::wire::{Question, status};
use warpsim_present::mangled::shown;
use warpsim_sim::exec::fault::FaultKind;
use warpsim_sim::exec::functional::SimFault;
use warpsim_sim::gpu::SimError;
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::stats::LaunchReport;

/// A launch as the program asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub function: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub shared: u32,
    pub cooperative: bool,
    pub parameters: Vec<u8>,
}

/// A kernel, its grid and block, and its shared memory on demand: launches that may be alike.
pub type Shape = (u64, [u32; 3], [u32; 3], u32);

/// A launch that was timed.
pub struct Known {
    number: u64,
    report: LaunchReport,
}

/// How a launch was run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// With timing.
    Timed {
        /// Cycles.
        cycles: u64,
        /// Thread instructions per cycle.
        ipc: f64,
    },
    /// Without.
    Functional,
    /// Without, and counted as a launch that was timed.
    Like {
        /// Its number.
        number: u64,
        /// Its cycles.
        cycles: u64,
    },
}

/// A launch that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Its number, from 1 on.
    pub number: u64,
    /// The kernel as C++ writes it.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// How it was run.
    pub how: How,
    /// Instructions by warp.
    pub instructions: u64,
}

/// How far instructions of launches that are alike may differ: by 2%.
const ALIKE: f64 = 0.02;

/// What a GPU prints of an assertion that does not hold: of the thread that was found first.
fn assertion(error: &SimError) -> Option<String> {
    let report = match error {
        SimError::Fault(report) => report,
        SimError::Functional(fault) => match &**fault {
            SimFault::Thread(report) => report,
            _ => return None,
        },
        _ => return None,
    };
    let FaultKind::Assert {
        message,
        file,
        line,
        function,
    } = &report.kind
    else {
        return None;
    };
    let ([bx, by, bz], [x, y, z]) = (report.block, report.thread);
    Some(format!(
        "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{x},{y},{z}] Assertion `{message}` failed.\n"
    ))
}

fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) as f64 <= ALIKE * a.max(b) as f64
}

impl Session {
    /// Launches a kernel. What is wrong with the call is its error; a fault of the kernel is that of the next call, as the launch
    /// itself waits for nothing.
    pub(super) fn launch(&mut self, call: &Call, program: &mut dyn Program) -> Answer<()> {
        let (module, launch, name) = self.checked(call)?;
        if call.cooperative && !self.device.gpu.grid_barriers() {
            return Err(status::OUT_OF_MEMORY.into());
        }
        let number = self.launches + 1;
        let pretty = shown(&name);
        let times = self
            .chooser
            .times(&self.settings.choice, number, [&name, &pretty]);
        self.launches = number;
        let before = self.device.gpu.totals().clone();
        let shape = (call.function, call.grid, call.block, call.shared);
        let result = if self.settings.functional || (times && !self.settings.choice.sample) {
            self.device.gpu.launch(module, &launch).map(|()| None)
        } else if times {
            self.sampled(module, &launch, shape)
        } else {
            self.device
                .gpu
                .execute(module, &launch)
                .map(|t| Some((How::Functional, t.sm.counters.warp_instructions)))
        };
        self.hand_on_prints(program)?;
        let (how, instructions) = match result {
            Ok(Some(done)) => done,
            Ok(None) => {
                let now = self.device.gpu.totals();
                let (a, b) = (&before.sm.counters, &now.sm.counters);
                let cycles = now.cycles - before.cycles;
                let threads = b.thread_instructions - a.thread_instructions;
                let how = match self.settings.functional {
                    true => How::Functional,
                    false => How::Timed {
                        cycles,
                        ipc: threads as f64 / cycles.max(1) as f64,
                    },
                };
                (how, b.warp_instructions - a.warp_instructions)
            }
            Err(error) => return self.failed(error, &pretty, number, program),
        };
        if how == How::Functional && !self.settings.functional {
            self.untimed += 1;
        }
        let (grid, block) = (call.grid, call.block);
        let launched = Launched {
            number,
            kernel: pretty,
            grid,
            block,
            how,
            instructions,
        };
        self.said.push(super::Said::Launched(launched));
        for warning in self.device.gpu.warnings().to_vec() {
            self.note(format!("warning: {warning}"));
        }
        Ok(())
    }

    /// A launch that did not end as it should.
    fn failed(
        &mut self,
        error: SimError,
        kernel: &str,
        number: u64,
        program: &mut dyn Program,
    ) -> Answer<()> {
        let code = status_of(&error);
        if let SimError::BadLaunch(text) = error {
            self.launches -= 1;
            return Err(Refused::told(code, text));
        }
        if let Some(line) = assertion(&error) {
            program.ask(&Question::Print { to: 2 }, line.as_bytes())?;
        }
        self.note(format!("launch {number} of {kernel} failed: {error}"));
        self.sticky = Some(code);
        Ok(())
    }

    /// What kernels have printed, to the program's own output.
    fn hand_on_prints(&mut self, program: &mut dyn Program) -> Answer<()> {
        let text = std::mem::take(&mut *self.printed.0.borrow_mut());
        match text.is_empty() {
            true => Ok(()),
            false => program.ask(&Question::Print { to: 1 }, &text).map(drop),
        }
    }

    /// Checks a call as CUDA does, and lays it out.
    fn checked(&self, call: &Call) -> Answer<(usize, Launch, String)> {
        let function = self.known(call.function)?;
        let module = self.module(function.module)?;
        let kernel = &module.program.kernels[function.kernel];
        let named = |text: String| format!("launch of {}: {text}", shown(&function.name));
        let told = |code, text: String| Refused::told(code, named(text));
        let machine = self.device.gpu.machine();
        let (grid, block) = (call.grid, call.block);
        let threads = block.iter().map(|n| u64::from(*n)).product::<u64>();
        let limit = u64::from(machine.sm.max_threads.min(1024));
        if grid.contains(&0) || threads == 0 || threads > limit {
            let text = format!(
                "{grid:?} blocks of {block:?} threads; a block has 1 to {limit} threads, and no number may be 0"
            );
            return Err(told(status::INVALID_CONFIGURATION, text));
        }
        if grid[1] > 65_535 || grid[2] > 65_535 || block[2] > 64 {
            let text =
                format!("{grid:?} blocks of {block:?} threads: more than there may be in y or z");
            return Err(told(status::INVALID_CONFIGURATION, text));
        }
        if call.cluster.iter().any(|n| *n > 1) {
            return Err(told(
                status::NOT_SUPPORTED,
                "clusters of blocks are not simulated".into(),
            ));
        }
        let dynamic = self.dynamic_limit(call.function)?;
        if u64::from(call.shared) > dynamic {
            let text = format!(
                "{} bytes of shared memory on demand; {dynamic} are allowed (cudaFuncSetAttribute, and what the machine has: {} bytes)",
                call.shared, machine.shared.bytes
            );
            return Err(told(status::INVALID_VALUE, text));
        }
        if call.parameters.len() != kernel.param_bytes as usize {
            return Err(status::INVALID_VALUE.into());
        }
        let launch = Launch {
            kernel: function.kernel,
            grid,
            block,
            dynamic_shared: call.shared,
            params: call.parameters.clone(),
            registers: None,
        };
        if call.cooperative {
            let resident = self.device.gpu.resident_blocks(module.id.0, &launch);
            let resident = resident.map_err(|e| Refused::told(status_of(&e), e.to_string()))?;
            let blocks = grid.iter().map(|n| u64::from(*n)).product::<u64>();
            if blocks > u64::from(resident) {
                let text = format!(
                    "{blocks} blocks that wait for each other; the machine holds {resident}"
                );
                return Err(told(status::COOPERATIVE_TOO_LARGE, text));
            }
        }
        Ok((module.id.0, launch, function.name.clone()))
    }

    /// Runs a launch without timing, and counts it as one that was timed where it is like it; else times it, with memory as it was.
    fn sampled(
        &mut self,
        module: usize,
        launch: &Launch,
        shape: Shape,
    ) -> Result<Option<(How, u64)>, SimError> {
        let gpu = &mut self.device.gpu;
        if let Some(known) = self.known.get(&shape) {
            let kept = gpu.keep_memory();
            let done = gpu.execute(module, launch)?.sm.counters;
            let alike = known.iter().filter(|k| {
                let counted = &k.report.totals.sm.counters;
                is_near(counted.warp_instructions, done.warp_instructions)
                    && is_near(counted.thread_instructions, done.thread_instructions)
            });
            // The first found caches empty, as those that follow do not: the second stands for them.
            if let Some(Known { number, report }) = alike.skip(1).last() {
                gpu.count(report);
                self.sampled += 1;
                let how = How::Like {
                    number: *number,
                    cycles: report.totals.cycles,
                };
                return Ok(Some((how, done.warp_instructions)));
            }
            gpu.put_back(&kept);
            self.printed.0.borrow_mut().clear();
        }
        let reports = gpu.reports().len();
        gpu.launch(module, launch)?;
        // Beyond the first thousands a report is of many launches.
        if gpu.reports().len() == reports + 1
            && let Some(report) = gpu.reports().last().filter(|r| r.launches == 1)
        {
            let timed = Known {
                number: self.launches,
                report: report.clone(),
            };
            self.known.entry(shape).or_default().push(timed);
        }
        Ok(None)
    }
}
