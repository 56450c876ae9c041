//! `run --view`: a page in which the warps of an SM can be stepped through, of one run or of two beside each other.

use super::files::unwritable;
use super::{Arguments, Prepared, device_options, execute, prepare};
use crate::console::failure::{Failure, tell};
use crate::console::interrupt::Noting;
use crate::console::progress;
use crate::setup::device::make_device;
use clap::Parser;
use std::path::{Path, PathBuf};
use warpsim_sim::config::Machine;
use warpsim_view::page::{BYTES, page};
use warpsim_view::{Recorder, Window, format, how};
use warpsim_workloads::Outcome;
use warpsim_workloads::files::write_whole;

/// What the page shows.
#[derive(clap::Args)]
pub struct ViewArguments {
    /// Write a page to this file (.html) in which the warps of an SM can be stepped through cycle by cycle.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    pub view: Option<PathBuf>,
    /// The SM that it shows [default: 0].
    #[arg(long, value_name = "SM", requires = "view")]
    pub view_sm: Option<u16>,
    /// Only these cycles, the last not included, as in 2000-6000 [default: from the first on, as many as fit in 20 MB].
    #[arg(
        long,
        value_name = "FROM-TO",
        requires = "view",
        allow_hyphen_values = true
    )]
    pub view_cycles: Option<Window>,
    /// Show a second run beneath, with these options over those of the first: "--scheduler lrr". Blanks separate them.
    #[arg(
        long,
        value_name = "OPTIONS",
        requires = "view",
        allow_hyphen_values = true
    )]
    pub view_against: Option<String>,
}

impl ViewArguments {
    /// Whether the page has a name for one, and the SM is there.
    pub fn check(&self, machine: &Machine) -> Result<(), Failure> {
        let Some(file) = &self.view else {
            return Ok(());
        };
        if file.extension().is_none_or(|e| e != "html") {
            return Err(Failure::bad_input(format!(
                "--view {}: the view is a page: end its name in .html",
                file.display()
            )));
        }
        let (sm, sms) = (self.view_sm.unwrap_or(0), machine.gpu.sms);
        if u32::from(sm) >= sms {
            return Err(Failure::bad_input(format!(
                "--view-sm: there is no SM {sm}; {} has {sms}, from 0",
                machine.name
            )));
        }
        Ok(())
    }

    /// What records a run on a machine, if a page is wanted.
    pub fn recorder(&self, machine: &Machine) -> Option<Recorder> {
        self.view.as_ref()?;
        let runs = 1 + usize::from(self.view_against.is_some());
        let window = self.view_cycles.unwrap_or_default();
        let sm = self.view_sm.unwrap_or(0);
        Some(Recorder::new(machine, sm, window, BYTES / runs))
    }
}

/// Arguments of the run that is shown beneath: those of the first, and what is said again counts.
#[derive(Parser)]
#[command(
    name = "--view-against",
    no_binary_name = true,
    args_override_self = true
)]
struct Again {
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    arguments: Box<Arguments>,
}

/// Whether an option is for the first run alone: what is written of it, or a way of running of which a page shows nothing.
fn is_of_the_first(word: &str) -> bool {
    const THESE: [&str; 12] = [
        "view",
        "stats",
        "json",
        "profile",
        "report",
        "trace",
        "phases",
        "gangs",
        "watts",
        "check",
        "functional",
        "reference",
    ];
    let option = word.strip_prefix("--").unwrap_or_default();
    let name = option.split(['=', '-']).next().unwrap_or_default();
    THESE.contains(&name)
}

