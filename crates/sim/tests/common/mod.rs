//! A bench for small kernels: PTX text in, memory, statistics and the cycle of every issue out.

#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../../../exec/tests/common/generate.rs"]
pub mod generate;
pub mod large;

pub use generate::kernel;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::kernel::{Pc, Program};
use warpsim_ptx::lower::lower_owned;
use warpsim_ptx::rewrite::vtw::{Variant, mark, rewrite};
use warpsim_sim::config::{Machine, ReadMachine, VirtualMode};
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::gpu::{Gpu, Options, SimError};
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::{LaunchReport, SchedulerState};
use warpsim_sim::time::Cycle;

/// Bytes of the output and input buffers.
pub const BUFFER: u64 = 1 << 16;

/// What happened, when, on which SM and in which slot.
pub type Event = (u64, u16, u16, WarpEvent);

#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<Event>>>);

impl Observer for Recorder {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.0.borrow_mut().push((cycle.get(), sm, slot, event));
    }
}

/// Parses and lowers; panics with the diagnostics.
pub fn program(ptx: &str) -> Arc<Program> {
    let module = warpsim_ptx::parse(ptx);
    match module.and_then(|m| lower_owned(m, Default::default())) {
        Ok(program) if program.rejected.is_empty() => Arc::new(program),
        Ok(program) => panic!("{}", render_all(&program.rejected[0].1, "test", ptx)),
        Err(errors) => panic!("{}", render_all(&errors, "test", ptx)),
    }
}

/// The same, with virtual blocks if the machine wants them.
pub fn compiled(machine: &Machine, ptx: &str) -> Arc<Program> {
    let variant = match machine.virtual_blocks.mode {
        VirtualMode::Off => return program(ptx),
        VirtualMode::Software => Variant::Software,
        VirtualMode::Hardware => Variant::Hardware,
    };
    let module =
        warpsim_ptx::parse(ptx).unwrap_or_else(|e| panic!("{}", render_all(&e, "test", ptx)));
    let done =
        rewrite(&module, variant).unwrap_or_else(|e| panic!("{}", render_all(&e, "test", ptx)));
    let mut compiled = Program::clone(&program(&warpsim_ptx::print(&done.module)));
    mark(&mut compiled, &done.outcomes, variant);
    Arc::new(compiled)
}

/// A machine with settings changed.
pub fn machine(preset: &str, set: &[&str]) -> Machine {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve(preset, &set).unwrap_or_else(|e| panic!("{preset} {set:?}: {e}"))
}

/// Names of all issue policies that go with stacks.
pub fn issue_policies() -> impl Iterator<Item = &'static str> + Clone {
    let with_stacks = |name: &&str| {
        let set = [format!("scheduler=\"{name}\"")];
        Machine::resolve("gtx480", &set).is_ok()
    };
    let names = warpsim_sim::schedule::POLICIES.iter().map(|p| p.info.name);
    names.filter(with_stacks)
}

/// Settings for each fetch policy, with what it needs.
pub fn fetch_settings() -> Vec<Vec<String>> {
    let settings = |name: &str| {
        let needs = warpsim_sim::fetch::needs(name).iter();
        let policy = format!("fetch.policy=\"{name}\"");
        [policy]
            .into_iter()
            .chain(needs.map(|n| n.setting()))
            .collect()
    };
    warpsim_sim::fetch::POLICIES
        .iter()
        .map(|p| settings(p.info.name))
        .collect()
}

/// A GPU with one module and two buffers: the input holds word i = i.
pub struct Bench {
    /// The GPU.
    pub gpu: Gpu,
    program: Arc<Program>,
    ptx: String,
    recorder: Recorder,
    /// Address of the output.
    pub out: u64,
    /// Address of the input.
    pub input: u64,
    module: usize,
}

impl Bench {
    /// A bench for `ptx` on `machine`.
    pub fn new(machine: Machine, ptx: &str) -> Bench {
        Bench::with(machine, ptx, Options::default())
    }

    /// A bench with options.
    pub fn with(machine: Machine, ptx: &str, options: Options) -> Bench {
        let recorder = Recorder::default();
        let options = Options {
            observer: Some(Box::new(recorder.clone())),
            ..options
        };
        Bench::build(machine, ptx, options, recorder)
    }

    /// A bench without an observer, as most runs are: events are not recorded.
    pub fn unobserved(machine: Machine, ptx: &str, options: Options) -> Bench {
        Bench::build(machine, ptx, options, Recorder::default())
    }

    fn build(machine: Machine, ptx: &str, options: Options, recorder: Recorder) -> Bench {
        let program = compiled(&machine, ptx);
        let mut gpu = Gpu::new(machine, options).unwrap_or_else(|e| panic!("{e}"));
        let module = gpu.load(program.clone()).unwrap_or_else(|e| panic!("{e}"));
        let out = gpu.alloc(BUFFER, "out").expect("room");
        let input = gpu.alloc(BUFFER, "in").expect("room");
        let words: Vec<u8> = (0..BUFFER as u32 / 4).flat_map(u32::to_le_bytes).collect();
        gpu.write(out, &vec![0; BUFFER as usize]).expect("valid");
        gpu.write(input, &words).expect("valid");
        Bench {
            gpu,
            program,
            ptx: ptx.into(),
            recorder,
            out,
            input,
            module,
        }
    }

