//! Taking fingerprints: one run, or many on all cores.

use crate::counts::{self, Counts};
use crate::line::{Fingerprint, How, Run};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::time::Cycle;
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, find};
use warpsim_workloads::{Outcome, Session};

/// A launch that takes longer hangs.
const MOST_CYCLES: u64 = 2_000_000;

/// A hash of text.
#[derive(Clone, Default)]
struct Hash(Sha256);

impl Hash {
    /// Its first 16 hexadecimal digits.
    fn digits(self) -> String {
        let bytes = self.0.finalize();
        bytes[..8].iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("strings take everything");
            text
        })
    }
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// An observer that keeps a hash of what it hears.
#[derive(Clone, Default)]
struct Listener(Rc<RefCell<Hash>>);

impl Observer for Listener {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        let told = writeln!(self.0.borrow_mut(), "{cycle} {sm} {slot} {event:?}");
        told.expect("hashes take everything");
    }

    fn ended(&mut self, cycle: Cycle) {
        let told = writeln!(self.0.borrow_mut(), "{cycle} end");
        told.expect("hashes take everything");
    }
}

/// The machine of a run.
pub fn machine(run: &Run) -> Result<Machine, String> {
    let mut set = vec![
        format!("scheduler={}", run.issue),
        format!("fetch.policy={}", run.fetch),
        format!("divergence={}", run.divergence),
    ];
    set.extend(run.settings.iter().cloned());
    Machine::resolve(&run.machine, &set).map_err(|e| e.to_string())
}

/// Makes a run on so many threads. Its result must be right.
fn take(run: &Run, threads: usize) -> Result<(Fingerprint, Counts), String> {
    let listener = Listener::default();
    let options = Options {
        skip: run.how != How::Stepped,
        observer: match run.how {
            How::Observed => Some(Box::new(listener.clone())),
            _ => None,
        },
        threads,
        ..Options::default()
    };
    let device = make(run, options)?;
    let mut statistics = Hash::default();
    for report in statistics_of(&device) {
        writeln!(statistics, "{report}").map_err(|e| e.to_string())?;
    }
    let totals = device.gpu.totals();
    let fingerprint = Fingerprint {
        cycles: totals.cycles,
        statistics: statistics.digits(),
        events: (run.how == How::Observed).then(|| listener.0.take().digits()),
    };
    Ok((fingerprint, counts::counts(&totals.to_json())))
}

/// Makes a run. Its result must be right.
pub fn make(run: &Run, options: Options) -> Result<Simulated, String> {
    let options = Options {
        max_cycles: Some(MOST_CYCLES),
        ..options
    };
    let workload = find(&run.workload).map_err(|e| e.text)?;
    let parameters = Parameters::resolve(workload.info().parameters, run.size, &[]);
    let mut device = Simulated::new(machine(run)?, options).map_err(|e| e.text)?;
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters.map_err(|e| e.text)?, 1, &mut session);
    match outcome.map_err(|e| e.text)? {
        Outcome::Correct { .. } => {}
        other => return Err(other.to_string()),
    }
    Ok(device)
}

/// Every statistic of every launch of a run that depends on nothing but the cycles.
pub fn statistics_of(device: &Simulated) -> Vec<Value> {
    let reports = device.gpu.reports().iter();
    reports
        .map(|report| statistics_of_launch(report.to_json()))
        .collect()
}

fn statistics_of_launch(mut report: Value) -> Value {
    // A function of the counters and of the energies in the machine file, which may become
    // better known.
    if let Some(counted) = report["stats"].as_object_mut() {
        counted.remove("energy");
        // Shares are functions of the two tables of states. (That of barriers was there before.)
        counted.retain(|name, _| !name.ends_with("_share") || name.starts_with("barrier"));
        // Zero where the lanes were not watched.
        counted.retain(|name, table| !name.ends_with("_pipe") || table["pipeline_cycles"] != 0);
        // And where nothing was prefetched.
        counted.retain(|name, count| !name.contains("prefetch") || *count != 0);
    }
    report
}

/// Makes all runs, on all cores and each on so many threads; what came of them is in their order.
pub fn take_all(runs: &[&Run], threads: usize) -> Vec<Result<(Fingerprint, Counts), String>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Err("not run".to_string()); runs.len()]);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(at) else { break };
            let result = take(run, threads);
            results.lock().expect("no other thread failed")[at] = result;
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..(cores / threads).max(1) {
            scope.spawn(work);
        }
    });
    results.into_inner().expect("all threads have ended")
}
