//! `warpsim run`.

use crate::cuda::CudaArguments;
use crate::device::{DeviceOptions, make_device, statistics};
use crate::failure::{Failure, WRONG_RESULT, print, tell};
use crate::gangs::Gangs;
use crate::interrupt::Noting;
use crate::phases::{BlockList, Phases};
use crate::profile::{self, Profile};
use crate::progress;
use crate::registers::RegisterSource;
use crate::report;
use crate::summary::{Style, Summary};
use crate::trace::{Cycles, Sms, Trace, Window};
use crate::watts::Watts;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_present::nearest;
use warpsim_sim::config::Machine;
use warpsim_sim::observe::Observer;
use warpsim_workloads::files::{identity, write_whole};
use warpsim_workloads::folder;
use warpsim_workloads::launchfile::{self, LaunchFile};
use warpsim_workloads::registers::Registers;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::suite::{self, Parameters, Size, Workload};
use warpsim_workloads::{DeviceError, Outcome, Session};

/// Arguments of `warpsim run`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim run matmul --size tiny
  warpsim run bfs --machine gtx480-v3 --scheduler lrr --set l1d.ways=8 --stats bfs.json
  warpsim run kernel.toml --param n=4096 --profile=profile.html
  warpsim run bfs --report bfs.html
  warpsim run reduction --json | jq .totals.cycles

Exit codes: 0 the result is correct or unchecked, 1 it is wrong, \
                        2 the input makes no sense, 3 the simulated program failed.")]
