//! `warpsim run`.

use crate::device::{DeviceOptions, make_device, statistics};
use crate::failure::{Failure, WRONG_RESULT, print};
use crate::{progress, registry};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use warpsim_sim::config::Machine;
use warpsim_sim::policy::PolicyInfo;
use warpsim_sim::text::nearest;
use warpsim_workloads::files::write_whole;
use warpsim_workloads::launchfile::{self, LaunchFile};
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{self, Parameters, Size, Workload};
use warpsim_workloads::{DeviceError, Outcome, Session};

/// Arguments of `warpsim run`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the result is correct or unchecked, 1 it is wrong, \
                        2 the input makes no sense, 3 the simulated program failed."
)]
pub struct Arguments {
    /// A workload's name, or a launch file (ends in .toml).
    #[arg(value_name = "WORKLOAD|LAUNCH.toml")]
    what: String,
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Issue policy: short for --set sm.scheduler=...
    #[arg(long)]
    scheduler: Option<String>,
    /// Fetch policy: short for --set fetch.policy=...
    #[arg(long)]
    fetch: Option<String>,
    /// Divergence model: short for --set sm.divergence=...
    #[arg(long)]
    divergence: Option<String>,
    /// Size of a workload [default: small].
    #[arg(long)]
    size: Option<SizeName>,
    /// Seed of generated input [default: 1, or what the launch file says].
    #[arg(long)]
    seed: Option<u64>,
    /// A workload's parameter, over what the size says.
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// A machine setting, as in sm.schedulers=4.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write every statistic to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    /// Write a trace of issued instructions to this file.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Execute without timing.
    #[arg(long)]
    functional: bool,
    /// Give up after this many cycles.
    #[arg(long, value_name = "N")]
    max_cycles: Option<u64>,
    /// Step through every cycle, even those in which nothing can happen.
    #[arg(long)]
    no_skip: bool,
    /// Show nothing but errors and wrong results.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SizeName {
    Tiny,
    Small,
    Large,
}

impl From<SizeName> for Size {
    fn from(name: SizeName) -> Size {
        match name {
            SizeName::Tiny => Size::Tiny,
            SizeName::Small => Size::Small,
            SizeName::Large => Size::Large,
        }
    }
}

