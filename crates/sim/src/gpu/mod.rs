//! A GPU as a host program sees it: memory, modules, launches, statistics.

mod again;
pub mod api;
mod ends;
mod error;
#[cfg(test)]
mod gates_tests;
mod load;
mod parts;
mod prepare;
mod prints;
mod reference;
mod refuse;
mod replace;
mod run;

use crate::config::Machine;
use crate::config::check::validate::validate;
use crate::exec::code::Code;
use crate::exec::functional::{RaceCheck, StepCheck};
use crate::exec::memory::bytes::Lend;
use crate::exec::memory::image::{AccessError, DEFAULT_HEAP, GlobalMemory, host_has};
use crate::memory::cache::tables;
use crate::memory::system::{MemorySystem, Replies, lookahead};
use crate::observe::Observer;
use crate::progress::{Progress, Silent};
#[cfg(test)]
use crate::sm::Sm;
use crate::sm::facts::OpFacts;
use crate::sm::reference::Sm as ReferenceSm;
use crate::stats::{LaunchReport, Totals};
use crate::time::Cycle;
pub use again::Kept;
use api::Texture;
pub use error::{HotLoop, SimError, Stuck};
use parts::Parts;
pub use prints::Printed;
use run::{Board, Site};
pub use run::{Execute, Execution};
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use warpsim_engine::Engine;
use warpsim_present::memory::try_reserve;
use warpsim_ptx::kernel::{Kernel, Program};

/// Launches that are reported one by one.
pub const MOST_REPORTS: usize = 4000;

/// Bytes that a barrier of a whole grid takes.
const GRID_BARRIER: u64 = 64;

/// How to run.
pub struct Options {
    /// Execute without timing.
    pub functional: bool,
    /// Skip cycles in which nothing happens; results are the same either way.
    pub skip: bool,
    /// Give up a launch after this many cycles (warp instructions, when functional).
    pub max_cycles: Option<u64>,
    /// Is told how far a run is.
    pub progress: Box<dyn Progress>,
    /// Observes the pipeline.
    pub observer: Option<Box<dyn Observer>>,
    /// Where kernels print.
    pub output: Box<dyn Write>,
    /// Bytes that they print at most; what is beyond is counted.
    pub print_limit: u64,
    /// Look for races, where it executes without timing.
    pub check_races: bool,
    /// Look for threads of a warp that count on being in step, where it executes without timing.
    pub check_steps: bool,
    /// Host threads that SMs run on; results are the same for any number.
    pub threads: usize,
    /// Bytes that device-side `malloc` may give out.
    pub heap: u64,
    /// SMs are reference SMs (`sm/reference`): the statistics are the same, and it takes longer. No observer can listen.
    pub reference: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            functional: false,
            skip: true,
            max_cycles: None,
            progress: Box::new(Silent),
            observer: None,
            output: Box::new(std::io::sink()),
            print_limit: u64::MAX,
            check_races: false,
            check_steps: false,
            threads: 1,
            heap: DEFAULT_HEAP,
            reference: false,
        }
    }
}

/// Refuses reference SMs where they cannot do what is asked for.
fn reference_refused(options: &Options) -> Result<(), SimError> {
    if options.reference && !options.functional && options.observer.is_some() {
        let text =
            "no observer can listen to the reference SM: ask for no picture, timeline or profile";
        return Err(SimError::BadLaunch(text.into()));
    }
    Ok(())
}

/// A loaded module.
struct Module {
    program: Arc<Program>,
    /// Address of each symbol.
    symbols: Vec<u64>,
    /// Textures bound to `.texref` variables.
    texrefs: Vec<Option<Texture>>,
    /// The program's kernels on this machine.
    kernels: Vec<Loaded>,
}

