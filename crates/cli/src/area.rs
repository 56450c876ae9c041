//! `warpsim area`.

use crate::console::failure::{Failure, print};
use std::fmt::Write;
use std::process::ExitCode;
use warpsim_sim::area::Area;

/// Arguments of `warpsim area`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Size of the L0 instruction cache of each slice.
    #[arg(long, value_name = "BYTES", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(0..=65536))]
    l0_bytes: u32,
}

/// Shows the table.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    print(&table(arguments.l0_bytes))?;
    Ok(ExitCode::SUCCESS)
}

fn table(l0_bytes: u32) -> String {
    let widths = [4, 8].map(|width| Area::of(width, l0_bytes));
    let [four, eight] = &widths;
    let mut out = format!(
        "Area of variable warp sizing in mm², 40 nm, with {l0_bytes} bytes of L0 in each slice\n\n\
         {:<40}{:>10}{:>16}{:>16}\n",
        "", "one", "4-wide warps", "8-wide warps"
    );
    // Writing to a String cannot fail.
    for (a, b) in four.components.iter().zip(&eight.components) {
        let (one, four, eight) = (a.area, a.added(), b.added());
        let _ = writeln!(out, "{:<40}{one:>10.3}{four:>16.3}{eight:>16.3}", a.name);
    }
    let mut row = |name: &str, of: fn(&Area) -> String| {
        let _ = writeln!(out, "{name:<40}{:>10}{:>16}{:>16}", "", of(four), of(eight));
    };
    row("added to an SM of 16 mm²", |a| format!("{:.2}", a.sm()));
    row("", |a| format!("{:.1}%", 100.0 * a.sm_share()));
    row("added to a GPU of 529 mm², 15 SMs", |a| {
        format!("{:.1}", a.gpu())
    });
    row("", |a| format!("{:.1}%", 100.0 * a.gpu_share()));
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_has_the_paper_s_totals() {
        let text = super::table(256);
        for total in ["1.72", "0.93", "10.8%", "5.8%", "13.9", "4.9%"] {
            assert!(text.contains(total), "{total}\n{text}");
        }
    }
}
