//! `warpsim inspect`: what there is to know about kernels before they run.

use crate::console::failure::{Failure, REFUSED_KERNELS, print};
use crate::inspect_code::{inspect, is_cubin};
use crate::setup::cuda::CudaArguments;
use crate::setup::isa::Isa;
use crate::setup::registers::{Inlining, RegisterSource};
use crate::transform::Comparison;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_present::mangled::{Function, shown};
use warpsim_ptx::analysis::registers::estimate;
use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::inspect::{
    Summary, arrays_in_words, cfg_dot, cfg_svg, disassemble_all, summarize,
};
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::lower::lower_with;
use warpsim_ptx::rewrite::vtw::Variant;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::occupancy::{fitted, hoist_limit, occupancy, registers};
use warpsim_workloads::Compiler;
use warpsim_workloads::args::{find_kernel, signature};
use warpsim_workloads::files::write_whole;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::registers::Registers;
use warpsim_workloads::virtual_blocks::Rewritten;

/// Arguments of `warpsim inspect`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The PTX file, a `.cu` file to compile, a workload, or machine code (a cubin).
    #[arg(value_name = "FILE.ptx|FILE.cu|WORKLOAD|FILE.cubin")]
    file: PathBuf,
    /// What is shown: `ptx`, or `sass`, the machine code for sm_90 with its control bits explained.
    #[arg(long, value_name = "ISA", default_value = "ptx")]
    isa: Isa,
    /// Only this kernel: its name in C++ or in the PTX, or a part that no other has.
    #[arg(long, value_name = "PART")]
    kernel: Option<String>,
    /// Machine preset or file to compute occupancy for.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Threads per block, for the occupancy.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: u32,
    /// Dynamic shared memory in bytes, for the occupancy.
    #[arg(long, default_value_t = 0)]
    shared: u32,
    /// Who says how many registers a kernel takes.
    #[arg(long, value_name = "SOURCE", default_value = "estimate")]
    registers: RegisterSource,
    #[command(flatten)]
    inlining: Inlining,
    /// Also show what kernels become with virtual blocks: registers and resident blocks before and
    /// after.
    #[arg(long, value_name = "VARIANT")]
    virtualize: Option<Virtualize>,
    #[command(flatten)]
    cuda: CudaArguments,
    /// Show the lowered instructions.
    #[arg(long)]
    code: bool,
    /// Write the control-flow graph in Graphviz's language.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write the control-flow graph as a picture.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the control-flow graph to this file: as a picture if its name ends in .svg, in Graphviz's
    /// language if in .dot.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["dot", "svg"])]
    output: Option<PathBuf>,
}

/// How blocks become virtual ones, on the command line.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Virtualize {
    /// By a stride.
    Software,
    /// As the hardware hands out blocks.
    Hardware,
}