/// What a kernel is on this machine, found out when it is launched for the first time: a module may
/// hold thousands that never are.
#[derive(Default)]
struct Loaded {
    /// Where its code lies in instruction memory.
    base: OnceLock<u64>,
    /// The kernel with spills, where the machine asks for them.
    fitted: OnceLock<Option<Kernel>>,
    /// What it takes to run it.
    decoded: OnceLock<Decoded>,
    /// Whether it has been launched, and what is odd about it been said.
    launched: bool,
}

/// A kernel, ready to run: the same for all its launches.
struct Decoded {
    kernel: Arc<Kernel>,
    code: Arc<Code>,
    facts: Arc<[OpFacts]>,
}

/// The simulated GPU.
pub struct Gpu {
    machine: Arc<Machine>,
    options: Options,
    image: GlobalMemory,
    memory: MemorySystem,
    sms: Vec<Site>,
    /// What SMs and the dispatcher tell each other.
    board: Arc<Board>,
    /// Runs SMs, memory and the dispatcher.
    engine: Engine,
    /// Whether memory's back end may be ahead of the SMs.
    is_ahead: bool,
    /// The SMs where they are reference SMs.
    reference: Vec<ReferenceSm>,
    /// What has come for them.
    reference_replies: Vec<Replies>,
    modules: Vec<Module>,
    texture_objects: Vec<Option<Texture>>,
    /// Memory for barriers of whole grids, once there was need of it.
    workspace: u64,
    /// The first core cycle of the next launch at the earliest: launches follow one another.
    cycle: Cycle,
    /// The SM that took a block last: the next launch begins with the one behind it.
    last_sm: usize,
    launches: u64,
    /// A launch has failed under way: what is left of it is still on the SMs.
    failed: bool,
    reports: Vec<LaunchReport>,
    /// Beyond the first launches: where in `reports` those of a kernel are added up.
    gathered: HashMap<String, usize>,
    warnings: Vec<String>,
    printed: Printed,
    races: Option<RaceCheck>,
    steps: Option<StepCheck>,
    totals: Totals,
    host: Duration,
}

impl Gpu {
    /// A GPU as the machine describes it. One that was loaded has been validated; one that was
    /// changed by hand since is validated here.
    pub fn new(machine: Machine, options: Options) -> Result<Gpu, SimError> {
        validate(&machine).map_err(|problem| SimError::BadLaunch(problem.message))?;
        let tables = tables::total(&machine);
        if !host_has(tables as usize) {
            return Err(SimError::BadLaunch(format!(
                "the host has no {} MiB left for the tables of the machine's caches",
                tables.div_ceil(1 << 20)
            )));
        }
        reference_refused(&options)?;
        let machine = Arc::new(machine);
        let parts = Parts::new(&machine, &options);
        Ok(Gpu {
            is_ahead: lookahead(&machine) > 0,
            engine: parts.engine,
            last_sm: parts.sms.len() - 1,
            sms: parts.sms,
            memory: parts.memory,
            board: parts.board,
            reference: parts.reference,
            reference_replies: parts.reference_replies,
            races: options.check_races.then(RaceCheck::default),
            steps: options.check_steps.then(StepCheck::default),
            image: {
                let mut image = GlobalMemory::new();
                image.limit_heap(options.heap);
                image
            },
            machine,
            options,
            modules: Vec::new(),
            texture_objects: Vec::new(),
            workspace: 0,
            cycle: Cycle::ZERO,
            launches: 0,
            failed: false,
            reports: Vec::new(),
            gathered: HashMap::new(),
            warnings: Vec::new(),
            printed: Printed::default(),
            totals: Totals::default(),
            host: Duration::ZERO,
        })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The SMs, for tests that look at one.
    #[cfg(test)]
    fn sms_mut(&mut self) -> impl Iterator<Item = &mut Sm> {
        self.sms.iter_mut().map(|site| &mut site.sm)
    }

    /// Reserves global memory.
    pub fn alloc(&mut self, bytes: u64, label: &str) -> Option<u64> {
        self.image.alloc(bytes, 256, label)
    }

    /// The same, at a multiple of `align`.
    pub fn alloc_at_multiple(&mut self, bytes: u64, align: u64, label: &str) -> Option<u64> {
        self.image.alloc(bytes, align, label)
    }

    /// From now on the bytes of the allocation that starts at an address are those that are lent.
    pub fn lend(&mut self, address: u64, lender: Box<dyn Lend>) -> Result<(), AccessError> {
        self.image.lend(address, lender)
    }

    /// From now on blocks of a launch can wait for all others of it; false where there is no memory for that.
    pub fn grid_barriers(&mut self) -> bool {
        if self.workspace == 0 {
            self.workspace = self
                .alloc(GRID_BARRIER, "barriers of whole grids")
                .unwrap_or(0);
        }
        self.workspace != 0
    }

    /// How much device-side `malloc` may give out from now on.
    pub fn limit_heap(&mut self, bytes: u64) {
        self.image.limit_heap(bytes);
    }

    /// The machine's time: cycles until all launches so far were over.
    pub fn time(&self) -> Cycle {
        self.cycle
    }

    /// Gives global memory back; later accesses to it are errors.
    pub fn free(&mut self, address: u64) -> Result<(), AccessError> {
        self.image.free(address)
    }

    /// Copies from the host; as on the reference machine the data is in L2 afterwards as far
    /// as it fits, unless it went to a variable of a module.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), AccessError> {
        self.image.write(address, data)?;
        let warms = self.machine.gpu.copies_warm_l2 && !self.is_variable(address);
        if warms && !self.options.functional {
            self.memory.warm_l2(address, data.len() as u64);
        }
        Ok(())
    }

