//! What a run writes besides its summary, and the observers that collect it.

use super::files::unwritable;
use crate::console::failure::{Failure, print};
use crate::pictures::gangs::Gangs;
use crate::pictures::phases::{BlockList, Phases};
use crate::pictures::watts::Watts;
use crate::profile::{self, Collected, Profile};
use crate::report::{self, Run, Series};
use crate::summary::Summary;
use crate::trace::{Cycles, Sms, Trace, Window};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use warpsim_sim::config::Machine;
use warpsim_sim::observe::Observer;
use warpsim_study::timeline::Recording;
use warpsim_workloads::files::write_whole;

/// Files to write, and what goes into them.
#[derive(clap::Args, Clone)]
pub struct OutputArguments {
    /// Write every statistic to this file, as JSON; to standard output instead of the summary if it is -.
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Short for --stats -.
    #[arg(long, conflicts_with = "stats")]
    pub json: bool,
    /// Show what each source line and instruction cost, hottest first; or write all of it to a file,
    /// as a page if its name ends in .html, as data if in .json.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "functional"
    )]
    pub profile: Option<Option<PathBuf>>,
    /// Write a page about the run to this file (.html): the roofline, the machine and its warps over
    /// time, the profile.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    pub report: Option<PathBuf>,
    /// Write a timeline for Perfetto or chrome://tracing to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    pub trace: Option<PathBuf>,
    /// Only these cycles in the timeline [default: all].
    #[arg(long, value_name = "FROM..TO", requires = "trace")]
    pub trace_cycles: Option<Cycles>,
    /// Only these SMs in the timeline, as in 0,1 or 0-3 [default: all].
    #[arg(long, value_name = "LIST", requires = "trace")]
    pub trace_sms: Option<Sms>,
    /// At most this many events in the timeline.
    #[arg(
        long,
        value_name = "N",
        requires = "trace",
        default_value_t = 2_000_000
    )]
    pub trace_events: u64,
    /// Write when each warp of some blocks came to its barriers to this file: as data if its name
    /// ends in .json, as a picture if in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    pub phases: Option<PathBuf>,
    /// The SM whose first six blocks are shown [default: 0].
    #[arg(
        long,
        value_name = "SM",
        requires = "phases",
        conflicts_with = "phases_blocks"
    )]
    pub phases_sm: Option<u16>,
    /// Show these blocks of the grid instead, as in 0,1 or 0-5.
    #[arg(long, value_name = "LIST", requires = "phases")]
    pub phases_blocks: Option<BlockList>,
    /// Of this launch, numbered from 0.
    #[arg(long, value_name = "N", requires = "phases", default_value_t = 0)]
    pub phases_launch: u64,
    /// Write how many warps are in gangs of each size over time to this file: as data if its name
    /// ends in .csv, as a picture if in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    pub gangs: Option<PathBuf>,
    /// Write the power over time to this file: as data if its name ends in .json, as a picture if
    /// in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "functional")]
    pub watts: Option<PathBuf>,
    /// Cycles between two points of it.
    #[arg(
        long,
        value_name = "CYCLES",
        requires = "watts",
        default_value_t = 200,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub watts_every: u64,
}

/// What is collected during a run and written after it.
#[derive(Default)]
pub struct Listening {
    /// Who listens.
    pub observers: Vec<Box<dyn Observer>>,
    profile: Option<Rc<RefCell<Collected>>>,
    series: Option<Rc<RefCell<Series>>>,
    timeline: Option<Recording>,
}

impl OutputArguments {
    /// Whether statistics take the place of the summary.
    pub fn statistics_shown(&self) -> bool {
        self.json || self.stats.as_deref().is_some_and(is_standard)
    }

    fn stats_file(&self) -> Option<&PathBuf> {
        self.stats.as_ref().filter(|file| !is_standard(file))
    }

    fn profile_file(&self) -> Option<&PathBuf> {
        self.profile.as_ref()?.as_ref()
    }

    /// Every file that is written, its name checked as far as it says what goes into it.
    pub fn files(&self) -> Result<Vec<&PathBuf>, Failure> {
        if let Some(file) = self.profile_file() {
            profile::check(file)?;
        }
        if let Some(file) = &self.report {
            report::check(file)?;
        }
        let files = [
            self.stats_file(),
            self.profile_file(),
            self.report.as_ref(),
            self.trace.as_ref(),
            self.phases.as_ref(),
            self.gangs.as_ref(),
            self.watts.as_ref(),
        ];
        Ok(files.into_iter().flatten().collect())
    }

    /// Who listens to a run of `what`.
    pub fn listen(&self, machine: &Machine, what: &str) -> Result<Listening, Failure> {
        let mut listening = Listening::default();
        let observers = &mut listening.observers;
        if let Some(path) = &self.trace {
            observers.push(Box::new(self.trace(path, machine)?));
        }
        if let Some(path) = &self.phases {
            let blocks = self.phases_blocks.as_ref();
            let sm = self.phases_sm.unwrap_or(0);
            let phases = Phases::new(path, machine, self.phases_launch, sm, blocks);
            observers.push(Box::new(phases.map_err(Failure::bad_input)?));
        }
        if let Some(path) = &self.gangs {
            let gangs = Gangs::new(path, machine, what);
            observers.push(Box::new(gangs.map_err(Failure::bad_input)?));
        }
        if let Some(path) = &self.watts {
            let watts = Watts::new(path, machine, self.watts_every);
            observers.push(Box::new(watts.map_err(Failure::bad_input)?));
        }
        if self.profile.is_some() || self.report.is_some() {
            let (profile, collected) = Profile::new();
            observers.push(Box::new(profile));
            listening.profile = Some(collected);
        }
        if self.report.is_some() {
            let (recorder, series) = report::Recorder::new();
            observers.push(Box::new(recorder));
            listening.series = Some(series);
            let recording = report::timeline();
            observers.push(recording.listener());
            listening.timeline = Some(recording);
        }
        Ok(listening)
    }

    fn trace(&self, path: &Path, machine: &Machine) -> Result<Trace, Failure> {
        let window = Window {
            cycles: self.trace_cycles.unwrap_or_default(),
            sms: self.trace_sms.clone().unwrap_or_default(),
            events: self.trace_events,
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

    /// Writes the files that a finished run leaves: its statistics as text, and what was collected.
    pub fn write(
        &self,
        listening: &Listening,
        summary: &Summary,
        stats: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if let Some(path) = self.stats_file() {
            write_whole(path, stats().as_bytes()).map_err(|e| unwritable(path, &e))?;
        }
        let Some(collected) = &listening.profile else {
            return Ok(());
        };
        if let Some(file) = self.profile_file() {
            profile::write(&collected.borrow(), &summary.what, file)?;
        }
        let recorded = listening.series.as_ref().zip(listening.timeline.as_ref());
        if let (Some((series, recording)), Some(file)) = (recorded, &self.report) {
            let run = Run {
                summary,
                collected: &collected.borrow(),
                series: &series.borrow(),
                timeline: &recording.finish(),
            };
            report::write(&run, file)?;
        }
        Ok(())
    }

    /// Shows what `--profile` shows in the terminal.
    pub fn show(&self, listening: &Listening) -> Result<(), Failure> {
        match (&listening.profile, &self.profile) {
            (Some(collected), Some(None)) => Ok(print(&profile::table(&collected.borrow()))?),
            _ => Ok(()),
        }
    }
}

/// Whether a file's name stands for standard output.
fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}
