//! `warpsim exec`: a program that knows nothing of warpsim, its kernels on a simulated machine.

#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod late;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod reporter;
#[cfg(target_os = "linux")]
mod start;

use crate::console::failure::Failure;
use crate::run::outputs::OutputArguments;
use crate::run::simulation::SimulationArguments;
use crate::setup::machine::MachineArguments;
use crate::setup::registers::{Inlining, RegisterSource};
use std::ffi::OsString;
use std::process::ExitCode;
use warpsim_cuda::choice::Numbers;

/// Arguments of `warpsim exec`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim exec -- ./vector_add 1000000
  warpsim exec --machine gtx480-v3 --stats app.json --report app.html -- ./app --size 512
  warpsim exec --kernel matmul --first 1 -- ./app        only that is timed, the rest is executed
  warpsim exec --launches 3-5 --profile -- ./app
  warpsim exec --sample -- ./app                         launches that are alike are timed twice

The program is not changed. It needs PTX (nvcc puts it in unless it is told otherwise), and either its
symbols or CUDA's runtime as a library (-cudart shared).

Exit codes: the program's; 128 and the signal's number where a signal ended it; 2 where it could not be started.")]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Time these launches, as in 3-5 or 1,4-6; the first is 1. The others are executed without timing.
    #[arg(long, value_name = "LIST", conflicts_with = "functional")]
    launches: Option<Numbers>,
    /// Time launches of kernels that have this in their names.
    #[arg(long, value_name = "NAME", conflicts_with = "functional")]
    kernel: Option<String>,
    /// Time the first N launches of each kernel (of those that the other options choose).
    #[arg(long, value_name = "N", conflicts_with = "functional", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,
    /// Time two of the launches of a kernel that have the same shape and numbers of instructions within 2%, and count the second as
    /// often as there are more of them.
    #[arg(long, conflicts_with = "functional")]
    sample: bool,
    /// The compute capability that the device says it has, which chooses among a program's PTX.
    #[arg(long, value_name = "MAJOR.MINOR", default_value = "8.0")]
    capability: String,
    /// Who says how many registers a kernel takes.
    #[arg(long, value_name = "SOURCE", default_value = "estimate")]
    registers: RegisterSource,
    #[command(flatten)]
    inlining: Inlining,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    simulation: SimulationArguments,
    /// Show ten lines at the end instead of a page.
    #[arg(long, conflicts_with = "quiet")]
    brief: bool,
    /// Show nothing but errors.
    #[arg(short, long)]
    quiet: bool,
    /// The program, and what it is given.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the program.
#[cfg(target_os = "linux")]
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    start::run(arguments)
}

/// Says where it can be run.
#[cfg(not(target_os = "linux"))]
pub fn run(_arguments: &Arguments) -> Result<ExitCode, Failure> {
    Err(Failure::bad_input("programs are executed on Linux only"))
}
