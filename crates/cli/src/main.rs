//! The `warpsim` command. One file a subcommand.

mod device;
mod failure;
mod list;
mod progress;
mod registry;
mod run;

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
    /// Show what there is: machines, policies, workloads, statistics.
    List(list::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(Failure { code, text }) => {
            eprintln!("error: {text}");
            ExitCode::from(code)
        }
    }
}
