//! The rows as text or Markdown.

use super::Row;
use std::fmt::Write;

/// Heading and what stands under it.
type Column = (&'static str, fn(&Row) -> String);

const COLUMNS: &[Column] = &[
    ("workload", |r| r.info.name.into()),
    ("block", |r| shape(r.main.block)),
    ("regs", |r| r.main.registers.to_string()),
    ("shared B", |r| r.main.shared_bytes.to_string()),
    ("blocks/SM", |r| r.main.blocks_per_sm.to_string()),
    ("kernels", |r| r.kernels.to_string()),
    ("launches", |r| r.launches.to_string()),
    ("M thread instr", |r| {
        format!(
            "{:.1}",
            r.totals.sm.counters.thread_instructions as f64 / 1e6
        )
    }),
    ("barriers/thread", |r| {
        let arrivals = r.totals.sm.counters.barriers as f64;
        format!("{:.1}", arrivals / r.warps.max(1) as f64)
    }),
    ("SIMD eff", |r| percent(r.simd_efficiency())),
    ("at barriers", |r| percent(r.barrier_share())),
    ("int/fp/sfu/mem/ctl %", mix),
    ("L1 hit", |r| {
        if r.totals.sm.counters.l1d_reads == 0 {
            "-".into()
        } else {
            percent(r.totals.derived("l1d_hit_rate").unwrap_or_default())
        }
    }),
    ("warps differ, instr", |r| percent(r.spread.instructions)),
    ("warps differ, cycles", |r| percent(r.spread.cycles)),
    ("measured sets", |r| {
        let names: Vec<_> = r.measured().iter().map(|s| s.name()).collect();
        names.join(", ")
    }),
];

fn shape(block: [u32; 3]) -> String {
    let used = 1 + block.iter().rposition(|n| *n > 1).unwrap_or(0);
    let sides: Vec<String> = block[..used].iter().map(u32::to_string).collect();
    sides.join("x")
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn mix(row: &Row) -> String {
    let c = &row.totals.sm.counters;
    let parts = [c.mix_int, c.mix_fp, c.mix_sfu, c.mix_memory, c.mix_control];
    let all = parts.iter().sum::<u64>().max(1) as f64;
    let shares: Vec<String> = parts
        .iter()
        .map(|n| format!("{:.0}", 100.0 * *n as f64 / all))
        .collect();
    shares.join("/")
}

/// The table.
pub fn table(rows: &[Row], markdown: bool) -> String {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| COLUMNS.iter().map(|(_, cell)| cell(row)).collect())
        .collect();
    let width = |column: usize| {
        let cells = cells.iter().map(|row| row[column].len());
        cells.chain([COLUMNS[column].0.len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let (open, gap, close) = if markdown {
        ("| ", " | ", " |")
    } else {
        ("", "  ", "")
    };
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells
            .zip(&widths)
            .enumerate()
            .map(|(i, (cell, width))| match i {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{open}{}{close}", padded.join(gap));
    };
    line(&mut COLUMNS.iter().map(|(name, _)| *name));
    if markdown {
        let rules: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(i, w)| format!("{}{}", "-".repeat(w - 1), if i == 0 { "-" } else { ":" }))
            .collect();
        line(&mut rules.iter().map(String::as_str));
    }
    for row in &cells {
        line(&mut row.iter().map(String::as_str));
    }
    out
}