/// The arguments of the second run, if one is wanted, of what was `typed` behind `run`.
pub fn against(
    arguments: &ViewArguments,
    typed: impl Iterator<Item = String>,
) -> Result<Option<Box<Arguments>>, Failure> {
    let Some(other) = &arguments.view_against else {
        return Ok(None);
    };
    let mut words = Vec::new();
    let mut typed = typed;
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--view-against" => drop(typed.next()),
            word if word.starts_with("--view-against=") => {}
            _ => words.push(word),
        }
    }
    let others: Vec<String> = other.split_whitespace().map(String::from).collect();
    if let Some(word) = others.iter().find(|word| is_of_the_first(word)) {
        return Err(Failure::bad_input(format!(
            "--view-against \"{other}\": {word} is for the first run: say of the second its machine, its mechanisms and what it runs"
        )));
    }
    words.extend(others);
    let again = Again::try_parse_from(words).map_err(|said| {
        let said = said.to_string();
        let said = said.strip_prefix("error: ").unwrap_or(&said);
        let first = said.lines().next().unwrap_or_default();
        Failure::bad_input(format!("--view-against \"{other}\": {first}"))
    })?;
    Ok(Some(again.arguments))
}

/// A run that is to stand beneath the first, checked before that begins.
pub struct Second {
    arguments: Box<Arguments>,
    prepared: Prepared,
}

impl Second {
    /// As its arguments say, beneath a run with the `first` ones.
    pub fn new(arguments: Box<Arguments>, first: &ViewArguments) -> Result<Second, Failure> {
        let prepared = prepare(&arguments)?;
        first.check(&prepared.machine)?;
        Ok(Second {
            arguments,
            prepared,
        })
    }

    /// Makes the run, and records it as the `first` was recorded.
    fn record(&self, first: &ViewArguments, quiet: bool) -> Result<format::Run, Failure> {
        let Prepared {
            machine,
            job,
            lowering,
        } = &self.prepared;
        let recorder = first.recorder(machine).expect("a page is wanted");
        let progress = Box::new(Noting::new(progress::choose(quiet)));
        let mut options = device_options(&self.arguments, false, progress);
        options.observers = vec![recorder.listener()];
        options.print_limit = 0; // the first run has printed it
        let mut device = make_device(machine, options)?;
        let job = job.that_writes_nothing();
        let outcome = execute(&job, &mut device, lowering)?;
        drop(device.gpu.finish());
        if let Outcome::Wrong(_) = outcome {
            tell!("warning: --view-against: the result is wrong: {outcome}");
        }
        Ok(recorder.finish(&job.name(), &how_run(machine)))
    }
}

/// Writes the page about a run that has ended, and about the one to show beneath, which runs now. Says what is in it.
pub fn write(
    arguments: &Arguments,
    prepared: &Prepared,
    recorder: &Recorder,
    second: Option<&Second>,
    file: &Path,
) -> Result<String, Failure> {
    let mut runs = vec![recorder.finish(&prepared.job.name(), &how_run(&prepared.machine))];
    let recorded = second.map(|s| s.record(&arguments.view, arguments.quiet));
    // A second run that fails takes nothing from the first.
    let failed = match recorded.transpose() {
        Ok(run) => {
            runs.extend(run);
            Ok(written(file, &runs))
        }
        Err(failure) => Err(failure),
    };
    // Runs that differ in what is not named are told apart by what was typed.
    if let ([one, two], Some(other)) = (&mut runs[..], &arguments.view.view_against)
        && one.options == two.options
    {
        two.options = format!("{}, {other}", two.options);
    }
    if !arguments.quiet {
        for note in runs.iter().flat_map(|run| &run.notes) {
            tell!("note: {}: {note}", file.display());
        }
    }
    write_whole(file, page(runs).as_bytes()).map_err(|e| unwritable(file, &e))?;
    failed
}

/// What a page has, as its user is told.
fn written(file: &Path, runs: &[format::Run]) -> String {
    let first = &runs[0];
    let [from, to] = first.cycles;
    let (file, sm, whole) = (file.display(), first.sm, first.whole);
    format!("wrote {file}: SM {sm}, cycles {from} to {to} of {whole}; open it in a browser\n")
}

/// A run's machine and mechanisms.
fn how_run(machine: &Machine) -> String {
    how(machine, &machine.scheduler.name)
}
