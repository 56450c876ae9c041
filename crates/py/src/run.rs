//! A device for a run from Python, and what is reported of the run.

use crate::observed::{Listener, Wanted};
use crate::scheduler::Class;
use crate::watch::{Raised, Watch};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use warpsim_present::mangled::shown;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, Observers};
use warpsim_view::{Recorder, Window, how, page};
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::{DeviceError, Outcome};

/// Bytes that kernels may print, as on the command line.
const PRINT_LIMIT: u64 = 64 << 20;

/// How to run.
#[derive(Default)]
pub struct How {
    /// Without timing.
    pub functional: bool,
    /// Look for races; without timing, too.
    pub check_races: bool,
    /// Give up after so many cycles.
    pub max_cycles: Option<u64>,
    /// What to keep beside statistics.
    pub wanted: Wanted,
    /// Who is told how far it is.
    pub progress: Option<Py<PyAny>>,
    /// A scheduler in Python instead of the machine's.
    pub scheduler: Option<Class>,
    /// What went wrong in Python.
    pub raised: Raised,
}

/// A GPU with what listens to it.
pub struct Rig {
    /// The GPU.
    pub device: Simulated,
    listener: Listener,
    recorder: Option<Recorder>,
    printed: Printed,
}

impl Rig {
    /// A GPU as `machine` describes it.
    pub fn new(machine: &Machine, how: How) -> Result<Rig, DeviceError> {
        let functional = how.functional || how.check_races;
        let listener = Listener::new(how.wanted);
        let listens = !functional && (how.wanted.profile || how.wanted.timeline.is_some());
        let observer = listens.then(|| Box::new(listener.clone()) as Box<dyn Observer>);
        let shown = how.wanted.view.filter(|_| !functional);
        let recorder = shown.map(|sm| Recorder::new(machine, sm, Window::default(), page::BYTES));
        let recording = recorder.iter().map(Recorder::listener);
        let observer = Observers::of(observer.into_iter().chain(recording).collect());
        let printed = Printed::default();
        let options = Options {
            functional,
            max_cycles: how.max_cycles,
            progress: Box::new(Watch::new(how.progress, how.raised.clone())),
            observer,
            output: Box::new(printed.clone()),
            print_limit: PRINT_LIMIT,
            check_races: how.check_races,
            ..Options::default()
        };
        let mut device = Simulated::new(machine.clone(), options)?;
        if let Some(class) = &how.scheduler {
            let gpu = &mut device.gpu;
            gpu.replace_issue_policy(|domains| class.policy(domains, &how.raised));
        }
        Ok(Rig {
            device,
            listener,
            recorder,
            printed,
        })
    }

    /// Everything there is to say about the run, as the statistics file of the command line has it
    /// and more.
    pub fn report(&mut self, outcome: &Outcome, scheduler: Option<&str>) -> String {
        let gpu = &mut self.device.gpu;
        gpu.finish();
        let seconds = gpu.host_time().as_secs_f64();
        let result = match outcome {
            Outcome::Correct { .. } => "correct",
            Outcome::Wrong(_) => "wrong",
            Outcome::Unchecked => "unchecked",
        };
        let launches: Vec<Value> = gpu.reports().iter().map(|r| r.to_json()).collect();
        let machine = gpu.machine();
        let scheduler = scheduler.unwrap_or(&machine.scheduler.name);
        let (fetch, divergence) = (&machine.fetch.policy.name, &machine.divergence.name);
        let how = how(machine, scheduler);
        let view = self.recorder.as_ref();
        let mut kernels: Vec<String> = Vec::new();
        for kernel in gpu.reports().iter().map(|r| shown(&r.kernel)) {
            if !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        let title = kernels.join(", ");
        let view = view.map(|recorder| page::page(vec![recorder.finish(&title, &how)]));
        let report = json!({
            "warpsim": env!("CARGO_PKG_VERSION"),
            "machine": machine.name,
            "scheduler": scheduler,
            "fetch": fetch,
            "divergence": divergence,
            "result": result,
            "outcome": outcome.to_string(),
            "totals": gpu.totals().to_json(),
            "launches": launches,
            "seconds": seconds,
            "printed": self.printed.text(),
            "left_out": gpu.printed().left_out,
            "warnings": gpu.warnings(),
            "races": gpu.races(),
            "profile": self.listener.profile(),
            "timeline": self.listener.timeline(),
            "view": view,
        });
        report.to_string()
    }
}

/// Keeps what kernels print.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
