//! `warpsim agreement`: our cycles beside the reference simulator's, for every micro-kernel
//! launch.

use crate::failure::{Failure, print};
use std::fmt::Write;
use std::process::ExitCode;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_workloads::micro::{self, MicroLaunch};

/// Arguments of `warpsim agreement`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480-ref")]
    machine: String,
    /// A machine setting, as in sm.schedulers=4.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Only kernels whose name contains this.
    #[arg(long, default_value = "")]
    kernel: String,
    /// Print a Markdown table.
    #[arg(long)]
    markdown: bool,
}

const SCHEDULERS: [&str; 2] = ["lrr", "gto"];

struct Row {
    launch: MicroLaunch,
    ours: [u64; 2],
    same_instructions: bool,
}

/// Runs all launches under both schedulers and prints the comparison.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut rows = Vec::new();
    for launch in micro::launches() {
        if !launch.kernel.contains(&arguments.kernel) || launch.cycles[0].is_none() {
            continue;
        }
        let mut ours = [0; 2];
        let mut same = true;
        for (i, scheduler) in SCHEDULERS.into_iter().enumerate() {
            let mut overrides = arguments.set.clone();
            overrides.push(format!("scheduler={scheduler}"));
            let machine = Machine::resolve(&arguments.machine, &overrides)?;
            let measured = launch.run(machine, Options::default())?;
            ours[i] = measured.cycles;
            let counted = [measured.thread_instructions, measured.warp_instructions];
            same &= launch.instructions == Some(counted);
        }
        rows.push(Row {
            launch,
            ours,
            same_instructions: same,
        });
    }
    print(&table(&rows, arguments))?;
    Ok(ExitCode::SUCCESS)
}

fn table(rows: &[Row], arguments: &Arguments) -> String {
    let mut text = String::new();
    let (open, gap, close) = if arguments.markdown {
        ("| ", " | ", " |")
    } else {
        ("", "  ", "")
    };
    let _ = writeln!(
        text,
        "{open}{:<20}{gap}{:>8}{gap}{:>10}{gap}{:>8}{gap}{:>8}{gap}{:>7}{gap}{:>8}{gap}{:>8}{gap}{:>7}{close}",
        "kernel",
        "launch",
        "in bytes",
        "lrr ref",
        "lrr ours",
        "lrr %",
        "gto ref",
        "gto ours",
        "gto %"
    );
    if arguments.markdown {
        let _ = writeln!(text, "|---|---|---|---|---|---|---|---|---|");
    }
    let mut errors = Vec::new();
    for row in rows {
        let l = &row.launch;
        let _ = write!(
            text,
            "{open}{:<20}{gap}{:>8}{gap}{:>10}",
            l.kernel,
            format!("{}x{}", l.grid, l.block),
            l.in_bytes
        );
        for i in 0..2 {
            let reference = l.cycles[i].unwrap_or(0);
            let error = (row.ours[i] as f64 - reference as f64) / reference as f64 * 100.0;
            errors.push(error);
            let _ = write!(
                text,
                "{gap}{reference:>8}{gap}{:>8}{gap}{error:>+7.1}",
                row.ours[i]
            );
        }
        let mark = if row.same_instructions {
            ""
        } else {
            "  instruction counts differ"
        };
        let _ = writeln!(text, "{close}{mark}");
    }
    let mean = errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len().max(1) as f64;
    let largest = errors.iter().map(|e| e.abs()).fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "\n{} on {} launches, lrr and gto: mean absolute difference {mean:.2}%, largest {largest:.1}%",
        arguments.machine,
        rows.len()
    );
    text
}
