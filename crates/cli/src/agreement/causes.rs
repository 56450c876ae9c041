//! Which of the reference's artifacts make launches differ on a machine without them: each launch
//! that differs is run again on that machine with one artifact of `gtx480-ref` at a time.

use super::differing::{Differing, Launch};
use super::perturb::Make;
use super::table::{Style, shape};
use crate::console::failure::Failure;
use std::fmt::Write;
use warpsim_sim::config::{Machine, OpClass, ReadMachine};
use warpsim_workloads::DeviceError;
use warpsim_workloads::agreement::{Compared, Pair, compare_all};

/// The machine that has all artifacts.
const REFERENCE: &str = "gtx480-ref";

/// An artifact: the setting of `gtx480-ref` that it is, and what a machine takes over from there.
struct Artifact {
    name: &'static str,
    copy: fn(&mut Machine, &Machine),
}

/// An artifact that is one setting.
macro_rules! setting {
    ($section:ident.$key:ident) => {
        Artifact {
            name: concat!(stringify!($section), ".", stringify!($key)),
            copy: |to, from| to.$section.$key = from.$section.$key,
        }
    };
}

/// All there are: together they make `gtx480` what `gtx480-ref` is.
const ARTIFACTS: &[Artifact] = &[
    setting!(latency.fp32_fma),
    Artifact {
        name: "latency.fp64_fma",
        copy: |to, from| {
            to.latency.fp64_fma = from.latency.fp64_fma;
            take_on(to, from, OpClass::Fp64Fma);
        },
    },
    Artifact {
        name: "latency.int_rem",
        copy: |to, from| {
            to.latency.int_rem = from.latency.int_rem;
            take_on(to, from, OpClass::IntRem);
        },
    },
    setting!(sm.spills),
    setting!(sm.atomics_ignore_address_hazard),
    setting!(sm.fences_wait_for_stores),
    setting!(sm.turns_rest),
    setting!(sm.barriers_open_at_once),
    setting!(sm.fences_take_memory_unit),
    setting!(l2.partial_stores_add_up),
    setting!(l2.upper_half_stores_lose_mask),
    setting!(fetch.kernels_back_to_back),
    setting!(fetch.starts_behind_first),
    setting!(collector.starts_behind_first),
    setting!(dram.after_core),
    setting!(dram.returns_early),
    setting!(dram.row_beside_column),
    setting!(gpu.launches_restart_clocks),
    setting!(gpu.quantum),
    setting!(gpu.store_visibility),
];

/// The units of a machine take a class of operations where those of another do.
fn take_on(to: &mut Machine, from: &Machine, class: OpClass) {
    for (name, unit) in &mut to.unit {
        unit.takes.retain(|taken| *taken != class);
        let there = from.unit.get(name);
        if there.is_some_and(|unit| unit.takes.contains(&class)) {
            unit.takes.push(class);
        }
    }
}

/// A launch that differs, the artifacts with which it does not, and what it takes with them.
struct Cause<'a> {
    of: Launch<'a>,
    artifacts: Vec<&'static str>,
    with: Pair,
}

/// What the machine is with artifacts.
fn with(machine: Machine, artifacts: &[&Artifact]) -> Result<Machine, DeviceError> {
    let reference = Machine::resolve(REFERENCE, &[])?;
    let mut machine = machine;
    for artifact in artifacts {
        (artifact.copy)(&mut machine, &reference);
    }
    Ok(machine)
}

/// The table of launches that differ by more than `beyond` per cent, and of the artifacts that make
/// the difference: the one with which alone a launch comes nearest to the reference if that is within
/// these per cent; else as many as it takes, in the order of how near it comes with each alone.
pub fn table(
    compared: &[Compared],
    beyond: f64,
    machine: &Make,
    style: Style,
) -> Result<String, Failure> {
    let Some(differing) = Differing::of(compared, beyond) else {
        return Ok(String::new());
    };
    let mut alone = Vec::new();
    for artifact in ARTIFACTS {
        let make = |scheduler: &str| with(machine(scheduler, &[])?, &[artifact]);
        alone.push(compare_all(&differing.programs, &make)?);
    }
    let mut causes = Vec::new();
    for &of in &differing.launches {
        let singles = alone.iter().map(|runs| runs[of.at].launches[of.launch]);
        causes.push(cause(of, singles, beyond, machine)?);
    }
    Ok(text(&causes, beyond, style))
}