/// What is to run, checked before a device is built.
enum Job {
    Workload(&'static dyn Workload, Parameters, u64),
    File(Box<LaunchFile>, PathBuf, Option<u64>),
}

impl Job {
    /// What is run, in words.
    fn name(&self) -> String {
        match self {
            Job::Workload(workload, parameters, seed) => {
                let values: Vec<String> = parameters
                    .iter()
                    .map(|(n, v)| format!("{n} = {v}"))
                    .collect();
                format!(
                    "{} ({}, seed {seed})",
                    workload.info().name,
                    values.join(", ")
                )
            }
            Job::File(file, ..) => file.source.name.to_string(),
        }
    }
}

/// Runs a workload or a launch file.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let machine = machine(arguments)?;
    let job = job(arguments)?;
    for file in [&arguments.stats, &arguments.trace].into_iter().flatten() {
        check_writable(file)?;
    }
    let options = DeviceOptions {
        functional: arguments.functional,
        max_cycles: arguments.max_cycles,
        no_skip: arguments.no_skip,
        trace: arguments.trace.clone(),
        progress: progress::choose(arguments.quiet),
    };
    let mut device = make_device(&machine, options)?;
    let start = Instant::now();
    let result = execute(&job, &mut device);
    device.gpu.finish();
    let outcome = result?;
    if let Some(path) = &arguments.stats {
        write_stats(path, &device, &job, &outcome)?;
    }
    let wrong = matches!(outcome, Outcome::Wrong(_));
    if !arguments.quiet {
        print(&report(&job, &machine, &device, &outcome, start))?;
    } else if wrong {
        eprintln!("result: {outcome}");
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
}

fn machine(arguments: &Arguments) -> Result<Machine, Failure> {
    let mut overrides = arguments.set.clone();
    for (key, value) in [
        ("sm.scheduler", &arguments.scheduler),
        ("fetch.policy", &arguments.fetch),
        ("sm.divergence", &arguments.divergence),
    ] {
        overrides.extend(value.iter().map(|v| format!("{key}={v}")));
    }
    let machine = Machine::resolve(&arguments.machine, &overrides)?;
    check_policy("scheduler", &machine.sm.scheduler, registry::schedulers())?;
    check_policy("fetch policy", &machine.fetch.policy, registry::fetch())?;
    check_policy(
        "divergence model",
        &machine.sm.divergence,
        registry::divergence(),
    )?;
    Ok(machine)
}

fn check_policy(kind: &str, name: &str, known: &[PolicyInfo]) -> Result<(), Failure> {
    let names = || known.iter().map(|p| p.name);
    if known.is_empty() || names().any(|n| n == name) {
        return Ok(());
    }
    let hint = nearest(name, names())
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    Err(Failure::bad_input(format!(
        "no {kind} is called `{name}`{hint}\nthere are: {}",
        names().collect::<Vec<_>>().join(", ")
    )))
}

fn job(arguments: &Arguments) -> Result<Job, Failure> {
    let what = &arguments.what;
    if what.ends_with(".toml") || what.contains(['/', '\\']) {
        if arguments.size.is_some() || !arguments.param.is_empty() {
            return Err(Failure::bad_input(
                "--size and --param are for workloads; a launch file says its sizes itself",
            ));
        }
        let path = Path::new(what);
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let file = launchfile::read(path)?;
        return Ok(Job::File(Box::new(file), directory, arguments.seed));
    }
    let workload = suite::find(what)?;
    let size = arguments.size.map(Size::from).unwrap_or_default();
    let parameters = Parameters::resolve(workload.info().parameters, size, &arguments.param)?;
    Ok(Job::Workload(
        workload,
        parameters,
        arguments.seed.unwrap_or(1),
    ))
}

/// Better now than at the end of a long run.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    if path.file_name().is_none() || parent.is_some_and(|p| !p.is_dir()) || path.is_dir() {
        return Err(Failure::bad_input(format!(
            "cannot write {}: not a file in an existing directory",
            path.display()
        )));
    }
    Ok(())
}

fn execute(job: &Job, device: &mut Simulated) -> Result<Outcome, DeviceError> {
    let mut session = Session {
        device,
        compiler: &compile,
    };
    match job {
        Job::Workload(workload, parameters, seed) => workload.run(parameters, *seed, &mut session),
        Job::File(file, directory, seed) => launchfile::run(file, directory, *seed, &mut session),
    }
}

fn write_stats(
    path: &Path,
    device: &Simulated,
    job: &Job,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let result = match outcome {
        Outcome::Correct { .. } => "correct",
        Outcome::Wrong(_) => "wrong",
        Outcome::Unchecked => "unchecked",
    };
    let mut text = format!("{:#}", statistics(device, &job.name(), result));
    text.push('\n');
    write_whole(path, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", path.display())))
}

fn report(
    job: &Job,
    machine: &Machine,
    device: &Simulated,
    outcome: &Outcome,
    start: Instant,
) -> String {
    let what = job.name();
    let totals = device.gpu.totals();
    let seconds = start.elapsed().as_secs_f64().max(1e-9);
    let threads = totals.sm.counters.thread_instructions;
    let warps = totals.sm.counters.warp_instructions;
    let cycles = totals.cycles;
    let per_cycle = |n: u64| n as f64 / cycles.max(1) as f64;
    format!(
        "{what} on {}\n\
         cycles               {cycles}\n\
         thread instructions  {threads} ({:.2} a cycle)\n\
         warp instructions    {} ({:.2} a cycle)\n\
         host time            {seconds:.2} s ({} thread instructions/s)\n\
         result               {outcome}\n",
        machine.name,
        per_cycle(threads),
        warps,
        per_cycle(warps),
        progress::amount(threads as f64 / seconds),
    )
}
