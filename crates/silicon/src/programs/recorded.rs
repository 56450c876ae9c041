//! Recorded programs, run here: does every machine compute what the GPU did?

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::program;
use super::record::{Entry, entry};
use super::run::{Target, simulate};

/// What is wrong with one program: a line for each place.
pub fn check(recorded: &Entry, targets: &[Target]) -> Vec<String> {
    let program = program(recorded.seed);
    let mut wrong = Vec::new();
    for target in targets {
        let what = match simulate(&program, target) {
            Ok(output) => match entry(&program, &output) {
                ours if ours == *recorded => continue,
                ours if ours.text != recorded.text => {
                    "the generator makes another program than when this was recorded".into()
                }
                _ => "differs from the GPU".into(),
            },
            Err(e) => e,
        };
        wrong.push(format!(
            "program {}, {}: {what}",
            recorded.seed, target.name
        ));
    }
    wrong
}

/// What is wrong with all of them, in their order.
pub fn check_all(entries: &[Entry], targets: &[Target], threads: usize) -> Vec<String> {
    check_while(entries, targets, threads, &|| true).1
}

/// The same for as many as are begun while `goes_on` says so, the first ones first. How many these are, and what is wrong.
pub fn check_while(
    entries: &[Entry],
    targets: &[Target],
    threads: usize,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> (usize, Vec<String>) {
    let next = AtomicUsize::new(0);
    let checked = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let lock = || wrong.lock().unwrap_or_else(|e| e.into_inner());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while goes_on() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(recorded) = entries.get(number) else {
                        return;
                    };
                    checked.fetch_add(1, Ordering::Relaxed);
                    let found = check(recorded, targets);
                    if !found.is_empty() {
                        lock().push((number, found));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap_or_else(|e| e.into_inner());
    wrong.sort_by_key(|(number, _)| *number);
    let lines = wrong.into_iter().flat_map(|(_, lines)| lines);
    (checked.into_inner(), lines.collect())
}
