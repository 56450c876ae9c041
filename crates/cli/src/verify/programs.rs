//! Random programs on the GPU, in this process.

use super::{Arguments, keep};
use crate::console::failure::{Failure, print};
use std::fmt::{Display, Formatter};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use warpsim_silicon::gpu::driver::{Driver, Level};
use warpsim_silicon::programs::campaign::{self, Extent, Outcome};
use warpsim_silicon::programs::judge::{Reference, Truth};
use warpsim_silicon::programs::record;
use warpsim_silicon::programs::run::{Target, functional, models, on_gpu};
use warpsim_silicon::programs::tree::Program;

/// Where differences are kept in the directory of a record.
pub(super) const DIFFERENCES: &str = "differences.txt";
/// Where the program that runs now is kept there, by its seed: should it end the process, it is
/// known.
pub(super) const RUNNING: &str = "running.txt";

/// How a program differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The GPU's compiler is wrong: without optimization the program agrees.
    Compiler,
    /// Nothing is known about why.
    Unexplained,
    /// The GPU gave up.
    Lost,
    /// Its process ended with it: a driver's compiler that crashes takes the process with it.
    Ended,
}

/// A program that differs: a line of [`DIFFERENCES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) seed: u64,
    pub(super) kind: Kind,
    /// Where it differs, or why the GPU gave up.
    pub(super) what: String,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::Compiler, "compiler"),
    (Kind::Unexplained, "unexplained"),
    (Kind::Lost, "lost"),
    (Kind::Ended, "ended"),
];

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| *kind == self.kind);
        let name = name.map_or("", |(_, name)| name);
        let what = self.what.replace('\n', " ");
        write!(f, "{} {name} {what}", self.seed)
    }
}

/// Reads a file of differences; a line that makes no sense is left out.
pub(super) fn read(text: &str) -> Vec<Difference> {
    let difference = |line: &str| {
        let (seed, rest) = line.split_once(' ')?;
        let (kind, what) = rest.split_once(' ')?;
        let (kind, _) = KINDS.iter().find(|(_, name)| *name == kind)?;
        Some(Difference {
            seed: seed.parse().ok()?,
            kind: *kind,
            what: what.to_string(),
        })
    };
    text.lines().filter_map(difference).collect()
}

/// The file.
pub(super) fn write(differences: &[Difference]) -> String {
    let lines = differences.iter().map(|d| format!("{d}\n"));
    lines.collect()
}

/// `3 differ: 2 by errors of the GPU's compiler (4, 9), 1 unexplained (12)`.
pub(super) fn summary(differences: &[Difference]) -> String {
    let of = |kind: Kind, name: &str| {
        let seeds = differences.iter().filter(|d| d.kind == kind);
        let seeds: Vec<String> = seeds.map(|d| d.seed.to_string()).collect();
        (!seeds.is_empty()).then(|| format!("{} {name} ({})", seeds.len(), seeds.join(", ")))
    };
    let parts: Vec<String> = [
        of(Kind::Compiler, "by errors of the GPU's compiler"),
        of(Kind::Unexplained, "unexplained"),
        of(Kind::Lost, "at which the GPU gave up"),
        of(Kind::Ended, "at which a process ended"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("{} differ{colon}{}", differences.len(), parts.join(", "))
}

fn differences(outcome: &Outcome) -> Vec<Difference> {
    let failures = outcome.failures.iter().map(|f| Difference {
        seed: f.seed,
        kind: if f.compiler {
            Kind::Compiler
        } else {
            Kind::Unexplained
        },
        what: f.target.clone(),
    });
    let lost = outcome.lost.iter().map(|(seed, why)| Difference {
        seed: *seed,
        kind: Kind::Lost,
        what: why.clone(),
    });
    failures.chain(lost).collect()
}

/// What is kept of random programs.
pub(super) fn recorded(driver: &Driver, mut entries: Vec<record::Entry>) -> String {
    entries.sort_by_key(|e| e.seed);
    record::write(&record::Record {
        gpu: driver.gpu.clone(),
        driver: driver.version.clone(),
        entries,
    })
}

/// Where random programs run besides the GPU.
pub(super) fn targets(arguments: &Arguments) -> Result<Vec<Target>, Failure> {
    let mut targets = vec![functional().map_err(Failure::bad_input)?];
    targets.extend(models().map_err(Failure::bad_input)?);
    arguments.programs.targets(targets)
}

/// Random programs. True when something is wrong.
pub(super) fn compare(arguments: &Arguments, driver: &Driver) -> Result<bool, Failure> {
    let targets = targets(arguments)?;
    let extent = Extent {
        shrinking: arguments.tries,
        ..arguments.programs.extent()
    };
    let keep_all = |outcome: &Outcome| {
        let entries = recorded(driver, outcome.entries.clone());
        keep(arguments, "programs.txt", &entries)?;
        keep(arguments, DIFFERENCES, &write(&differences(outcome)))
    };
    // A GPU may hang and a driver may crash: what is known is kept now and then, a difference at
    // once.
    let last = Mutex::new((Instant::now(), 0));
    let progress = |outcome: &Outcome| {
        let mut last = last.lock().unwrap_or_else(|e| e.into_inner());
        let found = outcome.failures.len();
        if last.0.elapsed() > Duration::from_secs(5) || last.1 != found {
            *last = (Instant::now(), found);
            // The last one, below, is the one whose failure is told.
            let _ = keep_all(outcome);
        }
    };
    let truth = |program: &Program| {
        // A process that cannot say where it is can still compare.
        let _ = keep(arguments, RUNNING, &program.seed.to_string());
        on_gpu(program, driver, driver.level)
    };
    let plain = |program: &_| on_gpu(program, driver, Level::NONE);
    let reference = Reference {
        truth: &truth,
        plain: (driver.level != Level::NONE).then_some(&plain as Truth<'_>),
    };
    let outcome = campaign::run(&extent, reference, &targets, &progress);
    arguments.programs.report(&outcome)?;
    if let Some((seed, why)) = &outcome.lost {
        print(&format!("the GPU gave up at program {seed}: {why}\n"))?;
    }
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    let differences = differences(&outcome);
    print(&format!(
        "{} random programs on the GPU and {}: {} comparisons, {}\n",
        outcome.programs,
        names.join(", "),
        outcome.comparisons,
        summary(&differences)
    ))?;
    keep_all(&outcome)?;
    Ok(!differences.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_written_read_and_summed_up() {
        let difference = |seed, kind, what: &str| Difference {
            seed,
            kind,
            what: what.into(),
        };
        let all = [
            difference(4, Kind::Compiler, "functional"),
            difference(12, Kind::Unexplained, "tbc on fx5800"),
            difference(9, Kind::Compiler, "functional"),
            difference(7, Kind::Lost, "running: misaligned address"),
            difference(8, Kind::Ended, "signal: 11 (SIGSEGV)"),
        ];
        assert_eq!(read(&write(&all)), all);
        assert_eq!(read("x compiler y\n1 other y\n2"), []);
        assert_eq!(
            summary(&all),
            "5 differ: 2 by errors of the GPU's compiler (4, 9), 1 unexplained (12), \
             1 at which the GPU gave up (7), 1 at which a process ended (8)"
        );
        assert_eq!(summary(&[]), "0 differ");
    }
}
