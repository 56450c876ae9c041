//! `warpsim agreement`: our cycles beside the reference simulator's, for micro-kernels, launches
//! in a row and whole workloads.

mod causes;
mod differing;
mod perturb;
mod table;

use crate::console::failure::{Failure, print};
use std::process::ExitCode;
use table::Style;
use warpsim_sim::config::{Machine, ReadMachine};
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
    /// Show only what differs by more than this; the figures below are of all.
    #[arg(long, default_value_t = 0.0, value_name = "PER CENT")]
    beyond: f64,
    /// Run what differs by more than this again with memory a cycle faster and slower, and show
    /// between which cycles ours lie.
    #[arg(long, value_name = "PER CENT")]
    perturb: Option<f64>,
    /// Run what differs by more than this again with the reference's artifacts one at a time, and name
    /// those that make the difference.
    #[arg(long, value_name = "PER CENT")]
    causes: Option<f64>,
    /// Print Markdown tables.
    #[arg(long)]
    markdown: bool,
}

/// What is found out about launches that differ by more than so many per cent.
#[derive(Clone, Copy)]
struct Further {
    /// How far they scatter.
    perturb: Option<f64>,
    /// Which artifacts make the difference.
    causes: Option<f64>,
}

/// Runs everything under both schedulers and prints the comparison.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let style = Style {
        markdown: arguments.markdown,
        beyond: arguments.beyond,
    };
    for set in parts(arguments.only.as_deref())? {
        let (machine, kernel) = (&arguments.machine, &arguments.kernel);
        let further = Further {
            perturb: arguments.perturb,
            causes: arguments.causes,
        };
        let settings = &arguments.set;
        print(&compare(set, machine, settings, kernel, further, style)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The comparison of a part of everything on a machine.
fn compare(
    set: Set,
    machine: &str,
    settings: &[String],
    kernel: &str,
    further: Further,
    style: Style,
) -> Result<String, Failure> {
    let make_with = |scheduler: &str, more: &[String]| {
        let mut overrides = [settings, more].concat();
        overrides.push(format!("scheduler={scheduler}"));
        Ok(Machine::resolve(machine, &overrides)?)
    };
    let make = |scheduler: &str| make_with(scheduler, &[]);
    // A machine that makes no sense is said before anything runs.
    make("lrr").map_err(|e: DeviceError| e)?;
    let (mut programs, outdated) = programs(set)?;
    programs.retain(|p| p.name.contains(kernel));
    let outdated = outdated.iter().filter(|n| n.contains(kernel));
    let outdated: Vec<&str> = outdated.map(String::as_str).collect();
    if programs.is_empty() && outdated.is_empty() {
        return Ok(String::new());
    }
    let compared = compare_all(&programs, &make)?;
    let mut text = table::of_set(set, machine, &compared, &outdated, style);
    if let Some(beyond) = further.perturb {
        text += &perturb::table(&compared, beyond, &make_with, style)?;
    }
    if let Some(beyond) = further.causes {
        text += &causes::table(&compared, beyond, &make_with, style)?;
    }
    Ok(text)
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
