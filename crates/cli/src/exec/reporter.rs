//! What the user sees of a program: a line for each launch, and a report of each process that launched anything.

use super::Arguments;
use super::late::Late;
use super::outputs::of_process;
use crate::console::failure::{Failure, print_data, say, tell};
use crate::console::interrupt::Noting;
use crate::console::terminal::width;
use crate::run::outputs::{Listening, OutputArguments};
use crate::run::simulation::{Check, HostThreads};
use crate::setup::device::statistics;
use crate::summary::{Style, Summary, count};
use serde_json::json;
use std::collections::HashMap;
use warpsim_cuda::server::Watch;
use warpsim_cuda::session::{How, Launched, Printed, Said, Session};
use warpsim_present::folded;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::Observers;
use warpsim_workloads::Outcome;
use warpsim_workloads::simulated::Simulated;

/// Lines of launches; of more the report tells.
const LINES: u64 = 1000;

/// Tells the user.
pub struct Reporter<'a> {
    arguments: &'a Arguments,
    machine: &'a Machine,
    what: String,
    progress: Late,
    listening: HashMap<u32, (OutputArguments, Listening)>,
    lines: u64,
    /// Launches of all processes.
    pub launches: u64,
    /// What could not be written.
    pub failure: Option<Failure>,
}

impl Reporter<'_> {
    /// For a run of `what` on a machine.
    pub fn new<'a>(arguments: &'a Arguments, machine: &'a Machine, what: String) -> Reporter<'a> {
        Reporter {
            arguments,
            machine,
            what,
            progress: Late::default(),
            listening: HashMap::new(),
            lines: 0,
            launches: 0,
            failure: None,
        }
    }

    fn line(&mut self, launched: &Launched) {
        self.lines += 1;
        if self.arguments.quiet || self.lines > LINES {
            if self.lines == LINES + 1 && !self.arguments.quiet {
                tell!("further launches are not listed one by one");
            }
            return;
        }
        let Launched {
            number,
            kernel,
            grid,
            block,
            how,
            instructions,
        } = launched;
        let how = match how {
            How::Timed { cycles, ipc } => format!("{} cycles, IPC {ipc:.2}", count(*cycles)),
            How::Functional => format!("functional, {} warp instructions", count(*instructions)),
            How::Like { number, cycles } => {
                format!("counted as launch {number}, {} cycles", count(*cycles))
            }
        };
        tell!(
            "launch {number}: {kernel} <<<{}, {}>>> {how}",
            dimensions(*grid),
            dimensions(*block)
        );
    }

    /// Writes and shows what there is of a process.
    fn report(&mut self, number: u32, session: &mut Session) -> Result<(), Failure> {
        let Some((outputs, listening)) = self.listening.remove(&number) else {
            return Ok(());
        };
        let observer = session.device.gpu.finish();
        if session.launches == 0 {
            return Ok(());
        }
        let gpu = &session.device.gpu;
        for race in gpu.races() {
            tell!("race: {race}");
        }
        for pair in gpu.steps() {
            tell!("in step: {pair}");
        }
        let left_out = gpu.printed().left_out;
        if left_out > 0 {
            let limit = self.arguments.simulation.printf_limit;
            tell!("note: kernels printed {left_out} bytes more than the {limit} of --printf-limit");
        }
        if let Some(mut observer) = observer {
            let note = observer
                .complete()
                .map_err(|e| Failure::bad_input(e.to_string()))?;
            if let Some(note) = note {
                tell!("note: {note}");
            }
        }
        let outcome = Outcome::Unchecked;
        let stats = || {
            let mut all = statistics(&session.device, &self.what, "unchecked");
            all["exec"] = json!({
                "launches": session.launches,
                "untimed": session.untimed,
                "sampled": session.sampled,
            });
            format!("{all:#}\n")
        };
        let summary = Summary {
            what: self.what.clone(),
            machine: gpu.machine(),
            functional: self.arguments.simulation.untimed(),
            launches: gpu.reports(),
            totals: gpu.totals(),
            seconds: gpu.host_time().as_secs_f64(),
            outcome: &outcome,
            style: Style::Plain,
        };
        outputs.write(&listening, &summary, stats)?;
        if outputs.statistics_shown() {
            return print_data(&stats());
        }
        if self.arguments.quiet {
            return Ok(());
        }
        let text = match self.arguments.brief {
            true => summary.brief(),
            false => summary.text(),
        };
        let text = width().map_or(text.clone(), |width| folded(&text, width));
        say(&format!("\n{text}"));
        if session.untimed > 0 {
            tell!(
                "{:<18}{:>14}   launches besides, which no count above is of",
                "without timing",
                count(session.untimed)
            );
        }
        if session.sampled > 0 {
            let all = count(session.launches - session.untimed);
            tell!(
                "{:<18}{:>14}   of {all} launches count as another that was timed (--sample)",
                "sampled",
                count(session.sampled)
            );
        }
        outputs.show(&listening)?;
        if let Some(page) = &outputs.report {
            tell!("wrote {}: open it in a browser", page.display());
        }
        Ok(())
    }
}

impl Watch for Reporter<'_> {
    fn begin(&mut self, number: u32, printed: Printed) -> Result<Simulated, String> {
        let outputs = of_process(&self.arguments.outputs, number);
        let mut listening = outputs
            .listen(self.machine, &self.what)
            .map_err(|f| f.text)?;
        let simulation = &self.arguments.simulation;
        let threads = HostThreads::of(simulation.threads);
        let options = Options {
            functional: simulation.untimed(),
            skip: !simulation.no_skip,
            max_cycles: simulation.max_cycles,
            progress: match self.arguments.quiet {
                true => Box::new(Noting::new(Box::new(warpsim_sim::progress::Silent))),
                false => Box::new(Noting::new(Box::new(self.progress.clone()))),
            },
            observer: Observers::of(std::mem::take(&mut listening.observers)),
            output: Box::new(printed),
            print_limit: simulation.printf_limit,
            heap: simulation.heap,
            check_races: simulation.checks(Check::Races),
            check_steps: simulation.checks(Check::Steps),
            reference: simulation.reference,
            threads: threads.count,
        };
        let device = Simulated::new(self.machine.clone(), options).map_err(|e| e.text)?;
        self.listening.insert(number, (outputs, listening));
        Ok(device)
    }

    fn said(&mut self, said: Said) {
        self.progress.clear();
        match said {
            Said::Launched(launched) => self.line(&launched),
            Said::Note(text) => tell!("{text}"),
        }
    }

    fn end(&mut self, number: u32, mut session: Session) {
        self.launches += session.launches;
        if let Err(failure) = self.report(number, &mut session) {
            self.failure.get_or_insert(failure);
        }
        // As with `run`: the process ends soon, and the host has all of its memory back at once.
        std::mem::forget(session);
    }
}

fn dimensions(size: [u32; 3]) -> String {
    match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}