    /// Copies to the host.
    pub fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, AccessError> {
        let data = self.look(address, bytes)?;
        let mut copy = Vec::new();
        if !try_reserve(&mut copy, data.len()) {
            return Err(AccessError::HostMemory { bytes });
        }
        copy.extend_from_slice(data);
        Ok(copy)
    }

    /// Bytes of global memory as they are, without a copy.
    pub fn look(&self, address: u64, bytes: u64) -> Result<&[u8], AccessError> {
        self.image.slice(address, bytes)
    }

    /// Keeps the report of a launch. There can be any number of launches; beyond the first
    /// [`MOST_REPORTS`] those of a kernel are one report.
    fn keep(&mut self, report: LaunchReport) {
        if self.reports.len() < MOST_REPORTS {
            self.reports.push(report);
            return;
        }
        let next = self.reports.len();
        let at = *self.gathered.entry(report.kernel.clone()).or_insert(next);
        match self.reports.get_mut(at) {
            Some(sum) => {
                sum.launches += report.launches;
                sum.totals.add(&report.totals);
            }
            None => self.reports.push(report),
        }
    }

    /// The pairs of accesses found so far that are right only where threads are in step, where they are looked for.
    pub fn steps(&self) -> &[String] {
        self.steps.as_ref().map_or(&[], |steps| steps.found())
    }

    /// The races found so far, where they are looked for.
    pub fn races(&self) -> &[String] {
        self.races.as_ref().map_or(&[], |races| races.found())
    }

    /// What kernels have printed so far.
    pub fn printed(&self) -> Printed {
        self.printed
    }

    /// Statistics of every launch so far; beyond the first [`MOST_REPORTS`], of all launches of a
    /// kernel together.
    pub fn reports(&self) -> &[LaunchReport] {
        &self.reports
    }

    /// What is odd about the kernels that have been launched, each thing once.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Statistics of all launches together.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Wall-clock time spent in launches.
    pub fn host_time(&self) -> Duration {
        self.host
    }

    /// Ends the run: tells the listener for progress that it is over, gives the observer back.
    pub fn finish(&mut self) -> Option<Box<dyn Observer>> {
        let snapshot = self.snapshot(0, 0);
        self.options.progress.finish(snapshot);
        self.options.observer.take()
    }
}
