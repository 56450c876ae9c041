//! `warpsim agreement`: our cycles beside the reference simulator's, for micro-kernels, launches
//! in a row and whole workloads.

mod table;

use crate::failure::{Failure, print};
use std::process::ExitCode;
use warpsim_sim::config::Machine;
use warpsim_workloads::DeviceError;
use warpsim_workloads::agreement::{Set, compare_all, programs};

/// Arguments of `warpsim agreement`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480-ref")]
    machine: String,
    /// A machine setting, as in sm.schedulers=4.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Only this part: micro, series or workloads.
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Only kernels and workloads whose name contains this.
    #[arg(long, default_value = "", value_name = "NAME")]
    kernel: String,
    /// Print Markdown tables.
    #[arg(long)]
    markdown: bool,
}

/// Runs everything under both schedulers and prints the comparison.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let machine = |scheduler: &str| {
        let mut overrides = arguments.set.clone();
        overrides.push(format!("scheduler={scheduler}"));
        Ok(Machine::resolve(&arguments.machine, &overrides)?)
    };
    // A machine that makes no sense is said before anything runs.
    machine("lrr").map_err(|e: DeviceError| e)?;
    for set in parts(arguments.only.as_deref())? {
        let (mut programs, outdated) = programs(set)?;
        programs.retain(|p| p.name.contains(&arguments.kernel));
        let outdated = outdated.iter().filter(|n| n.contains(&arguments.kernel));
        let outdated: Vec<&str> = outdated.map(String::as_str).collect();
        if programs.is_empty() && outdated.is_empty() {
            continue;
        }
        let compared = compare_all(&programs, &machine)?;
        let name = &arguments.machine;
        print(&table::of_set(
            set,
            name,
            &compared,
            &outdated,
            arguments.markdown,
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parts(only: Option<&str>) -> Result<Vec<Set>, Failure> {
    let Some(only) = only else {
        return Ok(Set::ALL.to_vec());
    };
    match Set::ALL.into_iter().find(|set| set.name() == only) {
        Some(set) => Ok(vec![set]),
        None => Err(Failure::bad_input(format!(
            "`{only}` is no part of the comparison; there are {}",
            Set::ALL.map(Set::name).join(", ")
        ))),
    }
}
