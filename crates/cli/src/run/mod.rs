//! `warpsim run`.

mod files;
mod job;
mod kernels;
pub mod outputs;
pub mod simulation;
mod steps;
mod view;

pub use files::check_writable;
pub use job::{Job, SizeName, Wanted, execute, job};

use crate::console::failure::{Failure, WRONG_RESULT, print, print_data, tell};
use crate::console::interrupt::Noting;
use crate::console::progress;
use crate::console::terminal::width;
use crate::setup::cuda::CudaArguments;
use crate::setup::device::{DeviceOptions, make_device, statistics};
use crate::setup::machine::MachineArguments;
use crate::setup::registers::{Inlining, RegisterSource};
use crate::summary::{Style, Summary};
use files::check_distinct;
use outputs::OutputArguments;
use simulation::{Check, HostThreads, SimulationArguments};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;
use view::{Second, ViewArguments};
use warpsim_present::folded;
use warpsim_sim::config::Machine;
use warpsim_sim::progress::Progress;
use warpsim_view::Recorder;
use warpsim_workloads::Outcome;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::suite::Size;

/// Arguments of `warpsim run`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpsim run matmul --size tiny
  warpsim run bfs --machine gtx480-v3 --scheduler lrr --set l1d.ways=8 --stats bfs.json
  warpsim run kernel.cu --param n=4096      with the launch file beside it, else made-up contents
  warpsim run kernel.toml --param n=4096 --profile=profile.html
  warpsim run bfs --report bfs.html
  warpsim run bfs --size tiny --view bfs.html --view-against '--scheduler lrr'
  warpsim run reduction --json | jq .totals.cycles

Exit codes: 0 the result is correct or unchecked, 1 it is wrong, \
                        2 the input makes no sense, 3 the simulated program failed.")]
pub struct Arguments {
    /// A workload's name, a launch file (ends in .toml), a folder with one, or CUDA C (ends in .cu).
    #[arg(value_name = "WORKLOAD|LAUNCH.toml|DIR|KERNEL.cu")]
    what: String,
    /// A folder with workloads of your own: launch files with their PTX or CUDA.
    #[arg(long, value_name = "DIR")]
    workload_dir: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArguments,
    /// Size of a workload [default: small].
    #[arg(long)]
    size: Option<SizeName>,
    /// Seed of generated input [default: 1, or what the launch file says].
    #[arg(long)]
    seed: Option<u64>,
    /// A parameter of a workload, over what the size says, or of a launch file.
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Who says how many registers a kernel takes, where a launch file does not.
    #[arg(long, value_name = "SOURCE", default_value = "estimate")]
    registers: RegisterSource,
    #[command(flatten)]
    inlining: Inlining,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    view: ViewArguments,
    /// Let a launch file write its outputs outside of its folder.
    #[arg(long)]
    allow_outside: bool,
    #[command(flatten)]
    cuda: CudaArguments,
    #[command(flatten)]
    simulation: SimulationArguments,
    /// Show ten lines instead of a page.
    #[arg(long, conflicts_with = "quiet")]
    brief: bool,
    /// Show nothing but errors and wrong results.
    #[arg(short, long)]
    quiet: bool,
}

/// What is run on which machine, checked before it begins.
struct Prepared {
    machine: Machine,
    job: Job,
    lowering: Lowering,
}

fn prepare(arguments: &Arguments) -> Result<Prepared, Failure> {
    let machine = arguments.machine.resolve()?;
    let job = job(&Wanted {
        what: &arguments.what,
        workload_dir: arguments.workload_dir.as_deref(),
        size: arguments.size,
        usual_size: Size::default(),
        seed: arguments.seed,
        param: &arguments.param,
        allow_outside: arguments.allow_outside,
        cuda: &arguments.cuda,
    })?;
    let lowering = Lowering {
        registers: arguments.registers.resolve()?,
        options: arguments.inlining.options(),
    };
    Ok(Prepared {
        machine,
        job,
        lowering,
    })
}

/// How the arguments want a device to run. The caller adds observers.
fn device_options(
    arguments: &Arguments,
    machine_code: bool,
    progress: Box<dyn Progress>,
) -> DeviceOptions {
    let simulation = &arguments.simulation;
    let threads = HostThreads::of(simulation.threads);
    DeviceOptions {
        functional: simulation.untimed(),
        machine_code,
        print_limit: simulation.printf_limit,
        heap: simulation.heap,
        print_aside: arguments.outputs.statistics_shown(),
        check_races: simulation.checks(Check::Races),
        check_steps: simulation.checks(Check::Steps),
        max_cycles: simulation.max_cycles,
        no_skip: simulation.no_skip,
        reference: simulation.reference,
        threads: threads.count,
        observers: Vec::new(),
        progress,
    }
}

