//! Launch by launch, or kernel by kernel when there are many launches.

use super::style::{Style, count, share};
use std::fmt::{self, Write};
use warpsim_present::mangled::shown;
use warpsim_sim::stats::{LaunchReport, Totals};

/// Launches shown one by one.
const LISTED: usize = 8;
/// Longest kernel name shown whole.
const NAME: usize = 28;

/// The part of the page about launches.
pub fn write(
    out: &mut String,
    style: Style,
    launches: &[LaunchReport],
    functional: bool,
) -> fmt::Result {
    if launches.is_empty() {
        return writeln!(out, "\nnothing was launched");
    }
    if launches.len() <= LISTED {
        listed(out, style, launches, functional)
    } else {
        grouped(out, style, launches, functional)
    }
}

/// The kernels that were launched, by their names.
pub fn kernels(launches: &[LaunchReport]) -> String {
    let mut names: Vec<String> = Vec::new();
    for launch in launches {
        let name = short(&shown(&launch.kernel));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match &names[..] {
        [name] => format!("of {name}"),
        _ => format!("of {} kernels", names.len()),
    }
}

/// The end of a mangled name says more than its beginning.
fn short(name: &str) -> String {
    let length = name.chars().count();
    if length <= NAME {
        return name.to_string();
    }
    let tail: String = name.chars().skip(length - (NAME - 2)).collect();
    format!("..{tail}")
}

fn dimensions(size: [u32; 3]) -> String {
    match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}

/// Cycles and IPC, or just instructions.
fn cost(totals: &Totals, functional: bool) -> String {
    let instructions = totals.sm.counters.warp_instructions;
    if functional {
        return format!("{:>14}", count(instructions));
    }
    let ipc = totals.derived("ipc").unwrap_or(0.0);
    format!("{:>14}{ipc:>9.2}", count(totals.cycles))
}

fn cost_heading(functional: bool) -> String {
    if functional {
        format!("{:>14}", "warp instr")
    } else {
        format!("{:>14}{:>9}", "cycles", "IPC")
    }
}

fn listed(
    out: &mut String,
    style: Style,
    launches: &[LaunchReport],
    functional: bool,
) -> fmt::Result {
    let heading = format!(
        "{:<30}{:>12}{:>10}{}  {}",
        "launches",
        "blocks",
        "threads",
        cost_heading(functional),
        if functional { "" } else { "blocks per SM" }
    );
    writeln!(out, "\n{}", style.strong(heading.trim_end()))?;
    for l in launches {
        let fit = if functional {
            String::new()
        } else {
            format!("{} (limit: {})", l.blocks_per_sm, l.limited_by)
        };
        let line = format!(
            "  {:<28}{:>12}{:>10}{}  {fit}",
            short(&shown(&l.kernel)),
            dimensions(l.grid),
            dimensions(l.block),
            cost(&l.totals, functional)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn grouped(
    out: &mut String,
    style: Style,
    launches: &[LaunchReport],
    functional: bool,
) -> fmt::Result {
    let mut kernels: Vec<(&str, u64, Totals)> = Vec::new();
    for launch in launches {
        let at = kernels.iter().position(|(name, ..)| *name == launch.kernel);
        let at = at.unwrap_or_else(|| {
            kernels.push((&launch.kernel, 0, Totals::default()));
            kernels.len() - 1
        });
        kernels[at].1 += 1;
        kernels[at].2.add(&launch.totals);
    }
    let weight = |t: &Totals| {
        if functional {
            t.sm.counters.warp_instructions
        } else {
            t.cycles
        }
    };
    let all: u64 = kernels.iter().map(|(_, _, t)| weight(t)).sum();
    kernels.sort_by_key(|(_, _, totals)| std::cmp::Reverse(weight(totals)));
    let heading = format!(
        "{:<30}{:>12}{:>10}{}",
        "kernels",
        "launches",
        "share",
        cost_heading(functional)
    );
    writeln!(out, "\n{}", style.strong(&heading))?;
    for (name, times, totals) in &kernels {
        writeln!(
            out,
            "  {:<28}{:>12}{:>10}{}",
            short(&shown(name)),
            count(*times),
            share(weight(totals), all),
            cost(totals, functional)
        )?;
    }
    Ok(())
}
