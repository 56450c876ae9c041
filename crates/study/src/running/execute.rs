//! One run: a fresh GPU, the workload, its statistics.

use crate::plan::Run;
use crate::results::key::SCHEMA;
use crate::results::record::{Record, Status, stored_text};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::Instant;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::Observer;
use warpsim_sim::progress::{Progress, Silent, Snapshot};
use warpsim_sim::stats::{LaunchReport, Totals};
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::{Category, DeviceError, Outcome, Session};

/// Runs on so many threads and keeps what came of it, whatever happens. What kernels print goes
/// nowhere.
pub fn execute(run: &Run, threads: usize) -> Record {
    execute_watched(run, threads, Box::new(Silent))
}

/// Runs by itself, for a caller that spreads the runs of a plan: the text to be stored, or nothing
/// where `progress` has stopped it.
pub fn execute_alone(run: &Run, progress: Box<dyn Progress>) -> Option<String> {
    keep_workers_panics();
    let stopped = Arc::new(AtomicBool::new(false));
    let progress = Box::new(Stopping(progress, stopped.clone()));
    let thread = std::thread::Builder::new().name(WORKER.into());
    let record = std::thread::scope(|scope| {
        let ran = thread.spawn_scoped(scope, || execute_watched(run, 1, progress));
        ran.ok()?.join().ok()
    })?;
    let whole = !stopped.load(Ordering::Relaxed);
    whole.then(|| stored_text(&record).ok()).flatten()
}

/// Remembers that a run was stopped: what came of it is no result.
struct Stopping(Box<dyn Progress>, Arc<AtomicBool>);

impl Progress for Stopping {
    fn kernel(&mut self, name: &str, blocks: u64) {
        self.0.kernel(name, blocks);
    }
    fn update(&mut self, snapshot: Snapshot) {
        self.0.update(snapshot);
    }
    fn stops(&mut self) -> bool {
        let stops = self.0.stops();
        self.1.fetch_or(stops, Ordering::Relaxed);
        stops
    }
    fn finish(&mut self, snapshot: Snapshot) {
        self.0.finish(snapshot);
    }
}

fn execute_watched(run: &Run, threads: usize, progress: Box<dyn Progress>) -> Record {
    let start = Instant::now();
    let options = Options {
        max_cycles: run.max_cycles,
        threads,
        progress,
        ..Options::default()
    };
    let result = guarded(|| simulate(run, options));
    Record {
        schema: SCHEMA,
        key: run.key.as_str().to_string(),
        status: result.status,
        reason: result.reason,
        totals: result.totals,
        kernels: result.kernels,
        launches: result.launches,
        seconds: start.elapsed().as_secs_f64(),
        inputs: run.inputs.clone(),
    }
}

/// Runs with an observer listening, no further than `limit` cycles per launch. The text says why the
/// run ended early; that it ran into the limit is not told apart, the listener knows.
pub fn listen(run: &Run, observer: Box<dyn Observer>, limit: u64) -> Result<(), String> {
    let limit = run.max_cycles.map_or(limit, |m| m.min(limit));
    let options = Options {
        max_cycles: Some(limit),
        observer: Some(observer),
        ..Options::default()
    };
    let result = guarded(|| simulate(run, options));
    if result.status.good() || result.status == Status::Wrong {
        Ok(())
    } else {
        Err(result.reason)
    }
}

struct Finished {
    status: Status,
    reason: String,
    totals: Value,
    kernels: Value,
    launches: Value,
}

impl Finished {
    fn failed(status: Status, reason: String) -> Finished {
        Finished {
            status,
            reason,
            totals: Value::Null,
            kernels: Value::Null,
            launches: Value::Null,
        }
    }
}

/// What a run came to, even if the simulator panics: its state is thrown away with the run.
fn guarded(run: impl FnOnce() -> Finished) -> Finished {
    let caught = catch_unwind(AssertUnwindSafe(run));
    caught.unwrap_or_else(|_| Finished::failed(Status::Crashed, panic_text()))
}

