//! `warpsim show`: a machine as it is after everything that makes it, each value with its source.

use crate::console::failure::{Failure, print, print_data};
use clap::Subcommand;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;
use warpsim_sim::config::read::load::{Explained, Origin, explain};

/// Arguments of `warpsim show`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A machine: every value, which file sets it, and what is said there about it.
    Machine {
        /// Preset, or a machine file (ends in .toml).
        machine: String,
        /// A setting over it, as `run` takes it.
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// As data.
        #[arg(long)]
        json: bool,
    },
}

/// Shows it.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let What::Machine { machine, set, json } = &arguments.what;
    let values = explain(&Origin::parse(machine, None), set)?;
    match json {
        true => print_data(&format!("{:#}\n", data(&values)))?,
        false => print(&listing(&values))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn data(values: &[Explained]) -> Value {
    let one =
        |v: &Explained| json!({ "key": v.key, "value": v.value, "from": v.origin, "note": v.note });
    values.iter().map(one).collect()
}

fn listing(values: &[Explained]) -> String {
    let width = |of: fn(&Explained) -> usize| values.iter().map(of).max().unwrap_or(0).min(34);
    let (keys, shown) = (width(|v| v.key.len()), width(|v| v.value.len()).min(20));
    let mut out = String::new();
    for v in values {
        let line = format!(
            "{:keys$} = {:shown$}  # {}{}{}",
            v.key,
            v.value,
            v.origin,
            if v.note.is_empty() { "" } else { ": " },
            v.note
        );
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
