//! The energy ledger on the page.

use super::style::{Style, share};
use std::fmt::{self, Write};
use warpsim_sim::stats::{PipeCounters, Totals};

/// The part of the page about energy: nothing where no machine was timed.
pub fn write(out: &mut String, style: Style, totals: &Totals) -> fmt::Result {
    let e = &totals.energy;
    let total = e.total();
    if total == 0 {
        return Ok(());
    }
    let watts = totals.average_power();
    let heading = format!(
        "energy {:.1} uJ, {watts:.1} W on average, {:.3} uJ ms",
        total as f64 * 1e-6,
        total as f64 * 1e-3 * totals.seconds()
    );
    writeln!(out, "\n{}", style.strong(&heading))?;
    let part = |pj: u64| share(pj, total);
    writeln!(
        out,
        "  execution {} (leakage {}, gating {}), registers {}, front end {}",
        part(e.execution()),
        part(e.int_leakage + e.fp_leakage),
        part(e.gating),
        part(e.registers),
        part(e.front_end)
    )?;
    writeln!(
        out,
        "  SM memory {}, network {}, L2 {}, DRAM {}, background {}",
        part(e.sm_memory),
        part(e.network),
        part(e.l2),
        part(e.dram),
        part(e.background)
    )?;
    side(out, "integer", &totals.sm.int_pipe)?;
    side(out, "float", &totals.sm.fp_pipe)
}

/// What the lanes of a side did, where they were watched.
fn side(out: &mut String, name: &str, pipe: &PipeCounters) -> fmt::Result {
    let all = pipe.busy + pipe.idle + pipe.gated_early + pipe.gated + pipe.waking;
    if all == 0 {
        return Ok(());
    }
    let part = |n: u64| share(n, all);
    write!(
        out,
        "  {name:<8} lanes: busy {}, idle {}, gated {}, waking {}",
        part(pipe.busy),
        part(pipe.idle),
        part(pipe.gated + pipe.gated_early),
        part(pipe.waking)
    )?;
    if pipe.gatings != 0 {
        let overhead = part(pipe.overhead);
        write!(
            out,
            "; leaks as {} of them, switching {overhead}",
            part(pipe.leaking)
        )?;
    }
    if pipe.folding_cycles != 0 {
        write!(out, "; {} folded", share(pipe.folded, pipe.issues))?;
    }
    writeln!(out)
}
