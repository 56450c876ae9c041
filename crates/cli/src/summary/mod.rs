//! What `warpsim run` shows at its end: a page that says what the run was, how fast the
//! machine was and why, and whether the result is right.

mod energy;
mod launches;
mod memory;
mod states;
mod style;

pub use style::{COLOURS, Style, count, percent};

use crate::console::progress::amount;
use std::fmt::{self, Write};
use style::share;
use warpsim_sim::config::{Machine, VirtualMode};
use warpsim_sim::stats::{LaunchReport, Totals};
use warpsim_sim::virtual_storage::Storage;
use warpsim_workloads::Outcome;

/// A run that has ended.
pub struct Summary<'a> {
    /// What was run.
    pub what: String,
    /// On what.
    pub machine: &'a Machine,
    /// Executed without timing.
    pub functional: bool,
    /// Each launch.
    pub launches: &'a [LaunchReport],
    /// All launches together.
    pub totals: &'a Totals,
    /// Host seconds spent simulating.
    pub seconds: f64,
    /// What came out.
    pub outcome: &'a Outcome,
    /// How to write.
    pub style: Style,
}

impl Summary<'_> {
    /// The page.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    /// The same in ten lines: what ran, how fast, what warps waited for most, what came out.
    pub fn brief(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_briefly(&mut out);
        out
    }

    fn write_briefly(&self, out: &mut String) -> fmt::Result {
        let (m, t) = (self.machine, self.totals);
        let c = &t.sm.counters;
        let derived = |name: &str| t.derived(name).unwrap_or(0.0);
        let row = |out: &mut String, name: &str, value: String, more: &str| {
            writeln!(out, "{name:<18}{value:>14}   {}", short(more, LINE - 35))
        };
        writeln!(out, "{}", self.style.strong(&short(&self.what, LINE)))?;
        if self.functional {
            row(out, "machine", m.name.clone(), "executed without timing")?;
        } else {
            let policies = format!(
                "issue {}, fetch {}, divergence {}",
                m.scheduler.name, m.fetch.policy.name, m.divergence.name
            );
            row(out, "machine", m.name.clone(), &policies)?;
            let micros = t.cycles as f64 / f64::from(m.gpu.core_mhz.max(1));
            let micros = format!("{micros:.1} us of the GPU's time");
            row(out, "cycles", count(t.cycles), &micros)?;
            let ipc = format!("by threads, {:.2} by warps", derived("warp_ipc"));
            row(out, "IPC", format!("{:.2}", derived("ipc")), &ipc)?;
            let lanes = percent(derived("simd_efficiency"));
            row(out, "SIMD efficiency", lanes, "of 32 lanes active")?;
            let warps = format!("of {} warps per SM", t.max_warps);
            row(out, "occupancy", percent(derived("occupancy")), &warps)?;
            let states = short(&states::foremost(t), LINE - 18);
            writeln!(out, "{:<18}{states}", "warps, mostly")?;
        }
        let instructions = format!("by threads, {} by warps", count(c.warp_instructions));
        row(
            out,
            "instructions",
            count(c.thread_instructions),
            &instructions,
        )?;
        let launches = count(self.launches.iter().map(|l| l.launches).sum());
        row(out, "launches", launches, &launches::kernels(self.launches))?;
        // Of what is wrong the first.
        let outcome = self.outcome.to_string();
        let outcome: Vec<&str> = outcome.lines().take(2).map(str::trim).collect();
        let outcome = self.coloured(&short(&outcome.join(": "), LINE - 18));
        writeln!(out, "{:<18}{outcome}", "result")
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let style = self.style;
        self.title(out)?;
        writeln!(out)?;
        if !self.functional {
            self.headline(out)?;
        }
        self.instructions(out)?;
        if !self.functional {
            states::lanes(out, style, self.totals)?;
            states::tables(out, style, self.totals)?;
            memory::write(out, style, self.totals)?;
            energy::write(out, style, self.totals)?;
        }
        launches::write(out, style, self.launches, self.functional)?;
        self.ending(out)
    }

    fn title(&self, out: &mut String) -> fmt::Result {
        let m = self.machine;
        writeln!(out, "{}", self.style.strong(&self.what))?;
        if self.functional {
            writeln!(out, "executed without timing")?;
        } else {
            writeln!(
                out,
                "on {}: {} SMs at {} MHz, {} scheduler{} each ({}), fetch {}, divergence {}",
                m.name,
                m.gpu.sms,
                m.gpu.core_mhz,
                m.sm.schedulers,
                if m.sm.schedulers == 1 { "" } else { "s" },
                m.scheduler.name,
                m.fetch.policy.name,
                m.divergence.name
            )?;
        }
        Ok(())
    }

    fn headline(&self, out: &mut String) -> fmt::Result {
        let t = self.totals;
        let derived = |name: &str| t.derived(name).unwrap_or(0.0);
        let micros = t.cycles as f64 / f64::from(self.machine.gpu.core_mhz.max(1));
        let row = |out: &mut String, name: &str, value: String, more: String| {
            writeln!(out, "{name:<18}{value:>14}   {more}")
        };
        row(
            out,
            "cycles",
            count(t.cycles),
            format!("{micros:.1} us of the GPU's time"),
        )?;
        row(
            out,
            "IPC",
            format!("{:.2}", derived("ipc")),
            format!(
                "thread instructions per cycle; {:.2} warp instructions",
                derived("warp_ipc")
            ),
        )?;
        row(
            out,
            "SIMD efficiency",
            percent(derived("simd_efficiency")),
            format!(
                "of 32 lanes active; {} past their guards",
                percent(derived("simd_efficiency_guarded"))
            ),
        )?;
        row(
            out,
            "occupancy",
            percent(derived("occupancy")),
            format!("of {} warps per SM", t.max_warps),
        )?;
        let virtual_blocks: u64 = self.launches.iter().filter_map(|l| l.virtual_blocks).sum();
        if virtual_blocks == 0 {
            return Ok(());
        }
        let hardware = self.machine.virtual_blocks.mode == VirtualMode::Hardware;
        let more = match hardware {
            true => format!(
                "ran for {} more; {} bytes of state per SM",
                count(t.sm.counters.next_blocks),
                Storage::of(self.machine).total()
            ),
            false => "by a stride in software".into(),
        };
        row(out, "virtual blocks", count(virtual_blocks), more)
    }

    fn instructions(&self, out: &mut String) -> fmt::Result {
        let c = &self.totals.sm.counters;
        writeln!(
            out,
            "{:<18}{:>14}   by threads, {} by warps, in {} block{}",
            "instructions",
            count(c.thread_instructions),
            count(c.warp_instructions),
            count(c.blocks),
            if c.blocks == 1 { "" } else { "s" }
        )?;
        if self.functional {
            return Ok(());
        }
        let part = |n: u64| share(n, c.warp_instructions);
        writeln!(
            out,
            "{:<35}int {}, fp {}, sfu {}, memory {}, control {}",
            "",
            part(c.mix_int),
            part(c.mix_fp),
            part(c.mix_sfu),
            part(c.mix_memory),
            part(c.mix_control)
        )?;
        writeln!(
            out,
            "{:<35}{} branches, {} divergent, stack {} deep; {} arrivals at barriers",
            "",
            count(c.branches),
            share(c.divergent_branches, c.branches),
            self.totals.deepest_stack,
            count(c.barriers)
        )
    }

    fn ending(&self, out: &mut String) -> fmt::Result {
        let seconds = self.seconds.max(1e-9);
        let rate = |n: u64| amount(n as f64 / seconds);
        let c = &self.totals.sm.counters;
        write!(
            out,
            "\n{:<18}{:.2} s: {} thread instructions/s, {} warp instructions/s",
            "simulation",
            self.seconds,
            rate(c.thread_instructions),
            rate(c.warp_instructions)
        )?;
        if !self.functional {
            write!(out, ", {} cycles/s", rate(self.totals.cycles))?;
        }
        writeln!(out)?;
        self.result(out)
    }

    fn result(&self, out: &mut String) -> fmt::Result {
        let outcome = self.coloured(&self.outcome.to_string());
        writeln!(out, "{:<18}{outcome}", "result")
    }

    fn coloured(&self, outcome: &str) -> String {
        match self.outcome {
            Outcome::Correct { .. } => self.style.good(outcome),
            Outcome::Wrong(_) => self.style.bad(outcome),
            Outcome::Unchecked => outcome.to_string(),
        }
    }
}

/// Letters of a line that no terminal has to break.
const LINE: usize = 80;

/// The beginning of a text that has more letters.
fn short(text: &str, letters: usize) -> String {
    match text.chars().count() <= letters {
        true => text.to_string(),
        false => text.chars().take(letters - 2).chain("..".chars()).collect(),
    }
}

#[cfg(test)]
mod tests;
