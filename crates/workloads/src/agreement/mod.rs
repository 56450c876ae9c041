//! The comparison of our cycles with a reference simulator's: what is compared, and how well it
//! agrees. `warpsim agreement` shows it, `docs/agreement.md` sums it up.

pub mod figures;

use crate::host::device::DeviceError;
use crate::micro::series::{Series, series};
use crate::micro::{self, Measured, MicroLaunch};
use crate::recorded::{self, RecordedRun};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;

/// The issue policies under which the reference ran everything.
pub const SCHEDULERS: [&str; 2] = ["lrr", "gto"];

/// What belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// The first micro-kernels, each launched once.
    Micro,
    /// The second micro-kernels, launched once or several times in a row.
    Series,
    /// Whole workloads at `tiny`.
    Workloads,
}

impl Set {
    /// Every set.
    pub const ALL: [Set; 3] = [Set::Micro, Set::Series, Set::Workloads];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Set::Micro => "micro",
            Set::Series => "series",
            Set::Workloads => "workloads",
        }
    }
}

#[derive(Clone, Debug)]
enum Job {
    Micro(MicroLaunch),
    Series(Series),
    Workload(RecordedRun),
}

/// A program of the comparison: one or more launches in a row, under one issue policy.
#[derive(Clone, Debug)]
pub struct Program {
    /// Where it belongs.
    pub set: Set,
    /// Kernel or workload.
    pub name: String,
    /// Launch shape and what else tells it from others of its name.
    pub shape: String,
    /// Issue policy.
    pub scheduler: String,
    /// What each launch took on the reference.
    pub reference: Vec<u64>,
    job: Job,
}

/// A launch: cycles on the reference, cycles here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// On the reference.
    pub reference: u64,
    /// Here.
    pub ours: u64,
}

impl Pair {
    /// How much longer ours takes, in per cent of the reference.
    pub fn difference(self) -> f64 {
        (self.ours as f64 / self.reference.max(1) as f64 - 1.0) * 100.0
    }
}

/// A program that has run here.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What ran.
    pub program: Program,
    /// Its launches.
    pub launches: Vec<Pair>,
    /// Instruction counts are the reference's.
    pub same_instructions: bool,
}

impl Compared {
    /// All launches together.
    pub fn total(&self) -> Pair {
        Pair {
            reference: self.launches.iter().map(|l| l.reference).sum(),
            ours: self.launches.iter().map(|l| l.ours).sum(),
        }
    }
}

/// The programs of a set. Workloads whose kernels have changed since are not among them: their
/// names come second.
pub fn programs(set: Set) -> Result<(Vec<Program>, Vec<String>), DeviceError> {
    let mut outdated = Vec::new();
    let programs = match set {
        Set::Micro => micro::launches().iter().flat_map(of_micro).collect(),
        Set::Series => series().into_iter().map(of_series).collect(),
        Set::Workloads => {
            let mut programs = Vec::new();
            for run in recorded::runs() {
                if !run.is_outdated()? {
                    programs.push(of_workload(run));
                } else if outdated.last() != Some(&run.workload) {
                    outdated.push(run.workload);
                }
            }
            programs
        }
    };
    Ok((programs, outdated))
}

fn of_micro(launch: &MicroLaunch) -> Vec<Program> {
    let schedulers = SCHEDULERS.iter().zip(launch.cycles);
    let finished = schedulers.filter_map(|(scheduler, cycles)| Some((scheduler, cycles?)));
    let program = |(scheduler, cycles): (&&str, u64)| Program {
        set: Set::Micro,
        name: launch.kernel.clone(),
        shape: format!("{}x{}, {} B", launch.grid, launch.block, launch.in_bytes),
        scheduler: scheduler.to_string(),
        reference: vec![cycles],
        job: Job::Micro(launch.clone()),
    };
    finished.map(program).collect()
}

fn of_series(series: Series) -> Program {
    let times = match series.launches.len() {
        1 => String::new(),
        times => format!(", {times} times"),
    };
    Program {
        set: Set::Series,
        name: series.kernel.clone(),
        shape: format!("{}x{}{times}", series.grid, series.block),
        scheduler: series.scheduler.clone(),
        reference: series.launches.iter().map(|l| l[0]).collect(),
        job: Job::Series(series),
    }
}

fn of_workload(run: RecordedRun) -> Program {
    let times = match run.launches.len() {
        1 => "1 launch".to_owned(),
        times => format!("{times} launches"),
    };
    Program {
        set: Set::Workloads,
        name: run.workload.clone(),
        shape: times,
        scheduler: run.scheduler.clone(),
        reference: run.launches.iter().map(|l| l.cycles).collect(),
        job: Job::Workload(run),
    }
}

impl Program {
    /// Runs it on a machine that has its issue policy.
    pub fn compare(&self, machine: Machine) -> Result<Compared, DeviceError> {
        let (ours, same_instructions) = match &self.job {
            Job::Micro(launch) => {
                let ours = launch.run(machine, Options::default())?;
                let counted = [ours.thread_instructions, ours.warp_instructions];
                (vec![ours], launch.instructions == Some(counted))
            }
            Job::Series(series) => {
                let ours = series.run(machine)?;
                // The reference counts each lane of a vector load that hits several times.
                let vectors = series.kernel == "ld_v4";
                let same = vectors || same(&ours, series.launches.iter().map(|l| l[1]));
                (ours, same)
            }
            Job::Workload(run) => {
                let ours = run.run(machine).map_err(|e| e.context(&self.name))?;
                let counted = run.launches.iter().map(|l| l.thread_instructions);
                let same = same(&ours, counted);
                (ours, same)
            }
        };
        let pair = |(&reference, ours): (&u64, &Measured)| Pair {
            reference,
            ours: ours.cycles,
        };
        Ok(Compared {
            launches: self.reference.iter().zip(&ours).map(pair).collect(),
            program: self.clone(),
            same_instructions,
        })
    }
}

fn same(ours: &[Measured], mut reference: impl Iterator<Item = u64>) -> bool {
    let counted = |m: &Measured| reference.next() == Some(m.thread_instructions);
    ours.iter().all(counted)
}

/// Runs programs side by side, on machines that `machine` makes for an issue policy. The results
/// are in the programs' order.
pub fn compare_all(
    programs: &[Program],
    machine: &(dyn Fn(&str) -> Result<Machine, DeviceError> + Sync),
) -> Result<Vec<Compared>, DeviceError> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers.min(programs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((at, program)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    programs.get(at).map(|program| (at, program))
                } {
                    let result = machine(&program.scheduler).and_then(|m| program.compare(m));
                    let _ = sender.send((at, result));
                }
            });
        }
    });
    drop(sender);
    let mut results: Vec<_> = receiver.into_iter().collect();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