    /// Launches the kernel.
    pub fn try_launch(
        &mut self,
        grid: [u32; 3],
        block: [u32; 3],
        n: u32,
    ) -> Result<(), Box<SimError>> {
        self.recorder.0.borrow_mut().clear();
        let mut params = self.out.to_le_bytes().to_vec();
        params.extend(self.input.to_le_bytes());
        params.extend(n.to_le_bytes());
        let launch = Launch {
            kernel: 0,
            grid,
            block,
            dynamic_shared: 0,
            params,
            registers: None,
        };
        self.gpu.launch(self.module, &launch).map_err(Box::new)
    }

    /// Launches the kernel in one dimension; it has to end well.
    pub fn launch(&mut self, grid: u32, block: u32) -> &mut Bench {
        self.try_launch([grid, 1, 1], [block, 1, 1], 0)
            .unwrap_or_else(|e| panic!("{e}"));
        self
    }

    /// What the last launch did.
    pub fn report(&self) -> &LaunchReport {
        self.gpu.reports().last().expect("something was launched")
    }

    /// Events of the last launch.
    pub fn events(&self) -> Vec<Event> {
        self.recorder.0.borrow().clone()
    }

    /// The text of each instruction of the kernel, as far as its opcode and space.
    pub fn code(&self) -> Vec<String> {
        let text = |i: &warpsim_ptx::kernel::Instr| {
            let space = i.mods.space.map(|s| format!(".{s:?}").to_lowercase());
            format!("{}{}", i.op.text(), space.unwrap_or_default())
        };
        self.program.kernels[0].code.iter().map(text).collect()
    }

    /// The output buffer.
    pub fn output(&self) -> Vec<u32> {
        let bytes = self.gpu.read(self.out, BUFFER).expect("valid");
        bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect()
    }

    /// The instruction on the line that ends in `// @mark`.
    pub fn pc(&self, mark: &str) -> Pc {
        let tail = format!("// @{mark}");
        let line = self.ptx.lines().position(|l| l.ends_with(&tail));
        let line = line.unwrap_or_else(|| panic!("no line is marked {mark}")) as u32 + 1;
        let code = &self.program.kernels[0].code;
        let pc = code.iter().position(|i| i.line == line);
        pc.unwrap_or_else(|| panic!("the line marked {mark} has no instruction")) as Pc
    }

    /// Cycles in which a slot of SM 0 issued the marked instruction.
    pub fn issues_of(&self, slot: u16, mark: &str) -> Vec<u64> {
        let wanted = self.pc(mark);
        let is = |e: &Event| match *e {
            (cycle, 0, s, WarpEvent::Issued { pc, .. }) if s == slot && pc == wanted => Some(cycle),
            _ => None,
        };
        self.events().iter().filter_map(is).collect()
    }

    /// Cycle in which slot 0 first issued the marked instruction.
    pub fn at(&self, mark: &str) -> u64 {
        let issues = self.issues_of(0, mark);
        *issues
            .first()
            .unwrap_or_else(|| panic!("{mark} never issued"))
    }

    /// Cycles between the first issues of two marked instructions.
    pub fn gap(&self, from: &str, to: &str) -> u64 {
        self.at(to) - self.at(from)
    }
}

/// Runs a body as one warp with warm instruction cache and L2, and gives the bench back. There is
/// one SM: with several, the second launch would go on with the next.
pub fn lone_warp(preset: &str, shared_bytes: u32, body: &str) -> Bench {
    let mut bench = Bench::new(machine(preset, &["gpu.sms=1"]), &kernel(shared_bytes, body));
    bench.launch(1, 32).launch(1, 32);
    bench
}

/// Cycles of warps and schedulers add up exactly.
pub fn check_laws(report: &LaunchReport, machine: &Machine) {
    let totals = &report.totals;
    let counters = &totals.sm.counters;
    let name = &machine.name;
    assert_eq!(totals.sm.warps.sum(), counters.warp_cycles, "{name}: warps");
    assert_eq!(
        totals.sm.schedulers.sum(),
        counters.scheduler_cycles,
        "{name}: schedulers"
    );
    let slices = 32 / machine.sm.warp_width as u64;
    let schedulers = machine.gpu.sms as u64 * machine.sm.schedulers as u64 * slices;
    assert_eq!(
        counters.scheduler_cycles,
        totals.cycles * schedulers,
        "{name}: every scheduler counts every cycle"
    );
    let issued = warpsim_sim::stats::WarpState::Issued;
    assert_eq!(
        totals.sm.warps.get(issued),
        counters.warp_instructions,
        "{name}: a warp issues one instruction in a cycle"
    );
    let c = counters;
    assert_eq!(
        totals.sm.schedulers.get(SchedulerState::Issued)
            + c.issue_held
            + c.issue_stalled
            + c.w0_memory
            + c.w0_idle,
        c.scheduler_cycles,
        "{name}: a scheduler issues, is held, stalls, waits for memory or idles"
    );
    assert_eq!(
        c.memory_stalls_banks
            + c.memory_stalls_accesses
            + c.memory_stalls_cache
            + c.memory_stalls_network,
        c.memory_stalls,
        "{name}: memory stalls have a cause each"
    );
    let blocks: u64 = report.grid.iter().map(|&n| n as u64).product();
    assert_eq!(counters.blocks, blocks, "{name}: every block completes");
}