/// Shows kernels.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.isa == Isa::Sass || is_cubin(&arguments.file) {
        let kernel = arguments.kernel.as_deref();
        return inspect(&arguments.file, kernel, &arguments.cuda);
    }
    let machine = Machine::resolve(&arguments.machine, &[])?;
    let name = arguments.file.display().to_string();
    let text = arguments.cuda.read_or_workload(&arguments.file)?;
    let registers = arguments.registers.resolve()?;
    let options = arguments.inlining.options();
    if arguments.kernel.is_none()
        && let Ok(program) = warpsim_ptx::parse(&text).and_then(|m| lower_with(&m, options))
        && program.kernels.is_empty()
        && !program.rejected.is_empty()
    {
        print(&refusals(&program, &name, &text))?;
        return Ok(ExitCode::from(REFUSED_KERNELS));
    }
    let lowering = Lowering {
        registers: registers.clone(),
        options,
    };
    let program = lowering.compile(&name, &text)?;
    if let Some(part) = &arguments.kernel
        && let Some((_, reasons)) = program.rejected.iter().find(|(k, _)| means(part, k))
        && find_kernel(&program, part).is_err()
    {
        return Err(Failure::bad_input(render_all(reasons, &name, &text)));
    }
    let kernels = choose(&program, arguments.kernel.as_deref())?;
    let mut out = String::new();
    for kernel in &kernels {
        describe(&mut out, &program, kernel, &machine, &registers, arguments);
    }
    if arguments.kernel.is_none() {
        out += &refusals(&program, &name, &text);
    }
    if let Some(variant) = arguments.virtualize {
        let variant = match variant {
            Virtualize::Software => Variant::Software,
            Virtualize::Hardware => Variant::Hardware,
        };
        let comparison = Comparison {
            machine: &machine,
            block: arguments.block,
            registers: &registers,
        };
        let rewritten = Rewritten::new(&name, &text, variant, &|k| hoist_limit(&machine, k))?;
        let _ = writeln!(out, "\nwith virtual blocks:");
        out += &comparison.text(&name, &text, &rewritten)?;
    }
    type Draw = fn(&Kernel) -> String;
    let mut pictures: Vec<(&PathBuf, Draw)> = Vec::new();
    pictures.extend(arguments.dot.iter().map(|path| (path, cfg_dot as Draw)));
    pictures.extend(arguments.svg.iter().map(|path| (path, cfg_svg as Draw)));
    if let Some(path) = &arguments.output {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => pictures.push((path, cfg_svg)),
            Some("dot") => pictures.push((path, cfg_dot)),
            _ => {
                return Err(Failure::bad_input(format!(
                    "cannot tell what to write to {}: end its name in .svg or .dot",
                    path.display()
                )));
            }
        }
    }
    for (path, draw) in pictures {
        let [kernel] = kernels.as_slice() else {
            return Err(Failure::bad_input(
                "a picture shows one kernel: choose it with --kernel",
            ));
        };
        write(path, &draw(kernel))?;
    }
    print(&out)?;
    let refused = arguments.kernel.is_none() && !program.rejected.is_empty();
    Ok(if refused {
        ExitCode::from(REFUSED_KERNELS)
    } else {
        ExitCode::SUCCESS
    })
}

/// Whether a user who wrote this may have meant the kernel.
fn means(written: &str, kernel: &str) -> bool {
    kernel == written || Function::of(kernel).is_some_and(|f| f.is_called(written))
}

/// The kernels that cannot be run, each with every reason.
fn refusals(program: &Program, name: &str, text: &str) -> String {
    let mut out = String::new();
    for (kernel, reasons) in &program.rejected {
        let _ = writeln!(out, "{}: cannot be run", shown(kernel));
        for line in render_all(reasons, name, text).lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
    }
    out
}

