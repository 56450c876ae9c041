//! What a cycle more or less does: launches that differ from the reference are run again on
//! machines whose memory is a cycle faster or slower. Where our own cycles scatter as far as the
//! reference lies off, the difference says nothing about the model.

use super::differing::{Differing, Launch};
use super::table::{Style, shape};
use crate::console::failure::Failure;
use std::fmt::Write;
use warpsim_sim::config::Machine;
use warpsim_workloads::DeviceError;
use warpsim_workloads::agreement::{Compared, compare_all};

/// A machine with this scheduler and these settings.
pub type Make<'a> = dyn Fn(&str, &[String]) -> Result<Machine, DeviceError> + Sync + 'a;

/// A launch, and the cycles that it takes when memory is a cycle faster or slower.
struct Scatter<'a> {
    of: Launch<'a>,
    least: u64,
    most: u64,
}

/// The machine's memory latencies, each a cycle off in both directions.
fn perturbations(machine: &Machine) -> Vec<String> {
    let latencies = [
        ("dram.latency", machine.dram.latency),
        ("l2.latency", machine.l2.latency),
    ];
    let off = |(key, latency): (&str, u32)| {
        [latency.saturating_sub(1), latency + 1].map(|n| format!("{key}={n}"))
    };
    latencies.into_iter().flat_map(off).collect()
}

/// The table of launches that differ by more than `beyond` per cent and how far they scatter.
pub fn table(
    compared: &[Compared],
    beyond: f64,
    machine: &Make,
    style: Style,
) -> Result<String, Failure> {
    let Some(differing) = Differing::of(compared, beyond) else {
        return Ok(String::new());
    };
    let programs = &differing.programs;
    let mut runs: Vec<Vec<Compared>> = Vec::new();
    for setting in perturbations(&machine(&programs[0].scheduler, &[])?) {
        let make = |scheduler: &str| machine(scheduler, std::slice::from_ref(&setting));
        runs.push(compare_all(programs, &make)?);
    }
    let mut rows = Vec::new();
    for &of in &differing.launches {
        let cycles = || runs.iter().map(|run| run[of.at].launches[of.launch].ours);
        rows.push(Scatter {
            least: cycles().fold(of.pair.ours, u64::min),
            most: cycles().fold(of.pair.ours, u64::max),
            of,
        });
    }
    Ok(text(&rows, beyond, style))
}

fn text(rows: &[Scatter], beyond: f64, style: Style) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Beyond {beyond}%, with DRAM or L2 a cycle faster or slower:\n"
    );
    let (open, gap, close) = style.borders();
    let _ = writeln!(
        text,
        "{open}{:<20}{gap}{:<22}{gap}policy{gap}{:>9}{gap}{:>9}{gap}{:>6}{gap}{:>9}{gap}{:>9}{gap}reference within{close}",
        "launch of", "shape", "reference", "ours", "%", "least", "most"
    );
    if style.markdown {
        let _ = writeln!(text, "|---|---|---|---:|---:|---:|---:|---:|---|");
    }
    for row in rows {
        let Launch { program, pair, .. } = row.of;
        let shape = shape(program, row.of.launch);
        let within = match (row.least..=row.most).contains(&pair.reference) {
            true => "yes",
            false => "no",
        };
        let _ = writeln!(
            text,
            "{open}{:<20}{gap}{shape:<22}{gap}{:<6}{gap}{:>9}{gap}{:>9}{gap}{:>+6.1}{gap}{:>9}{gap}{:>9}{gap}{within:<16}{close}",
            program.name,
            program.scheduler,
            pair.reference,
            pair.ours,
            pair.difference(),
            row.least,
            row.most,
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_sim::config::ReadMachine;
    use warpsim_workloads::agreement::{Set, programs};

    #[test]
    fn every_latency_is_a_cycle_off_in_both_directions() {
        let machine = Machine::resolve("gtx480-ref", &[]).expect("a preset");
        assert_eq!(
            perturbations(&machine),
            [
                "dram.latency=99",
                "dram.latency=101",
                "l2.latency=119",
                "l2.latency=121"
            ]
        );
    }

    /// A launch of one warp with a reference that is far too high: its cycles scatter by what the
    /// latencies are off, and the reference does not lie within.
    #[test]
    fn a_launch_that_differs_is_run_again() {
        let (all, _) = programs(Set::Series).expect("they are there");
        let mut program = all
            .into_iter()
            .find(|p| p.name == "s4" && p.shape.starts_with("15x32"))
            .expect("one of the second micro-kernels");
        program.reference[0] *= 2;
        let machine = |scheduler: &str, set: &[String]| {
            let mut set = set.to_vec();
            set.push(format!("scheduler={scheduler}"));
            Ok(Machine::resolve("gtx480-ref", &set)?)
        };
        let plain = machine(&program.scheduler, &[]).expect("a machine");
        let compared = [program.compare(plain).expect("it runs")];
        let style = Style {
            markdown: false,
            beyond: 0.0,
        };
        let text = table(&compared, 12.0, &machine, style).expect("it runs again");
        let mut rows = text.lines().rev().filter(|l| !l.is_empty());
        let row = rows.next().expect("a row");
        let words: Vec<&str> = row.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        let (ours, least, most) = (number(4), number(6), number(7));
        assert!(least < ours && ours < most && most - least < 50, "{row}");
        assert_eq!(words[8], "no", "{row}");
        assert_eq!(table(&compared, 60.0, &machine, style).expect("none"), "");
    }
}
