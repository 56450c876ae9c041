//! Runs many programs and compares; differences come back shrunk.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::judge::{Failure, Reference, Refusal, failure};
use super::program;
use super::record::{Entry, entry};
use super::run::Target;
use super::tree::Program;

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Seed of the first program; the next has the next.
    pub seed: u64,
    /// Programs to run.
    pub programs: u64,
    /// Which of them are run here.
    pub part: Part,
    /// No program is begun after this time, and none made smaller after half as much again.
    pub time: Option<Duration>,
    /// Host threads.
    pub threads: usize,
    /// Stop at this many failures that are not the compiler's.
    pub failures: usize,
    /// Programs tried to make one that fails smaller.
    pub shrinking: usize,
}

/// Every `of`th program from the one numbered `number` on, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Below `of`.
    pub number: u64,
    /// At least 1.
    pub of: u64,
}

impl Part {
    /// All of them.
    pub const WHOLE: Part = Part { number: 0, of: 1 };

    /// Cuts this part into `pieces` and takes one of them.
    pub fn piece(self, number: u64, pieces: u64) -> Part {
        Part {
            number: self.number + self.of * number,
            of: self.of * pieces,
        }
    }
}

impl std::str::FromStr for Part {
    type Err = String;

    /// `2/16` is the second of sixteen.
    fn from_str(text: &str) -> Result<Part, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            let (number, of) = (number.parse::<u64>().ok()?, of.parse::<u64>().ok()?);
            (1..=of).contains(&number).then(|| (number - 1, of))
        });
        let (number, of) = numbers.ok_or("a part is written 2/16: the second of sixteen")?;
        Ok(Part { number, of })
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number + 1, self.of)
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
    /// When the first place gave up: at which program, and why.
    pub lost: Option<(u64, String)>,
}

/// Runs programs until the extent is reached. `progress` hears of each and may keep what is
/// known so far.
pub fn run(
    extent: &Extent,
    reference: Reference<'_>,
    targets: &[Target],
    progress: &(dyn Fn(&Outcome) + Sync),
) -> Outcome {
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let outcome = Mutex::new(Outcome::default());
    let lock = || outcome.lock().unwrap_or_else(|e| e.into_inner());
    let too_late = || extent.time.is_some_and(|t| start.elapsed() >= t + t / 2);
    let one = |program: &Program| {
        let expected = (reference.truth)(program);
        let tries = extent.shrinking;
        let failure = failure(program, &expected, reference, targets, tries, &too_late);
        let mut outcome = lock();
        match &expected {
            Ok(output) => {
                outcome.comparisons += targets.len() as u64;
                outcome.entries.push(entry(program, output));
            }
            Err(Refusal::Everything(e)) => {
                outcome.lost.get_or_insert((program.seed, e.clone()));
            }
            Err(Refusal::Program(_)) => {}
        }
        outcome.programs += 1;
        outcome.failures.extend(failure);
        let unexplained = outcome.failures.iter().filter(|f| !f.compiler).count();
        if unexplained >= extent.failures || outcome.lost.is_some() {
            stop.store(true, Ordering::Relaxed);
        }
        progress(&outcome);
    };
    std::thread::scope(|scope| {
        for _ in 0..extent.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let n = (n.saturating_mul(extent.part.of)).saturating_add(extent.part.number);
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

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn parts_are_read_and_cut() {
        let part: Part = "2/3".parse().unwrap();
        assert_eq!(part, Part { number: 1, of: 3 });
        let programs = |p: Part| (p.number..24).step_by(p.of as usize).collect::<Vec<_>>();
        let pieces = [part.piece(0, 2), part.piece(1, 2)].map(programs);
        assert_eq!(pieces, [vec![1, 7, 13, 19], vec![4, 10, 16, 22]]);
        assert_eq!(part.piece(1, 2).to_string(), "5/6");
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b"] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }
}
