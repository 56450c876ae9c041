//! Runs many programs and compares; differences come back shrunk.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::emit::ptx;
use super::program;
use super::record::{Entry, entry};
use super::run::{Target, difference, simulate};
use super::shrink::shrink;
use super::tree::{Program, size};

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Seed of the first program; the next has the next.
    pub seed: u64,
    /// Programs to run.
    pub programs: u64,
    /// No program is begun after this time.
    pub time: Option<Duration>,
    /// Host threads.
    pub threads: usize,
    /// Stop at this many failures.
    pub failures: usize,
    /// Programs tried to make one that fails smaller.
    pub shrinking: usize,
}

/// A program that computes different things in different places.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// Where.
    pub target: String,
    /// What.
    pub what: String,
    /// The shrunk program.
    pub program: Program,
}

impl Failure {
    /// The shrunk program with what is wrong with it.
    pub fn text(&self) -> String {
        let p = &self.program;
        let what = self.what.replace('\n', "\n//   ");
        format!(
            "// program {}, {}: {what}\n// {} statements left; {} blocks of {}x{} threads\n{}",
            self.seed,
            self.target,
            size(&p.body),
            p.blocks,
            p.threads[0],
            p.threads[1],
            ptx(p)
        )
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Programs run.
    pub programs: u64,
    /// Comparisons made.
    pub comparisons: u64,
    /// By seed.
    pub failures: Vec<Failure>,
    /// What the first place computed, by seed.
    pub entries: Vec<Entry>,
    /// Why the first place gave up, when it did.
    pub lost: Option<String>,
}

/// Why there is nothing to compare with.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// This program does not run there.
    Program(String),
    /// Nothing runs there any more.
    Everything(String),
}

/// What all places are compared with.
pub type Truth<'a> = &'a (dyn Fn(&Program) -> Result<Vec<u8>, Refusal> + Sync);

enum Verdict {
    Same,
    Differs(String),
    Fails(String),
}

fn judge(program: &Program, expected: &[u8], target: &Target) -> Verdict {
    match simulate(program, target) {
        Err(e) => Verdict::Fails(e),
        Ok(found) => match difference(expected, &found) {
            None => Verdict::Same,
            Some(text) => Verdict::Differs(text),
        },
    }
}

/// Compares one program everywhere; what fails one way goes on failing that way while it is
/// made small. Places behind the first that fails are left out: they mostly fail alike.
fn failure(
    program: &Program,
    expected: &Result<Vec<u8>, Refusal>,
    truth: Truth<'_>,
    targets: &[Target],
    tries: usize,
) -> Option<Failure> {
    let found = |target: String, what: String, fails: &mut dyn FnMut(&Program) -> bool| {
        Some(Failure {
            seed: program.seed,
            target,
            what,
            program: shrink(program, tries, fails),
        })
    };
    let expected = match expected {
        Ok(expected) => expected,
        Err(Refusal::Everything(_)) => return None,
        Err(Refusal::Program(what)) => {
            return found("the first place".into(), what.clone(), &mut |p| {
                matches!(truth(p), Err(Refusal::Program(_)))
            });
        }
    };
    for target in targets {
        let name = target.name.clone();
        let again = |p: &Program| truth(p).map(|expected| judge(p, &expected, target));
        match judge(program, expected, target) {
            Verdict::Same => {}
            Verdict::Differs(what) => {
                return found(name, what, &mut |p| {
                    matches!(again(p), Ok(Verdict::Differs(_)))
                });
            }
            Verdict::Fails(what) => {
                return found(name, what, &mut |p| {
                    matches!(again(p), Ok(Verdict::Fails(_)))
                });
            }
        }
    }
    None
}

/// Runs programs until the extent is reached. `progress` hears of each and may keep what is
/// known so far.
pub fn run(
    extent: &Extent,
    truth: Truth<'_>,
    targets: &[Target],
    progress: &(dyn Fn(&Outcome) + Sync),
) -> Outcome {
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let outcome = Mutex::new(Outcome::default());
    let lock = || outcome.lock().unwrap_or_else(|e| e.into_inner());
    let one = |program: &Program| {
        let expected = truth(program);
        let failure = failure(program, &expected, truth, targets, extent.shrinking);
        let mut outcome = lock();
        match &expected {
            Ok(output) => {
                outcome.comparisons += targets.len() as u64;
                outcome.entries.push(entry(program, output));
            }
            Err(Refusal::Everything(e)) => {
                let what = format!("program {}: {e}", program.seed);
                outcome.lost.get_or_insert(what);
            }
            Err(Refusal::Program(_)) => {}
        }
        outcome.programs += 1;
        outcome.failures.extend(failure);
        if outcome.failures.len() >= extent.failures || outcome.lost.is_some() {
            stop.store(true, Ordering::Relaxed);
        }
        progress(&outcome);
    };
    std::thread::scope(|scope| {
        for _ in 0..extent.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let late = extent.time.is_some_and(|limit| start.elapsed() >= limit);
                    if n >= extent.programs || late || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    one(&program(extent.seed.wrapping_add(n)));
                }
            });
        }
    });
    let mut outcome = outcome.into_inner().unwrap_or_else(|e| e.into_inner());
    outcome.failures.sort_by_key(|f| f.seed);
    outcome.entries.sort_by_key(|e| e.seed);
    outcome
}