/// The artifacts with which a launch differs no longer, of which it takes `singles` with each alone, and
/// what it takes with them; all that change anything if it differs even so.
fn cause<'a>(
    of: Launch<'a>,
    singles: impl Iterator<Item = Pair>,
    beyond: f64,
    machine: &Make,
) -> Result<Cause<'a>, Failure> {
    let size = |pair: Pair| pair.difference().abs();
    let mut nearest: Vec<(&Artifact, Pair)> = ARTIFACTS.iter().zip(singles).collect();
    nearest.retain(|(_, pair)| pair.ours != of.pair.ours);
    nearest.sort_by(|a, b| size(a.1).total_cmp(&size(b.1)));
    let mut taken: Vec<&Artifact> = Vec::new();
    let mut reached = of.pair;
    for (artifact, single) in nearest {
        taken.push(artifact);
        reached = single;
        if taken.len() > 1 {
            let machine = with(machine(&of.program.scheduler, &[])?, &taken)?;
            reached = of.program.compare(machine)?.launches[of.launch];
        }
        if size(reached) <= beyond {
            break;
        }
    }
    Ok(Cause {
        of,
        artifacts: taken.iter().map(|a| a.name).collect(),
        with: reached,
    })
}

fn text(causes: &[Cause], beyond: f64, style: Style) -> String {
    let mut text = format!(
        "What makes these differences: with the artifacts of `{REFERENCE}` named here alone, the launch is within {beyond}%, or as near as with all that change it.\n\n"
    );
    let (open, gap, close) = style.borders();
    let _ = writeln!(
        text,
        "{open}{:<20}{gap}{:<22}{gap}policy{gap}{:>6}{gap}{:>6}{gap}with{close}",
        "launch of", "shape", "%", "% with"
    );
    if style.markdown {
        let _ = writeln!(text, "|---|---|---|---:|---:|---|");
    }
    for cause in causes {
        let quote = if style.markdown { "`" } else { "" };
        let names = cause.artifacts.iter();
        let names: Vec<String> = names.map(|a| format!("{quote}{a}{quote}")).collect();
        let _ = writeln!(
            text,
            "{open}{:<20}{gap}{:<22}{gap}{:<6}{gap}{:>+6.1}{gap}{:>+6.1}{gap}{}{close}",
            cause.of.program.name,
            shape(cause.of.program, cause.of.launch),
            cause.of.program.scheduler,
            cause.of.pair.difference(),
            cause.with.difference(),
            names.join(", "),
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_workloads::agreement::{Set, programs};

    #[test]
    fn the_artifacts_together_are_the_whole_difference() {
        let all: Vec<&Artifact> = ARTIFACTS.iter().collect();
        let plain = Machine::resolve("gtx480", &[]).expect("a preset");
        let mut made = with(plain, &all).expect("a machine");
        let mut reference = Machine::resolve(REFERENCE, &[]).expect("a preset");
        for machine in [&mut made, &mut reference] {
            (machine.name, machine.description) = Default::default();
            for unit in machine.unit.values_mut() {
                unit.takes.sort();
            }
        }
        assert_eq!(made, reference);
    }

    /// A remainder is a division here, and nothing on the reference.
    #[test]
    fn a_launch_that_differs_is_given_its_artifact() {
        let (all, _) = programs(Set::Series).expect("they are there");
        let program = all
            .into_iter()
            .find(|p| p.name == "rem_u32" && p.reference.len() == 1)
            .expect("one of the second micro-kernels");
        let machine = |scheduler: &str, _: &[String]| {
            let scheduler = format!("scheduler={scheduler}");
            Ok(Machine::resolve("gtx480", &[scheduler])?)
        };
        let plain = machine(&program.scheduler, &[]).expect("a machine");
        let compared = [program.compare(plain).expect("it runs")];
        let style = Style {
            markdown: false,
            beyond: 0.0,
        };
        let text = table(&compared, 5.0, &machine, style).expect("it runs again");
        let mut rows = text.lines().rev().filter(|l| !l.is_empty());
        let row = rows.next().expect("a row");
        assert!(row.ends_with("latency.int_rem"), "{text}");
        assert_eq!(table(&compared, 1e6, &machine, style).expect("none"), "");
    }
}
