//! `warpsim transform`: rewrites of PTX.

use crate::console::failure::{Failure, print_data, say};
use crate::setup::cuda::read_ptx;
use crate::setup::registers::RegisterSource;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Kernel;
use warpsim_ptx::lazy::LazyKernel;
use warpsim_ptx::rewrite::vtw::{Form, Variant};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::occupancy::{hoist_limit, occupancy, registers};
use warpsim_workloads::Compiler;
use warpsim_workloads::files::write_whole;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::registers::Registers;
use warpsim_workloads::virtual_blocks::Rewritten;

/// Arguments of `warpsim transform`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Give kernels virtual thread blocks and warps.
    #[command(
        after_help = "The rewritten PTX goes to standard output or the file of -o; what became of \
                      each kernel, with registers and resident blocks before and after, to standard error."
    )]
    Vtw(Vtw),
}

#[derive(clap::Args)]
struct Vtw {
    /// The PTX file.
    file: PathBuf,
    /// Write the rewritten PTX to this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Stride by the number of virtual blocks: PTX that any GPU runs.
    #[arg(long)]
    software: bool,
    /// Machine preset or file to compute resident blocks for.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Threads per block, for the resident blocks.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: u32,
    /// Who says how many registers a kernel takes.
    #[arg(long, value_name = "SOURCE", default_value = "estimate")]
    registers: RegisterSource,
}

/// Rewrites a file.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let What::Vtw(vtw) = &arguments.what;
    let name = vtw.file.display().to_string();
    let text = read_ptx(&vtw.file)?;
    let machine = Machine::resolve(&vtw.machine, &[])?;
    let variant = if vtw.software {
        Variant::Software
    } else {
        Variant::Hardware
    };
    let rewritten = Rewritten::new(&name, &text, variant, &|k| hoist_limit(&machine, k))?;
    let notes = Comparison {
        machine: &machine,
        block: vtw.block,
        registers: &vtw.registers.resolve()?,
    }
    .text(&name, &text, &rewritten)?;
    if rewritten.outcomes().iter().all(|o| o.result.is_err()) {
        return Err(Failure::bad_input(format!(
            "{name}: no kernel can be rewritten\n{notes}"
        )));
    }
    match &vtw.output {
        Some(path) => write(path, &rewritten.text)?,
        None => print_data(&rewritten.text)?,
    }
    say(&notes);
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", path.display())))
}

/// Kernels before and after, with what it means for how many blocks are resident.
pub struct Comparison<'a> {
    /// Where.
    pub machine: &'a Machine,
    /// Threads per block.
    pub block: u32,
    /// Who says how many registers they take.
    pub registers: &'a Registers,
}

impl Comparison<'_> {
    /// What became of each kernel, a line each.
    pub fn text(&self, name: &str, text: &str, rewritten: &Rewritten) -> Result<String, Failure> {
        let lowering = Lowering::from(self.registers.clone());
        let before = lowering.compile(name, text)?;
        // Instructions that no GPU has are not for an assembler either.
        let after = match rewritten.variant() {
            Variant::Software => lowering.compile(name, &rewritten.text)?,
            Variant::Hardware => warpsim_workloads::simulated::compile(name, &rewritten.text)?,
        };
        let mut out = String::new();
        for outcome in rewritten.outcomes() {
            let kernel = &outcome.kernel;
            let form = match &outcome.result {
                Ok(form) => form,
                Err(why) => {
                    let _ = writeln!(out, "{}: as it was: it {why}", shown(kernel));
                    continue;
                }
            };
            let find = |kernels: &[LazyKernel]| kernels.iter().find(|k| k.name == *kernel).cloned();
            if let (Some(before), Some(after)) = (find(&before.kernels), find(&after.kernels)) {
                describe(&mut out, &before, &after, form, self.machine, self.block);
            }
        }
        Ok(out)
    }
}

fn describe(
    out: &mut String,
    before: &Kernel,
    after: &Kernel,
    form: &Form,
    machine: &Machine,
    block: u32,
) {
    let [was, is] = [before, after].map(|kernel| {
        let shared = kernel.dynamic_shared.unwrap_or(kernel.shared_bytes);
        let registers = registers(machine, kernel, block);
        let o = occupancy(machine, registers, shared, block);
        (registers, o.blocks * machine.gpu.sms)
    });
    let _ = writeln!(
        out,
        "{}: registers {} -> {}, resident blocks of {block} threads on {} {} -> {}, {} hoisted, \
         barrier added: {}",
        shown(&before.name),
        was.0,
        is.0,
        machine.name,
        was.1,
        is.1,
        form.hoisted,
        form.barrier
    );
}
