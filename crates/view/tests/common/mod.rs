//! Recorded runs, and reading them as the page does.

pub mod chromium;
pub mod visit;
pub mod witness;

use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, Observers};
use warpsim_sim::stats::Totals;
use warpsim_view::format::{Run, Track};
use warpsim_view::{Recorder, Window};
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, find};
use warpsim_workloads::{Outcome, Session};
use witness::Witness;

/// Room enough for any of the tests.
pub const ROOM: usize = 1 << 30;

/// A machine with one SM.
pub fn machine(preset: &str, settings: &[&str]) -> Machine {
    let set: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let set: Vec<String> = [vec!["gpu.sms=1".to_string()], set].concat();
    Machine::resolve(preset, &set).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a workload at its smallest and records its only SM; also what was counted.
pub fn record(workload: &str, machine: &Machine, window: Window, bytes: usize) -> (Run, Totals) {
    let recorder = Recorder::new(machine, 0, window, bytes);
    let totals = run(workload, machine, recorder.listener());
    (recorder.finish("a title", "how"), totals)
}

/// The same, with a witness of all cycles.
pub fn record_with_witness(workload: &str, machine: &Machine) -> (Run, Witness) {
    let recorder = Recorder::new(machine, 0, Window::default(), ROOM);
    let witness = Witness::default();
    let both = Observers::of(vec![recorder.listener(), Box::new(witness.clone())]);
    run(workload, machine, both.expect("two observers"));
    (recorder.finish("a title", "how"), witness)
}

fn run(workload: &str, machine: &Machine, observer: Box<dyn Observer>) -> Totals {
    let options = Options {
        observer: Some(observer),
        ..Options::default()
    };
    let mut device = Simulated::new(machine.clone(), options).expect("a device");
    let workload = find(workload).expect("a workload");
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = workload.run(&parameters.expect("parameters"), 1, &mut session);
    assert!(
        matches!(outcome, Ok(Outcome::Correct { .. })),
        "{outcome:?}"
    );
    drop(device.gpu.finish());
    device.gpu.totals().clone()
}

/// The records of a list, each with its cycle.
pub fn records(track: &Track, list: &[i64], width: usize) -> Vec<(u64, Vec<i64>)> {
    let mut at = track.from;
    let records = list.chunks(width);
    records
        .map(|record| {
            at += record[0] as u64;
            (at, record[1..].to_vec())
        })
        .collect()
}

/// The paths of a track: cycle, and for each PC, end, lanes and kind.
pub fn paths(track: &Track) -> Vec<(u64, Vec<[i64; 4]>)> {
    let (mut at, mut rest, mut found) = (track.from, &track.paths[..], Vec::new());
    while let [delta, count, more @ ..] = rest {
        at += *delta as u64;
        let (these, behind) = more.split_at(*count as usize * 4);
        let these = these.chunks(4).map(|p| p.try_into().expect("four"));
        found.push((at, these.collect()));
        rest = behind;
    }
    found
}

/// The cycles that a track spends in each state, of so many.
pub fn states(track: &Track, count: usize) -> Vec<u64> {
    let mut cycles = vec![0; count];
    let changes = records(track, &track.states, 2);
    for (i, (at, code)) in changes.iter().enumerate() {
        let until = changes.get(i + 1).map_or(track.to, |next| next.0);
        cycles[code[0] as usize] += until - at;
    }
    cycles
}
