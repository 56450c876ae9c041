//! The `warpsim` command. One file a subcommand.

mod agreement;
mod characterise;
mod device;
mod failure;
mod inspect;
mod list;
mod observers;
mod phases;
mod progress;
mod registry;
mod run;
mod summary;
mod trace;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// A GPU simulator for people who study warps.
#[derive(Parser)]
#[command(name = "warpsim", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a workload or a launch file on a simulated machine.
    Run(Box<run::Arguments>),
    /// Compare cycles with the reference simulator's on 28 micro-kernels.
    Agreement(agreement::Arguments),
    /// Measure the structure of the workloads: divergence, barriers, occupancy, mix.
    Characterise(characterise::Arguments),
    /// Describe the kernels of a PTX file: registers, branches, occupancy.
    Inspect(inspect::Arguments),
    /// Show what there is: machines, policies, workloads, statistics.
    List(list::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Agreement(arguments) => agreement::run(&arguments),
        Command::Characterise(arguments) => characterise::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(Failure { code, text }) => {
            // Diagnostics of PTX begin with their severity already.
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            eprintln!("error: {}", text.trim_end());
            ExitCode::from(code)
        }
    }
}
