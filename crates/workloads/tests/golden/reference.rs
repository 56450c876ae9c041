//! The reference SM is a second opinion: on every run that it supports, its statistics are those of the SM that runs by
//! default.

use crate::line::{How, Line, Run};
use crate::take::{machine, make, statistics_of};
use crate::{recorded, runs};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsim_sim::gpu::Options;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::suite::Size;

/// So many runs of `fingerprints.txt` it supports: fewer mean that it supports less than it did.
const LEAST_SUPPORTED: usize = 360;

/// Statistics of a run that are listed where they differ.
const LISTED: usize = 10;

/// Only runs whose lines contain this are made, for trying one again and again.
const ONLY: &str = "WARPSIM_REFERENCE_ONLY";

/// One of so many runs is made in the long test.
const EVERY: &str = "WARPSIM_REFERENCE_EVERY";

/// Makes a run on both; says how they differ, if they do.
fn compare(run: &Run) -> Result<(), String> {
    let on = |reference| {
        let options = Options {
            reference,
            ..Options::default()
        };
        make(run, options).map(|device| statistics_of(&device))
    };
    let reference = on(true).map_err(|text| format!("on the reference SM: {text}"))?;
    let default = on(false)?;
    let mut differ = Vec::new();
    if reference.len() != default.len() {
        differ.push(format!(
            "{} launches, not {}",
            reference.len(),
            default.len()
        ));
    }
    for (number, (a, b)) in reference.iter().zip(&default).enumerate() {
        differences(&format!("launch {number}"), a, b, &mut differ);
    }
    let more = differ.len().saturating_sub(LISTED);
    differ.truncate(LISTED);
    match differ.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n  and {more} more", differ.join("\n  "))),
    }
}

/// Lists where two statistics differ.
fn differences(name: &str, reference: &Value, default: &Value, list: &mut Vec<String>) {
    if let (Some(a), Some(b)) = (reference.as_object(), default.as_object()) {
        let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
        names.sort();
        names.dedup();
        for key in names {
            let of = |object: &serde_json::Map<String, Value>| {
                object.get(key).cloned().unwrap_or_default()
            };
            differences(&format!("{name}, {key}"), &of(a), &of(b), list);
        }
    } else if reference != default {
        list.push(format!(
            "{name}: {reference} on the reference SM, {default} on the default one"
        ));
    }
}

/// The runs whose machines the reference SM supports, of those that are small and made plainly.
fn supported(lines: &[Line]) -> Vec<&Run> {
    let only = std::env::var(ONLY).ok();
    let supports = |run: &&Run| {
        let named = only
            .as_ref()
            .is_none_or(|only| run.to_string().contains(only));
        let options = Options {
            reference: true,
            ..Options::default()
        };
        let small = run.how == How::Plain && run.size == Size::Tiny;
        small && named && Simulated::new(machine(run).expect("a machine"), options).is_ok()
    };
    runs(lines).into_iter().filter(supports).collect()
}

/// Compares one run of `every`.
fn compare_all(every: usize) {
    let lines = recorded();
    let runs: Vec<&Run> = supported(&lines).into_iter().step_by(every).collect();
    let (next, different) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(text) = compare(run) {
                println!("{run}\n  {text}");
                let mut different = different.lock().expect("no other thread failed");
                different.push(format!("{run}\n  {text}"));
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let different = different.into_inner().expect("all threads have ended");
    assert!(
        different.is_empty(),
        "{} of {} runs differ:\n{}",
        different.len(),
        runs.len(),
        different.join("\n")
    );
}

#[test]
fn the_reference_sm_counts_the_same_on_some_runs() {
    compare_all(16);
}

/// All of them take a quarter of an hour: `WARPSIM_REFERENCE_EVERY=1`.
#[test]
#[ignore = "long: .ci/run"]
fn the_reference_sm_counts_the_same() {
    let every = std::env::var(EVERY).ok();
    compare_all(every.and_then(|every| every.parse().ok()).unwrap_or(7));
}

#[test]
fn the_reference_sm_supports_most_machines() {
    let lines = recorded();
    let supported = supported(&lines).len();
    assert!(
        supported >= LEAST_SUPPORTED,
        "the reference SM supports {supported} runs, and did {LEAST_SUPPORTED}"
    );
}
