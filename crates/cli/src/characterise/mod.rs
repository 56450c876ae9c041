//! `warpsim characterise`: the structure of the workloads, measured. The table in
//! `docs/workloads.md` is its output.

mod table;
mod warps;

use crate::console::failure::{Failure, WRONG_RESULT, print, tell};
use crate::run::SizeName;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use warps::{Spread, WarpSpread};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::stats::{LaunchReport, Totals};
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{self, Info, Parameters, Set, Size, WORKLOADS, Workload};
use warpsim_workloads::{DeviceError, Outcome, Session};

/// Below this SIMD efficiency a workload is divergent (the thread-block-compaction paper's
/// methodology section).
const DIVERGENT_BELOW: f64 = 0.76;
/// Above this share of warp time at barriers it is barrier-intensive (the barrier paper's
/// methodology section).
const BARRIERS_ABOVE: f64 = 0.15;

/// Arguments of `warpsim characterise`.
#[derive(clap::Args)]
#[command(
    after_help = "Runs each workload once under loose round robin and pdom stacks, and compares \
                        what it measures with the sets the workload is listed in. Exit codes: 0 all \
                        as listed, 1 a wrong result or a workload that is listed in a set it is not in."
)]
pub struct Arguments {
    /// Workloads [default: all].
    workloads: Vec<String>,
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480-v3")]
    machine: String,
    /// Size of the workloads.
    #[arg(long, default_value = "small")]
    size: SizeName,
    /// Seed of generated input.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Workloads to run at once [default: as many as there are cores].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Print a Markdown table.
    #[arg(long)]
    markdown: bool,
}

/// What one workload showed.
struct Row {
    info: &'static Info,
    /// The launch with the most warp instructions stands for the shape.
    main: LaunchReport,
    kernels: usize,
    launches: usize,
    warps: u64,
    totals: Totals,
    spread: Spread,
}

impl Row {
    fn simd_efficiency(&self) -> f64 {
        self.totals.derived("simd_efficiency").unwrap_or_default()
    }

    fn barrier_share(&self) -> f64 {
        self.totals.derived("barrier_share").unwrap_or_default()
    }

    /// The sets it belongs to by what was measured.
    fn measured(&self) -> Vec<Set> {
        let mut sets = vec![if self.simd_efficiency() < DIVERGENT_BELOW {
            Set::Divergent
        } else {
            Set::Coherent
        }];
        if self.barrier_share() > BARRIERS_ABOVE {
            sets.push(Set::BarrierIntensive);
        }
        sets
    }

    /// Sets it is listed in without being there.
    fn listed_wrongly(&self) -> impl Iterator<Item = Set> {
        let measured = self.measured();
        let exceptions = self.info.exceptions;
        self.info
            .sets
            .iter()
            .copied()
            .filter(move |set| !measured.contains(set) && !exceptions.iter().any(|e| e.0 == *set))
    }
}

/// Measures the workloads and prints the table.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let overrides = ["scheduler=lrr".to_string(), "divergence=pdom".to_string()];
    let machine = Machine::resolve(&arguments.machine, &overrides)?;
    let chosen: Vec<&'static dyn Workload> = if arguments.workloads.is_empty() {
        WORKLOADS.to_vec()
    } else {
        let find = |name: &String| suite::find(name);
        arguments
            .workloads
            .iter()
            .map(find)
            .collect::<Result<_, _>>()?
    };
    let jobs = arguments
        .jobs
        .or_else(|| thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1)
        .clamp(1, chosen.len());
    let rows = all(&chosen, jobs, |workload| {
        measure(workload, &machine, arguments.size.into(), arguments.seed)
    })?;
    print(&table::table(&rows, arguments.markdown))?;
    let mut wrong = false;
    for row in &rows {
        for set in row.listed_wrongly() {
            wrong = true;
            tell!(
                "{} is listed as {} but has SIMD efficiency {:.1}% and {:.1}% of warp time at barriers",
                row.info.name,
                set.name(),
                100.0 * row.simd_efficiency(),
                100.0 * row.barrier_share()
            );
        }
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
}

/// Does something with every workload, some at a time; the results are in the workloads' order.
fn all<T: Send>(
    workloads: &[&'static dyn Workload],
    jobs: usize,
    work: impl Fn(&'static dyn Workload) -> Result<T, DeviceError> + Sync,
) -> Result<Vec<T>, DeviceError> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<T, DeviceError>>>> =
        Mutex::new(workloads.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(workload) = workloads.get(index) else {
                        return;
                    };
                    let result = work(*workload).map_err(|e| e.context(workload.info().name));
                    done.lock().unwrap_or_else(|e| e.into_inner())[index] = Some(result);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.into_iter().flatten().collect()
}

fn measure(
    workload: &'static dyn Workload,
    machine: &Machine,
    size: Size,
    seed: u64,
) -> Result<Row, DeviceError> {
    let spread = WarpSpread::default();
    let options = Options {
        observer: Some(spread.listener()),
        ..Options::default()
    };
    let mut device = Simulated::new(machine.clone(), options)?;
    let info = workload.info();
    let parameters = Parameters::resolve(info.parameters, size, &[])?;
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters, seed, &mut session)?;
    if let Outcome::Wrong(_) = outcome {
        return Err(DeviceError::program_failed(outcome.to_string()));
    }
    let reports = device.gpu.reports();
    let instructions = |r: &&LaunchReport| r.totals.sm.counters.warp_instructions;
    let main = reports.iter().max_by_key(instructions).cloned();
    let main = main.ok_or_else(|| DeviceError::bad_input("it launches no kernel"))?;
    let mut names: Vec<&str> = reports.iter().map(|r| r.kernel.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let threads = |r: &LaunchReport| r.block.iter().map(|n| u64::from(*n)).product::<u64>();
    Ok(Row {
        info,
        kernels: names.len(),
        launches: reports.len(),
        warps: reports
            .iter()
            .map(|r| r.totals.sm.counters.blocks * threads(r).div_ceil(32))
            .sum(),
        main,
        totals: device.gpu.totals().clone(),
        spread: spread.result(),
    })
}
