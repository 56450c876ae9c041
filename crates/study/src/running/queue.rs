//! What is left of a study: which run comes next, and how long all of it will take.
//!
//! The estimate goes by runs, not by their number: a run takes as long as the runs of its kind took that are
//! done, times what its configuration took over others. While a kind is left of which nothing is done there
//! is no estimate.

use crate::plan::Run;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs that alike take about as long as each other: the same workload at the same size.
type Kind = (usize, Vec<u64>);

fn kind(run: &Run) -> Kind {
    (run.subject, run.parameters.iter().map(|(_, v)| v).collect())
}

/// A run that is over.
struct Done {
    kind: Kind,
    configuration: String,
    seconds: f64,
}

/// What is known about the time of runs.
#[derive(Default)]
struct Known {
    done: Vec<Done>,
    /// Seconds and number of the runs of a kind.
    kinds: HashMap<Kind, (f64, usize)>,
}

/// A run that has passed the time it was expected to take goes on for this share of it, at a guess.
const OVERDUE: f64 = 0.25;

impl Known {
    fn learn(&mut self, run: &Run, seconds: f64) {
        let known = self.kinds.entry(kind(run)).or_default();
        *known = (known.0 + seconds, known.1 + 1);
        self.done.push(Done {
            kind: kind(run),
            configuration: run.configuration.clone(),
            seconds,
        });
    }

    /// Seconds that a run of a kind takes on average.
    fn average(&self, kind: &Kind) -> Option<f64> {
        let (sum, count) = self.kinds.get(kind)?;
        Some(sum / *count as f64)
    }

    /// How much longer runs of each configuration took than runs of the same kinds did on average.
    fn factors(&self) -> HashMap<&str, f64> {
        let mut sums: HashMap<&str, (f64, f64)> = HashMap::new();
        for done in &self.done {
            let usual = self.average(&done.kind).unwrap_or(done.seconds);
            let sum = sums.entry(&done.configuration).or_default();
            *sum = (sum.0 + done.seconds, sum.1 + usual);
        }
        let factor = |(actual, usual): (f64, f64)| match usual > 0.0 {
            true => actual / usual,
            false => 1.0,
        };
        sums.into_iter().map(|(c, sum)| (c, factor(sum))).collect()
    }
}

/// What is left, and what is known about how long it takes.
#[derive(Default)]
pub struct Queue {
    pub pending: Vec<(usize, Arc<Run>)>,
    known: Known,
    running: Vec<(Arc<Run>, Instant)>,
    /// What all of them may take together.
    pub cores: usize,
}

impl Queue {
    /// A run that was done before.
    pub fn learn(&mut self, run: &Run, seconds: f64) {
        self.known.learn(run, seconds);
    }

    /// One run of every kind first, so that the time of all is known soon; then the longest
    /// first, so that no long one is left for the end.
    pub fn next(&mut self) -> Option<(usize, Arc<Run>)> {
        let mut best: Option<(usize, f64)> = None;
        for (at, (_, run)) in self.pending.iter().enumerate() {
            let kind = kind(run);
            let begun = self.running.iter().any(|(r, _)| self::kind(r) == kind);
            let value = match self.known.average(&kind) {
                Some(seconds) => seconds,
                None if begun => 0.0,
                None => f64::INFINITY,
            };
            if best.is_none_or(|(_, b)| value > b) {
                best = Some((at, value));
            }
        }
        let (index, run) = self.pending.remove(best?.0);
        self.running.push((run.clone(), Instant::now()));
        Some((index, run))
    }

    /// Threads for the run that was taken last: when fewer are left than there are cores, they
    /// share them.
    pub fn threads(&self) -> usize {
        let left = self.pending.len() + self.running.len();
        (self.cores / left.max(1)).max(1)
    }

    /// A run is over.
    pub fn ended(&mut self, run: &Run, seconds: f64) {
        self.learn(run, seconds);
        if let Some(at) = self.running.iter().position(|(r, _)| r.key == run.key) {
            self.running.remove(at);
        }
    }

    /// The time that is left; none while nothing is known about some of it.
    pub fn left(&self, jobs: usize) -> Option<Duration> {
        self.left_at(Instant::now(), jobs)
    }

