//! Where the time of warps, schedulers and lanes went.

use super::style::{Style, share};
use std::fmt::{self, Write};
use warpsim_sim::stats::{StatInfo, Totals, Visit};

/// Characters of the longest bar.
const BAR: u64 = 40;

/// Issued instructions by active lanes, as bars.
pub fn lanes(out: &mut String, style: Style, totals: &Totals) -> fmt::Result {
    let c = &totals.sm.counters;
    let bins = [
        ("1-4", c.lanes_1_4),
        ("5-8", c.lanes_5_8),
        ("9-12", c.lanes_9_12),
        ("13-16", c.lanes_13_16),
        ("17-20", c.lanes_17_20),
        ("21-24", c.lanes_21_24),
        ("25-28", c.lanes_25_28),
        ("29-32", c.lanes_29_32),
    ];
    let all: u64 = bins.iter().map(|(_, n)| n).sum();
    writeln!(
        out,
        "\n{}",
        style.strong("issued with so many lanes active")
    )?;
    for (name, n) in bins {
        let length = match all {
            0 => 0,
            // Whatever there is shows.
            all => (n * BAR / all).max(u64::from(n > 0)),
        };
        let bar = style.bar(&"#".repeat(length as usize));
        let line = format!("  {name:>5} {:>7}  {bar}", share(n, all));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The two state tables side by side.
pub fn tables(out: &mut String, style: Style, totals: &Totals) -> fmt::Result {
    let warps = entries(&totals.sm.warps);
    let schedulers = entries(&totals.sm.schedulers);
    let heading = format!("{:<28}", "warps' time");
    writeln!(
        out,
        "\n{}{}",
        style.strong(&heading),
        style.strong("schedulers' time, by what the first warp waits for")
    )?;
    for i in 0..warps.len().max(schedulers.len()) {
        let cell = |list: &[(StatInfo, String)]| {
            list.get(i)
                .map(|(info, part)| format!("  {:<15}{part:>7}", info.name))
                .unwrap_or_default()
        };
        let line = format!("{:<28}{}", cell(&warps), cell(&schedulers));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The three states in which warps were most, in a line.
pub fn foremost(totals: &Totals) -> String {
    let mut all = Vec::new();
    totals
        .sm
        .warps
        .visit(&mut |info, n| all.push((info.name, n)));
    let sum: u64 = all.iter().map(|(_, n)| n).sum();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let parts = all.iter().take(3).filter(|(_, n)| *n > 0);
    let parts = parts.map(|(name, n)| format!("{name} {}", share(*n, sum)));
    parts.collect::<Vec<_>>().join(", ")
}

fn entries(states: &impl Visit) -> Vec<(StatInfo, String)> {
    let mut all = Vec::new();
    states.visit(&mut |info, n| all.push((info, n)));
    let sum: u64 = all.iter().map(|(_, n)| n).sum();
    // Most runs have no virtual blocks.
    let said = |(info, n): &(StatInfo, u64)| info.name != "next_block" || *n > 0;
    all.into_iter()
        .filter(said)
        .map(|(info, n)| (info, share(n, sum)))
        .collect()
}