pub struct Arguments {
    /// A workload's name, a launch file (ends in .toml), or a folder with one.
    #[arg(value_name = "WORKLOAD|LAUNCH.toml|DIR")]
    what: String,
    /// A folder with workloads of your own: launch files with their PTX or CUDA.
    #[arg(long, value_name = "DIR")]
    workload_dir: Option<PathBuf>,
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Widths of warps and gangs by name, as in ws4 or i-vws (see list warps): short for --set
    /// warps=..., which is short for the settings behind it.
    #[arg(long, value_name = "NAME")]
    warps: Option<String>,
    /// Power gating by name, as in conventional or origami (see list power): short for --set
    /// power=..., which is short for the settings behind it, issue policy included.
    #[arg(long, value_name = "NAME")]
    power: Option<String>,
    /// Issue policy: short for --set scheduler=...
    #[arg(long)]
    scheduler: Option<String>,
    /// Fetch policy: short for --set fetch.policy=...
    #[arg(long)]
    fetch: Option<String>,
    /// Divergence model: short for --set divergence=...
    #[arg(long)]
    divergence: Option<String>,
    /// Virtual thread blocks: short for --set virtual.mode=...
    #[arg(long, value_name = "off|software|hardware")]
    virtualize: Option<String>,
    /// So many virtual blocks at most: short for --set virtual.blocks=...
    #[arg(long, value_name = "N")]
    virtual_blocks: Option<u32>,
    /// Size of a workload [default: small].
    #[arg(long)]
    size: Option<SizeName>,
    /// Seed of generated input [default: 1, or what the launch file says].
    #[arg(long)]
    seed: Option<u64>,
    /// A parameter of a workload, over what the size says, or of a launch file.
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// A machine setting, as in sm.schedulers=4.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Who says how many registers a kernel takes, where a launch file does not.
    #[arg(long, value_name = "SOURCE", default_value = "estimate")]
    registers: RegisterSource,
    /// Write every statistic to this file, as JSON; to standard output instead of the summary if it is -.
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    /// Short for --stats -.
    #[arg(long, conflicts_with = "stats")]
    json: bool,
    /// Show what each source line and instruction cost, hottest first; or write all of it to a file,
    /// as a page if its name ends in .html, as data if in .json.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "functional"
    )]
    profile: Option<Option<PathBuf>>,
    /// Write a page about the run to this file (.html): the roofline, the machine over time, the profile.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    report: Option<PathBuf>,
    /// Write a timeline for Perfetto or chrome://tracing to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    trace: Option<PathBuf>,
    /// Only these cycles in the timeline [default: all].
    #[arg(long, value_name = "FROM..TO", requires = "trace")]
    trace_cycles: Option<Cycles>,
    /// Only these SMs in the timeline, as in 0,1 or 0-3 [default: all].
    #[arg(long, value_name = "LIST", requires = "trace")]
    trace_sms: Option<Sms>,
    /// At most this many events in the timeline.
    #[arg(
        long,
        value_name = "N",
        requires = "trace",
        default_value_t = 2_000_000
    )]
    trace_events: u64,
    /// Write when each warp of some blocks came to its barriers to this file: as data if its name
    /// ends in .json, as a picture if in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    phases: Option<PathBuf>,
    /// The SM whose first six blocks are shown [default: 0].
    #[arg(
        long,
        value_name = "SM",
        requires = "phases",
        conflicts_with = "phases_blocks"
    )]
    phases_sm: Option<u16>,
    /// Show these blocks of the grid instead, as in 0,1 or 0-5.
    #[arg(long, value_name = "LIST", requires = "phases")]
    phases_blocks: Option<BlockList>,
    /// Of this launch, numbered from 0.
    #[arg(long, value_name = "N", requires = "phases", default_value_t = 0)]
    phases_launch: u64,
    /// Write how many warps are in gangs of each size over time to this file: as data if its name
    /// ends in .csv, as a picture if in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    gangs: Option<PathBuf>,
    /// Write the power over time to this file: as data if its name ends in .json, as a picture if
    /// in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    watts: Option<PathBuf>,
    /// Cycles between two points of it.
    #[arg(
        long,
        value_name = "CYCLES",
        requires = "watts",
        default_value_t = 200,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    watts_every: u64,
    /// Let a launch file write its outputs outside of its folder.
    #[arg(long)]
    allow_outside: bool,
    #[command(flatten)]
    cuda: CudaArguments,
    /// Execute without timing.
    #[arg(long)]
    functional: bool,
    /// Look for mistakes that a run by itself does not show: `races`, accesses of different warps or
    /// blocks to the same memory with nothing between that orders them. Executes without timing.
    #[arg(long, value_name = "WHAT")]
    check: Option<Check>,
    /// Bytes that kernels may print; what is beyond is left out, and said.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    printf_limit: u64,
    /// Bytes that device-side `malloc` may give out.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20)]
    heap: u64,
    /// Give up after this many cycles.
    #[arg(long, value_name = "N")]
    max_cycles: Option<u64>,
    /// Host threads for the simulation, or `auto`: as many as the host has. Results are the same for
    /// any number.
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    threads: usize,
    /// Step through every cycle, even those in which nothing can happen.
    #[arg(long)]
    no_skip: bool,
    /// Show nothing but errors and wrong results.
    #[arg(short, long)]
    quiet: bool,
}

/// The most threads that can be asked for; there are never more than SMs.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    if text == "auto" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    }
    let number = text.parse().ok().filter(|n| (1..=MOST_THREADS).contains(n));
    number.ok_or_else(|| format!("a number from 1 to {MOST_THREADS}, or `auto`"))
}

/// What `--check` looks for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Check {
    /// Accesses that nothing orders, and barriers that only some threads of a warp come to.
    Races,
}

