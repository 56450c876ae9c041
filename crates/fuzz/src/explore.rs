//! Running a target on inputs made from what is there.

use crate::Target;
use crate::mutate::{Random, mutate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What came of it.
pub struct Explored {
    /// Inputs run.
    pub executions: u64,
    /// Those that panicked.
    pub failures: Vec<Vec<u8>>,
    /// The one that took longest, and how long.
    pub slowest: (Duration, Vec<u8>),
}

/// Most failures that are collected before it ends.
const MOST_FAILURES: usize = 5;

/// Runs a target for so long, or so often, whichever is over first.
pub fn explore(target: &Target, seed: u64, most: u64, time: Duration) -> Explored {
    let mut inputs: Vec<Vec<u8>> = (target.seeds)();
    inputs.extend(target.corpus().into_iter().map(|(_, bytes)| bytes));
    let mut random = Random::new(seed);
    let began = Instant::now();
    let mut explored = Explored {
        executions: 0,
        failures: Vec::new(),
        slowest: (Duration::ZERO, Vec::new()),
    };
    while explored.executions < most
        && began.elapsed() < time
        && explored.failures.len() < MOST_FAILURES
    {
        let (input, other) = (random.below(inputs.len()), random.below(inputs.len()));
        let bytes = mutate(&mut random, &inputs[input], &inputs[other]);
        let start = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let took = start.elapsed();
        explored.executions += 1;
        if ended.is_err() {
            explored.failures.push(bytes);
        } else if took > explored.slowest.0 {
            explored.slowest = (took, bytes);
        }
    }
    explored
}