fn choose<'a>(program: &'a Program, part: Option<&str>) -> Result<Vec<&'a Kernel>, Failure> {
    match part {
        None if program.kernels.is_empty() => Err(Failure::bad_input("the PTX has no kernels")),
        None => Ok(program.kernels.iter().map(|k| &**k).collect()),
        Some(part) => {
            let index = find_kernel(program, part).map_err(Failure::bad_input)?;
            Ok(vec![&program.kernels[index]])
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", path.display())))
}

// Writing to a String cannot fail, hence the ignored results below.
fn describe(
    out: &mut String,
    program: &Program,
    kernel: &Kernel,
    machine: &Machine,
    registers: &Registers,
    arguments: &Arguments,
) {
    let s = summarize(program, kernel);
    let _ = writeln!(out, "{}", signature(kernel));
    if shown(&kernel.name) != kernel.name {
        let _ = writeln!(out, "  in the PTX     {}", kernel.name);
    }
    let [int, fp, sfu, memory, control] = s.mix;
    let _ = writeln!(
        out,
        "  instructions   {} (int {int}, fp {fp}, sfu {sfu}, memory {memory}, control {control})",
        s.instructions
    );
    counted(out, kernel, &s, machine, registers);
    let _ = writeln!(
        out,
        "  memory         shared {} B{}, local {} B per thread, const {} B, parameters {} B",
        s.shared_bytes,
        if s.dynamic_shared.is_some() {
            " and dynamic"
        } else {
            ""
        },
        s.local_bytes,
        s.const_bytes,
        s.param_bytes
    );
    let arrays = arrays_in_words(program, kernel);
    let _ = writeln!(out, "  arrays         {arrays}");
    branches(out, kernel, &s);
    fits(out, kernel, machine, arguments);
    if arguments.code {
        let _ = writeln!(out, "{}", disassemble_all(kernel));
    }
}

/// Registers: how many, and which source says so, and what this machine makes of them.
fn counted(
    out: &mut String,
    kernel: &Kernel,
    s: &Summary,
    machine: &Machine,
    registers: &Registers,
) {
    let estimated = estimate(kernel);
    let _ = write!(out, "  registers      {}", s.register_demand);
    let _ = match registers {
        Registers::Estimate => write!(out, " by our estimate"),
        asked => write!(
            out,
            " by {}; our estimate is {}",
            asked.name(),
            estimated.registers
        ),
    };
    let _ = writeln!(
        out,
        ", at least {} without spilling; {} live at most in the PTX (before {}), {} named",
        s.register_floor,
        s.live_registers,
        kernel.origin(s.demand_at),
        s.registers
    );
    if let Some(spilled) = fitted(machine, kernel) {
        let more = spilled.code.len() - kernel.code.len();
        let bytes = spilled
            .spill_base
            .map_or(0, |base| spilled.local_bytes - base);
        let _ = writeln!(
            out,
            "                 {} on {}: {bytes} B per thread are spilled, with {more} loads and stores",
            spilled.register_demand, machine.name
        );
    }
}

fn branches(out: &mut String, kernel: &Kernel, s: &Summary) {
    let (blocks, reachable) = s.blocks;
    let _ = writeln!(
        out,
        "  control        {blocks} basic blocks ({reachable} reachable), {} barriers, {} conditional branches",
        s.barriers,
        s.branches.len()
    );
    match kernel.crossings.calls.len() {
        0 => {}
        calls => {
            let _ = writeln!(
                out,
                "                 {calls} calls of functions that keep their bodies (--inline-limit)"
            );
        }
    }
    for b in &s.branches {
        let _ = writeln!(
            out,
            "    {}: {}{}, {}{}",
            kernel.origin(b.pc),
            if b.uniform { "uniform" } else { "may diverge" },
            if b.backward { ", a loop" } else { "" },
            match b.reconverge {
                Some(pc) => format!("meets again at {}", kernel.origin(pc)),
                None => "meets again at exit".to_string(),
            },
            match b.likely {
                Some(pc) => format!(", likely at {} already", kernel.origin(pc)),
                None => String::new(),
            }
        );
    }
}

fn fits(out: &mut String, kernel: &Kernel, machine: &Machine, arguments: &Arguments) {
    let shared = kernel
        .dynamic_shared
        .unwrap_or(kernel.shared_bytes)
        .saturating_add(arguments.shared);
    let o = occupancy(
        machine,
        registers(machine, kernel, arguments.block),
        shared,
        arguments.block,
    );
    let limit = |blocks: u32| match blocks {
        u32::MAX => "any".to_string(),
        n => n.to_string(),
    };
    let _ = writeln!(
        out,
        "  occupancy      {} blocks of {} threads per SM of {}: {} of {} warps, limited by {}",
        o.blocks, arguments.block, machine.name, o.warps, o.max_warps, o.limited_by
    );
    let _ = writeln!(
        out,
        "                 blocks allow {}, threads {}, registers {} ({} per thread), shared memory {}",
        o.by_blocks,
        o.by_threads,
        limit(o.by_registers),
        o.registers_per_thread,
        limit(o.by_shared)
    );
}