    fn left_at(&self, now: Instant, jobs: usize) -> Option<Duration> {
        let factors = self.known.factors();
        let expected = |run: &Run| {
            let factor = factors.get(run.configuration.as_str());
            Some(self.known.average(&kind(run))? * factor.copied().unwrap_or(1.0))
        };
        let pending = self.pending.iter().map(|(_, run)| expected(run));
        let running = self.running.iter().map(|(run, since)| {
            let gone = now.saturating_duration_since(*since).as_secs_f64();
            Some((expected(run)? - gone).max(OVERDUE * gone))
        });
        let left: Vec<f64> = pending.chain(running).collect::<Option<_>>()?;
        let longest = left.iter().copied().fold(0.0, f64::max);
        let shared = left.iter().sum::<f64>() / jobs.max(1) as f64;
        Duration::try_from_secs_f64(shared.max(longest)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choices, Plan};
    use warpsim_present::Source;

    fn queue() -> Queue {
        let text = "schema = 1\nname = \"t\"\nmachine = \"gtx480\"\nrepeats.count = 1\n[groups.g]\n\
                    workloads = [\"vecadd\", \"matmul\", \"bfs\"]\n\
                    [[grid]]\nscheduler = [\"lrr\", \"gto\", \"tls\"]\n";
        let study = crate::format::parse(&Source::new("t", text)).expect("a good study");
        let plan = Plan::new(study, &Choices::default()).expect("a good plan");
        Queue {
            pending: plan.runs.iter().cloned().enumerate().collect(),
            ..Queue::default()
        }
    }

    fn seconds(run: &Run) -> f64 {
        match run.workload.as_str() {
            "vecadd" => 1.0,
            "matmul" => 3.0,
            _ => 2.0,
        }
    }

    #[test]
    fn one_of_each_kind_and_then_the_longest_first() {
        let mut queue = queue();
        let mut order = Vec::new();
        while let Some((_, run)) = queue.next() {
            order.push(run.workload.clone());
            queue.ended(&run, seconds(&run));
        }
        let expected = [
            "vecadd", "matmul", "bfs", "matmul", "matmul", "bfs", "bfs", "vecadd", "vecadd",
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn nothing_is_said_before_every_kind_is_known() {
        let mut queue = queue();
        assert_eq!(queue.left(2), None, "nothing is known yet");
        for done in 0..3 {
            assert_eq!(queue.left(2), None, "after {done}");
            let (_, run) = queue.next().expect("a run");
            assert_eq!(queue.left(2), None, "with one of {done} kinds under way");
            queue.ended(&run, seconds(&run));
        }
        // Two more of each kind: twelve seconds on two threads.
        assert_eq!(queue.left(2), Some(Duration::from_secs(6)));
        // The longest of them alone takes three.
        assert_eq!(queue.left(100), Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_run_that_takes_longer_than_expected_has_time_left() {
        let mut queue = queue();
        while let Some((_, run)) = queue.next() {
            if queue.pending.is_empty() {
                break;
            }
            queue.ended(&run, seconds(&run));
        }
        let since = queue.running[0].1;
        let left = |gone: f64| {
            let at = since + Duration::from_secs_f64(gone);
            queue.left_at(at, 2).expect("all is known").as_secs_f64()
        };
        assert_eq!(left(0.25), 0.75);
        assert_eq!(left(1.0), 0.25);
        assert_eq!(left(240.0), 60.0, "not nothing for minutes");
    }

    #[test]
    fn configurations_that_take_longer_do_so_on_other_workloads() {
        let mut queue = queue();
        let slow = |run: &Run| match run.configuration.as_str() {
            "tls" => 4.0,
            _ => 1.0,
        };
        let all: Vec<_> = std::mem::take(&mut queue.pending);
        for (index, run) in all {
            match (run.workload.as_str(), run.configuration.as_str()) {
                ("bfs", "tls") => queue.pending.push((index, run)),
                _ => queue.learn(&run, slow(&run)),
            }
        }
        // Runs of bfs took a second; tls takes twice as long as the average of its kinds.
        assert_eq!(queue.left(1), Some(Duration::from_secs(2)));
    }
}