/// Runs a workload or a launch file.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (outputs, simulation) = (&arguments.outputs, &arguments.simulation);
    let machine_code = simulation.machine_code()?;
    let prepared = prepare(arguments)?;
    let Prepared {
        machine,
        job,
        lowering,
    } = &prepared;
    arguments.view.check(machine)?;
    let typed = std::env::args_os().skip(1);
    let typed = typed.map(|word| word.to_string_lossy().into_owned());
    let typed = typed.skip_while(|word| word != "run").skip(1);
    let against = view::against(&arguments.view, typed)?;
    let second = against
        .map(|a| Second::new(a, &arguments.view))
        .transpose()?;
    let mut files = outputs.files()?;
    files.extend(&arguments.cuda.keep_ptx);
    files.extend(&arguments.view.view);
    for file in &files {
        check_writable(file)?;
    }
    check_distinct(files.into_iter(), job, &arguments.machine.machine)?;
    let mut listening = outputs.listen(machine, &job.name())?;
    let recorder = arguments.view.recorder(machine);
    listening
        .observers
        .extend(recorder.iter().map(Recorder::listener));
    if let Some(check) = simulation.check
        && !listening.observers.is_empty()
    {
        return Err(Failure::bad_input(format!(
            "--check {} executes without timing: there is no view, timeline, phase, gang or power to write",
            check.word()
        )));
    }
    let threads = HostThreads::of(simulation.threads);
    if let Some(note) = threads.note.as_ref().filter(|_| !arguments.quiet) {
        tell!("note: {note}");
    }
    let progress = Box::new(Noting::new(progress::choose(arguments.quiet)));
    let mut options = device_options(arguments, machine_code, progress);
    options.observers = std::mem::take(&mut listening.observers);
    // Never taken apart: the process ends with this command, and the host has all of its memory back at
    // once, where freeing every list of every SM takes as long as reading the kernels does.
    let mut device = ManuallyDrop::new(make_device(machine, options)?);
    let result = execute(job, &mut device, lowering);
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
            simulation.printf_limit
        );
    }
    let outcome = result?;
    let (races, steps) = (device.gpu.races(), device.gpu.steps());
    for race in races {
        tell!("race: {race}");
    }
    for pair in steps {
        tell!("in step: {pair}");
    }
    if let (Some(note), false) = (job::made_up(job), races.is_empty() && steps.is_empty()) {
        tell!("{note}");
    }
    if let Some(mut observer) = observer {
        let note = observer
            .complete()
            .map_err(|e| Failure::bad_input(e.to_string()))?;
        if let Some(note) = note {
            tell!("note: {note}");
        }
    }
    let stats = || stats_text(&device, job, &outcome);
    let summary = summary(job, arguments, &device, &outcome);
    outputs.write(&listening, &summary, stats)?;
    let wrong_result = matches!(outcome, Outcome::Wrong(_));
    let wrong = wrong_result || !races.is_empty() || !steps.is_empty();
    if outputs.statistics_shown() {
        print_data(&stats())?;
    } else if !arguments.quiet {
        let text = match arguments.brief {
            true => summary.brief(),
            false => summary.text(),
        };
        print(&match width() {
            Some(width) => folded(&text, width),
            None => text,
        })?;
        outputs.show(&listening)?;
        if let Some(page) = &outputs.report {
            print(&format!("wrote {}: open it in a browser\n", page.display()))?;
        }
    } else if wrong_result {
        tell!("result: {outcome}");
    }
    if let (Some(recorder), Some(file)) = (&recorder, &arguments.view.view) {
        let written = view::write(arguments, &prepared, recorder, second.as_ref(), file)?;
        if !arguments.quiet && !outputs.statistics_shown() {
            print(&written)?;
        }
    }
    if wrong_result
        && !simulation.untimed()
        && let Some(why) = steps::explain(job, machine, lowering)
    {
        tell!("{why}");
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
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
        functional: arguments.simulation.untimed(),
        launches: device.gpu.reports(),
        totals: device.gpu.totals(),
        seconds: device.gpu.host_time().as_secs_f64(),
        outcome,
        style: Style::of_stdout(),
    }
}
