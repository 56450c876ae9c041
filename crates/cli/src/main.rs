//! The `warpsim` command. One file or folder per subcommand.

mod agreement;
mod area;
mod arguments;
mod characterise;
mod compare;
mod console;
mod exec;
mod export;
mod import;
mod inspect;
mod inspect_code;
mod list;
mod new;
mod pictures;
mod profile;
mod report;
mod run;
mod selftest;
mod setup;
mod shell;
mod show;
mod study;
mod summary;
mod trace;
mod transform;
mod verify;

use clap::{CommandFactory, Parser, Subcommand};
use console::failure::{Failure, tell};
use std::process::ExitCode;

/// A GPU simulator for people who study warps.
#[derive(Parser)]
#[command(
    name = "warpsim",
    version = env!("WARPSIM_VERSION"),
    about,
    arg_required_else_help = true,
    after_help = "Examples:
  warpsim run matmul                           a workload on the simulated GTX 480
  warpsim run bfs --scheduler lrr --machine fx5800
  warpsim exec -- ./app                        a CUDA program as it is
  warpsim new kernel.cu && warpsim run kernel.toml --profile
  warpsim list workloads
  warpsim show machine gtx480-v3"
)]
struct Cli {
    /// Say which programs are run and which libraries are loaded: compilers, assemblers, drivers.
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a workload or a launch file on a simulated machine.
    Run(Box<run::Arguments>),
    /// Run a CUDA program as it is, its kernels on a simulated machine.
    Exec(Box<exec::Arguments>),
    /// Write a launch file to begin with for a file of kernels.
    New(new::Arguments),
    /// Write a workload as launch file, PTX and data.
    Export(export::Arguments),
    /// Run a paper's experiments and compare with what it reports.
    Study(study::StudyArguments),
    /// Run a grid of workloads, machines and settings.
    Sweep(study::SweepArguments),
    /// Put the shards of a study or sweep together.
    Merge(study::MergeArguments),
    /// Show which statistics moved between runs.
    Compare(compare::Arguments),
    /// Compare cycles with the reference simulator's on micro-kernels and workloads.
    Agreement(agreement::Arguments),
    /// Measure the structure of the workloads: divergence, barriers, occupancy, mix.
    Characterise(characterise::Arguments),
    /// Draw which lanes work in which basic block, under each divergence model.
    Flow(Box<pictures::flow::Arguments>),
    /// Describe the kernels of a PTX file: registers, branches, occupancy.
    Inspect(inspect::Arguments),
    /// Rewrite PTX.
    Transform(transform::Arguments),
    /// Run random programs under every divergence model and compare.
    Selftest(selftest::Arguments),
    /// Compare with the NVIDIA GPU in this machine: instructions, programs, workloads.
    VerifyOnGpu(Box<verify::Arguments>),
    /// Estimate the area that variable warp sizing adds to an SM and a GPU.
    Area(area::Arguments),
    /// Make a machine file of a gpgpusim.config.
    Import(import::Arguments),
    /// Show a machine with every value and where it comes from.
    Show(show::Arguments),
    /// Write what a shell needs to complete commands and options.
    Completions(shell::Completions),
    /// Write manual pages.
    Man(shell::Man),
    /// Show what there is: machines, policies, workloads, statistics.
    List(list::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(said) => arguments::answer(&said, &Cli::command()),
    };
    match result {
        Ok(code) => code,
        Err(Failure { code, text }) => {
            // Diagnostics of PTX begin with their severity already.
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            tell!("error: {}", text.trim_end());
            ExitCode::from(code)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode, Failure> {
    console::interrupt::listen();
    if cli.verbose {
        warpsim_ptx::outside::announce(|what| tell!("{what}"));
    }
    match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Exec(arguments) => exec::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Study(arguments) => study::study(&arguments),
        Command::Sweep(arguments) => study::sweep(&arguments),
        Command::Merge(arguments) => study::merge(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Agreement(arguments) => agreement::run(&arguments),
        Command::Characterise(arguments) => characterise::run(&arguments),
        Command::Flow(arguments) => pictures::flow::draw(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Transform(arguments) => transform::run(&arguments),
        Command::Selftest(arguments) => selftest::run(&arguments),
        Command::VerifyOnGpu(arguments) => verify::run(&arguments),
        Command::Area(arguments) => area::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments, &mut Cli::command()),
        Command::Man(arguments) => shell::man(&arguments, Cli::command()),
        Command::List(arguments) => list::run(&arguments),
    }
}