fn simulate(run: &Run, options: Options) -> Finished {
    let mut device = match Simulated::new((*run.machine).clone(), options) {
        Ok(device) => device,
        Err(e) => return failed(e),
    };
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = match run.program.run(&run.parameters, run.seed, &mut session) {
        Ok(outcome) => outcome,
        Err(e) => return failed(e),
    };
    let (status, reason) = match outcome {
        Outcome::Correct { .. } => (Status::Correct, String::new()),
        Outcome::Unchecked => (Status::Unchecked, String::new()),
        Outcome::Wrong(mismatches) => {
            let lines: Vec<String> = mismatches.iter().map(|m| m.to_string()).collect();
            (Status::Wrong, lines.join("\n"))
        }
    };
    let launches = device.gpu.reports().iter().map(launch).collect();
    Finished {
        status,
        reason,
        totals: device.gpu.totals().to_json(),
        kernels: by_kernel(device.gpu.reports()),
        launches,
    }
}

fn failed(error: DeviceError) -> Finished {
    let status = match error.category {
        Category::BadInput => Status::BadInput,
        Category::ProgramFailed => Status::ProgramFailed,
    };
    Finished::failed(status, error.text)
}

/// The totals of each kernel's launches; nothing where one kernel has them all.
fn by_kernel(reports: &[LaunchReport]) -> Value {
    let mut kernels: BTreeMap<&str, Totals> = BTreeMap::new();
    for report in reports {
        let known = kernels.get_mut(report.kernel.as_str());
        match known {
            Some(totals) => totals.add(&report.totals),
            None => drop(kernels.insert(&report.kernel, report.totals.clone())),
        }
    }
    if kernels.len() < 2 {
        return Value::Null;
    }
    let kernels = kernels.into_iter();
    let table = kernels.map(|(name, totals)| (name.to_string(), totals.to_json()));
    Value::Object(table.collect())
}

fn launch(report: &LaunchReport) -> Value {
    json!({
        "kernel": report.kernel,
        "grid": report.grid,
        "block": report.block,
        "registers": report.registers,
        "shared_bytes": report.shared_bytes,
        "blocks_per_sm": report.blocks_per_sm,
        "limited_by": report.limited_by,
        "virtual_blocks": report.virtual_blocks,
        "cycles": report.totals.cycles,
        "active_cycles": report.totals.sm.counters.active_cycles,
    })
}

thread_local! {
    /// What this thread's last panic said and where.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn panic_text() -> String {
    let text = PANIC.with_borrow_mut(Option::take);
    let text = text.unwrap_or_else(|| "a panic without a message".into());
    format!("the simulator failed: {text}")
}

/// The name of the threads that run.
pub const WORKER: &str = "warpsim-study-worker";

/// From here on a panic of a thread of that name is a result.
pub fn keep_workers_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| keep_panics(|| std::thread::current().name() == Some(WORKER)));
}

/// From here on a panic of a worker becomes the reason of its row instead of text between the
/// lines of the progress display. Other threads' panics are shown as ever.
fn keep_panics(worker: impl Fn() -> bool + Send + Sync + 'static) {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if worker() {
            // One line: place and message.
            PANIC.set(Some(info.to_string().replace('\n', " ")));
        } else {
            shown(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_result_with_place_and_message() {
        const NAME: &str = "a-thread-that-panics";
        keep_panics(|| std::thread::current().name() == Some(NAME));
        let thread = std::thread::Builder::new().name(NAME.into());
        let result = thread
            .spawn(|| guarded(|| panic!("no such\nwarp")))
            .expect("a thread")
            .join()
            .expect("it ends well");
        assert_eq!(result.status, Status::Crashed);
        let (place, text) = (file!(), "no such warp");
        assert!(
            result.reason.starts_with("the simulator failed: "),
            "{}",
            result.reason
        );
        assert!(
            result.reason.contains(place) && result.reason.ends_with(text),
            "{}",
            result.reason
        );
    }
}
