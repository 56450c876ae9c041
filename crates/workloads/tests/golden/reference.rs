//! The reference SM is a second opinion: on every run that it supports, its statistics are those of the SM that runs by
//! default.

use crate::line::{How, Run};
use crate::take::{make, statistics_of};
use crate::{recorded, runs};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsim_sim::gpu::Options;
use warpsim_workloads::suite::Size;

/// So many runs of `fingerprints.txt` are compared: fewer mean that the reference SM supports less than it did.
const LEAST_COMPARED: usize = 1;

/// Statistics of a run that are listed where they differ.
const LISTED: usize = 10;

/// Only runs whose lines contain this are made, for trying one again and again.
const ONLY: &str = "WARPSIM_REFERENCE_ONLY";

/// What came of a comparison.
enum Compared {
    Equal,
    /// The reference SM does not support the machine.
    Refused(String),
    Different(String),
}

fn compare(run: &Run) -> Compared {
    let on = |reference| {
        let options = Options {
            reference,
            ..Options::default()
        };
        make(run, options).map(|device| statistics_of(&device))
    };
    match (on(true), on(false)) {
        (Err(text), _) if text.contains("does not support") => Compared::Refused(text),
        (Ok(reference), Ok(default)) => {
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
            match differ.is_empty() {
                true => Compared::Equal,
                false => {
                    let more = differ.len().saturating_sub(LISTED);
                    differ.truncate(LISTED);
                    Compared::Different(format!("{}\n  and {more} more", differ.join("\n  ")))
                }
            }
        }
        (Err(text), _) => Compared::Different(format!("on the reference SM: {text}")),
        (_, Err(text)) => Compared::Different(format!("on the default SM: {text}")),
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

#[test]
fn the_reference_sm_counts_the_same() {
    let only = std::env::var(ONLY).ok();
    let lines = recorded();
    let wanted = |run: &&Run| {
        let named = only
            .as_ref()
            .is_none_or(|only| run.to_string().contains(only));
        run.how == How::Plain && run.size == Size::Tiny && named
    };
    let runs: Vec<&Run> = runs(&lines).into_iter().filter(wanted).collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let compared = compare(run);
            results
                .lock()
                .expect("no other thread failed")
                .push((run, compared));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let (mut equal, mut different) = (0, Vec::new());
    for (run, compared) in results.into_inner().expect("all threads have ended") {
        match compared {
            Compared::Equal => equal += 1,
            Compared::Refused(text) => println!("{run}: {text}"),
            Compared::Different(text) => different.push(format!("{run}\n  {text}")),
        }
    }
    println!("{equal} of {} runs are equal", runs.len());
    assert!(
        different.is_empty(),
        "{} of {} runs differ:\n{}",
        different.len(),
        runs.len(),
        different.join("\n")
    );
    assert!(
        only.is_some() || equal >= LEAST_COMPARED,
        "only {equal} runs are compared, of {LEAST_COMPARED} at least"
    );
}