/// A workload's size on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum SizeName {
    /// For tests.
    Tiny,
    /// The default.
    Small,
    /// For patient people.
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
pub enum Job {
    /// A workload of the suite with its parameters and seed.
    Workload(&'static dyn Workload, Parameters, u64),
    /// A launch file, the directory its names refer to, and a seed.
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
    let registers = arguments.registers.resolve()?;
    let profile_file = arguments.profile.clone().flatten();
    if let Some(file) = &profile_file {
        profile::check(file)?;
    }
    if let Some(file) = &arguments.report {
        report::check(file)?;
    }
    let stats = arguments.stats.clone().filter(|file| !is_standard(file));
    let json = arguments.json || arguments.stats.as_deref().is_some_and(is_standard);
    let files = [
        &stats,
        &profile_file,
        &arguments.report,
        &arguments.trace,
        &arguments.phases,
        &arguments.gangs,
        &arguments.watts,
        &arguments.cuda.keep_ptx,
    ];
    for file in files.into_iter().flatten() {
        check_writable(file)?;
    }
    check_distinct(files.into_iter().flatten(), &job, &arguments.machine)?;
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    if let Some(path) = &arguments.trace {
        observers.push(Box::new(trace(path, arguments, &machine)?));
    }
    if let Some(path) = &arguments.phases {
        let blocks = arguments.phases_blocks.as_ref();
        let sm = arguments.phases_sm.unwrap_or(0);
        let phases = Phases::new(path, &machine, arguments.phases_launch, sm, blocks);
        observers.push(Box::new(phases.map_err(Failure::bad_input)?));
    }
    if let Some(path) = &arguments.gangs {
        let gangs = Gangs::new(path, &machine, &job.name());
        observers.push(Box::new(gangs.map_err(Failure::bad_input)?));
    }
    if let Some(path) = &arguments.watts {
        let watts = Watts::new(path, &machine, arguments.watts_every);
        observers.push(Box::new(watts.map_err(Failure::bad_input)?));
    }
    let profiled = arguments.profile.is_some() || arguments.report.is_some();
    let profile = profiled.then(|| {
        let (profile, collected) = Profile::new();
        observers.push(Box::new(profile));
        collected
    });
    let series = arguments.report.as_ref().map(|_| {
        let (recorder, series) = report::Recorder::new();
        observers.push(Box::new(recorder));
        series
    });
    let check_races = arguments.check == Some(Check::Races);
    if check_races && !observers.is_empty() {
        return Err(Failure::bad_input(
            "--check races executes without timing: there is no timeline, phase, gang or power to write",
        ));
    }
    let options = DeviceOptions {
        functional: arguments.functional || check_races,
        print_limit: arguments.printf_limit,
        heap: arguments.heap,
        print_aside: json,
        check_races,
        max_cycles: arguments.max_cycles,
        no_skip: arguments.no_skip,
        threads: arguments.threads,
        observers,
        progress: Box::new(Noting::new(progress::choose(arguments.quiet))),
    };
    let mut device = make_device(&machine, options)?;
    let result = execute(&job, &mut device, &registers);
    let observer = device.gpu.finish();
    if !arguments.quiet {
        for warning in device.gpu.warnings() {
            tell!("warning: {warning}");
        }
    }
    let left_out = device.gpu.printed().left_out;
    if left_out > 0 {
        tell!(
            "note: kernels printed {left_out} bytes more than the {} of --printf-limit",
            arguments.printf_limit
        );
    }
    let outcome = result?;
    let races = device.gpu.races();
    for race in races {
        tell!("race: {race}");
    }
    if let Some(mut observer) = observer {
        let note = observer
            .complete()
            .map_err(|e| Failure::bad_input(e.to_string()))?;
        if let Some(note) = note {
            tell!("note: {note}");
        }
    }
    let stats_text = |outcome| stats_text(&device, &job, outcome);
    if let Some(path) = &stats {
        let text = stats_text(&outcome);
        write_whole(path, text.as_bytes()).map_err(|e| unwritable(path, &e))?;
    }
    if let (Some(collected), Some(file)) = (&profile, &profile_file) {
        profile::write(&collected.borrow(), &job.name(), file)?;
    }
    if let (Some(collected), Some(series), Some(file)) = (&profile, &series, &arguments.report) {
        let summary = summary(&job, arguments, &device, &outcome);
        report::write(&summary, &collected.borrow(), &series.borrow(), file)?;
    }
    let wrong = matches!(outcome, Outcome::Wrong(_)) || !races.is_empty();
    if json {
        print(&stats_text(&outcome))?;
    } else if !arguments.quiet {
        print(&summary(&job, arguments, &device, &outcome).text())?;
        if let (Some(collected), Some(None)) = (&profile, &arguments.profile) {
            print(&profile::table(&collected.borrow()))?;
        }
    } else if matches!(outcome, Outcome::Wrong(_)) {
        tell!("result: {outcome}");
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
}

fn machine(arguments: &Arguments) -> Result<Machine, Failure> {
    // What is set singly goes over what a name sets.
    let named = arguments.warps.iter().map(|name| format!("warps={name}"));
    let power = arguments.power.iter().map(|name| format!("power={name}"));
    let named = named.chain(power);
    let mut overrides: Vec<String> = named.chain(arguments.set.iter().cloned()).collect();
    for (key, value) in [
        ("scheduler", &arguments.scheduler),
        ("fetch.policy", &arguments.fetch),
        ("divergence", &arguments.divergence),
    ] {
        overrides.extend(value.iter().map(|v| format!("{key}={v}")));
    }
    let mode = arguments.virtualize.iter();
    overrides.extend(mode.map(|v| format!("virtual.mode={v}")));
    let blocks = arguments.virtual_blocks.iter();
    overrides.extend(blocks.map(|n| format!("virtual.blocks={n}")));
    Ok(Machine::resolve(&arguments.machine, &overrides)?)
}

fn job(arguments: &Arguments) -> Result<Job, Failure> {
    let what = &arguments.what;
    if let Some(folder) = &arguments.workload_dir {
        let found = folder::workloads(folder)?;
        if let Some(workload) = found.iter().find(|w| w.name == *what) {
            return file_job(arguments, &workload.launch_file);
        }
        if suite::find(what).is_err() && !what.ends_with(".toml") {
            let names: Vec<&str> = found.iter().map(|w| w.name.as_str()).collect();
            let hint = nearest(what, names.iter().copied())
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(Failure::bad_input(format!(
                "no workload is called `{what}`{hint}\nin {}: {}",
                folder.display(),
                names.join(", ")
            )));
        }
    }
    let path = Path::new(what);
    if what.ends_with(".ptx") || what.ends_with(".cu") {
        return Err(Failure::bad_input(format!(
            "{what} holds kernels, and does not say what they are given\n\
             `warpsim new {what}` writes a launch file to begin with, which `warpsim run` runs; \
             `warpsim inspect {what}` describes the kernels"
        )));
    }
    // A workload's name comes before a folder of that name.
    if path.is_dir() && suite::find(what).is_err() || what.ends_with('/') {
        return file_job(arguments, &only_launch_file(path)?);
    }
    if what.ends_with(".toml") || what.contains(['/', '\\']) {
        return file_job(arguments, path);
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

/// The launch file of a folder that has one.
fn only_launch_file(folder: &Path) -> Result<PathBuf, Failure> {
    let shown = folder.display();
    let cannot = |e: std::io::Error| Failure::bad_input(format!("cannot read {shown}: {e}"));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [file] => Ok(file.clone()),
        [] => Err(Failure::bad_input(format!(
            "{shown} has no launch file (.toml)"
        ))),
        several => {
            let names: Vec<String> = several.iter().map(|f| f.display().to_string()).collect();
            let names = names.join(", ");
            Err(Failure::bad_input(format!(
                "{shown} has several launch files: {names}"
            )))
        }
    }
}

fn file_job(arguments: &Arguments, path: &Path) -> Result<Job, Failure> {
    if arguments.size.is_some() {
        return Err(Failure::bad_input(
            "--size is for workloads of the suite; a launch file says its sizes itself, and --param \
             changes those that it declares under [param]",
        ));
    }
    let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let mut file = launchfile::read_with(path, &arguments.param)?;
    file.allow_outside = arguments.allow_outside;
    file.cuda = arguments.cuda.options();
    Ok(Job::File(Box::new(file), directory, arguments.seed))
}

/// Better now than at the end of a long run.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    if path.file_name().is_none() || parent.is_some_and(|p| !p.is_dir()) || path.is_dir() {
        return Err(Failure::bad_input(format!(
            "cannot write {}: not a file in an existing directory",
            path.display()
        )));
    }
    Ok(())
}

/// No file that is written replaces one that is read, or another that is written.
fn check_distinct<'a>(
    written: impl Iterator<Item = &'a PathBuf>,
    job: &Job,
    machine: &str,
) -> Result<(), Failure> {
    let mut inputs = Vec::new();
    let mut taken = Vec::new();
    if let Job::File(file, directory, _) = job {
        inputs.extend(file.inputs(directory).iter().map(|path| identity(path)));
        let outputs = file.destinations(directory);
        taken.extend(outputs.iter().map(|path| identity(path)));
    }
    inputs.push(identity(Path::new(machine)));
    for path in written {
        let which = identity(path);
        let refuse = |why: &str| {
            let path = path.display();
            Err(Failure::bad_input(format!("cannot write {path}: {why}")))
        };
        if inputs.contains(&which) {
            return refuse("it is an input of this run");
        }
        // Several kinds of output may go to one device, as to /dev/null.
        if taken.contains(&which) && !is_device(path) {
            return refuse("another output of this run has the same name");
        }
        taken.push(which);
    }
    Ok(())
}

fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

fn unwritable(path: &Path, e: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot write {}: {e}", path.display()))
}

fn trace(path: &Path, arguments: &Arguments, machine: &Machine) -> Result<Trace, Failure> {
    let window = Window {
        cycles: arguments.trace_cycles.unwrap_or_default(),
        sms: arguments.trace_sms.clone().unwrap_or_default(),
        events: arguments.trace_events,
    };
    let sms = machine.gpu.sms;
    if let Some(sm) = window.sms.largest().filter(|&sm| u32::from(sm) >= sms) {
        return Err(Failure::bad_input(format!(
            "--trace-sms: there is no SM {sm}; {} has {sms}, from 0",
            machine.name
        )));
    }
    let slices = (32 / machine.sm.warp_width) as u16;
    Trace::create(path, window, slices, machine.gpu.core_mhz).map_err(|e| unwritable(path, &e))
}

/// Runs a job on a device.
pub fn execute(
    job: &Job,
    device: &mut Simulated,
    registers: &Registers,
) -> Result<Outcome, DeviceError> {
    let mut session = Session {
        device,
        compiler: registers,
    };
    match job {
        Job::Workload(workload, parameters, seed) => workload.run(parameters, *seed, &mut session),
        Job::File(file, directory, seed) => launchfile::run(file, directory, *seed, &mut session),
    }
}

/// Whether a file's name stands for standard output.
fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn stats_text(device: &Simulated, job: &Job, outcome: &Outcome) -> String {
    let result = match outcome {
        Outcome::Correct { .. } => "correct",
        Outcome::Wrong(_) => "wrong",
        Outcome::Unchecked => "unchecked",
    };
    let mut text = format!("{:#}", statistics(device, &job.name(), result));
    text.push('\n');
    text
}

fn summary<'a>(
    job: &'a Job,
    arguments: &Arguments,
    device: &'a Simulated,
    outcome: &'a Outcome,
) -> Summary<'a> {
    Summary {
        what: job.name(),
        machine: device.gpu.machine(),
        functional: arguments.functional || arguments.check.is_some(),
        launches: device.gpu.reports(),
        totals: device.gpu.totals(),
        seconds: device.gpu.host_time().as_secs_f64(),
        outcome,
        style: Style::of_stdout(),
    }
}
