//! The profile as a table for a terminal.

use super::collect::Counts;
use super::rank::{Line, Ranked};
use std::fmt::Write;

/// Lines shown of a kernel; the page has all.
const MOST: usize = 20;

/// A table per kernel.
pub fn table(kernels: &[Ranked]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    for kernel in kernels {
        let _ = writeln!(
            out,
            "\nprofile of {}: {} launch{}, {} instructions issued, {} warp-cycles",
            kernel.name,
            kernel.launches,
            if kernel.launches == 1 { "" } else { "es" },
            kernel.total.issued,
            kernel.total.cycles()
        );
        let _ = writeln!(
            out,
            "  cycles    issued  lanes  acc/req  bank  L1 hit  where (and what it mostly waits for)"
        );
        for line in kernel.lines.iter().take(MOST) {
            row(&mut out, line, kernel.total.cycles());
        }
        if let Some(more) = kernel.lines.len().checked_sub(MOST).filter(|n| *n > 0) {
            let _ = writeln!(
                out,
                "  and {more} more: --profile=FILE.html has all, with each instruction"
            );
        }
    }
    out
}

fn row(out: &mut String, line: &Line, all: u64) {
    let c = &line.counts;
    let share = Counts::per(c.cycles() * 100, all).unwrap_or(0.0);
    let shown = |value: Option<f64>| value.map_or("-".to_string(), |v| format!("{v:.1}"));
    let percent =
        |value: Option<f64>| value.map_or("-".to_string(), |v| format!("{:.0}%", v * 100.0));
    let waits: Vec<String> = c
        .stalls()
        .iter()
        .take(2)
        .filter(|(_, cycles)| *cycles * 10 >= c.cycles())
        .map(|(name, cycles)| format!("{name} {:.0}%", *cycles as f64 * 100.0 / c.cycles() as f64))
        .collect();
    let waits = match waits.is_empty() {
        true => String::new(),
        false => format!(" ({})", waits.join(", ")),
    };
    let _ = writeln!(
        out,
        "  {share:5.1}% {:>10}  {:>5}  {:>7}  {:>4}  {:>6}  {}{waits}",
        c.issued,
        shown(Counts::per(c.lanes, c.issued)),
        shown(Counts::per(c.transactions, c.requests).filter(|_| c.transactions > 0)),
        shown(Counts::per(c.bank_cycles, c.shared)),
        percent(Counts::per(c.hits, c.lookups)),
        line.place
    );
    let text = if line.text.is_empty() {
        line.instructions.first().map_or("", |i| &i.text)
    } else {
        &line.text
    };
    let short: String = text.chars().take(90).collect();
    let _ = writeln!(
        out,
        "                                                    {short}"
    );
}
