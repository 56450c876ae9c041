//! What the machine did over time, from the samples that an observer hears.

use std::cell::RefCell;
use std::rc::Rc;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::{MemoryCounters, SmCounters, Visit};
use warpsim_sim::time::Cycle;

/// Cycles between two samples.
const EVERY: u64 = 100;

/// Samples that are kept; more are put together two by two, and so are those that come after.
const MOST: usize = 600;

/// A stretch of time with what was counted in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its first cycle.
    pub from: u64,
    /// The first cycle after it.
    pub to: u64,
    /// What the SMs counted.
    pub sm: SmCounters,
    /// What was counted beyond them.
    pub memory: MemoryCounters,
}

/// A run over time.
#[derive(Debug)]
pub struct Series {
    /// One after the other.
    pub samples: Vec<Sample>,
    /// Kernels and the cycles in which they began.
    pub launches: Vec<(String, u64)>,
    /// The least length of a sample, but for the last of a launch.
    length: u64,
}

impl Default for Series {
    fn default() -> Series {
        Series {
            samples: Vec::new(),
            launches: Vec::new(),
            length: EVERY,
        }
    }
}

impl Series {
    fn add(&mut self, sample: Sample) {
        let begun = |s: &&mut Sample| s.to == sample.from && s.to - s.from < self.length;
        match self.samples.last_mut().filter(begun) {
            Some(last) => join(last, &sample),
            None => self.samples.push(sample),
        }
        if self.samples.len() > MOST {
            self.samples = halved(&self.samples);
            self.length *= 2;
        }
    }
}

fn join(first: &mut Sample, next: &Sample) {
    first.to = next.to;
    first.sm.add(&next.sm);
    first.memory.add(&next.memory);
}

/// Every two samples as one.
fn halved(samples: &[Sample]) -> Vec<Sample> {
    let pairs = samples.chunks(2).map(|pair| {
        let mut whole = pair[0].clone();
        pair[1..].iter().for_each(|next| join(&mut whole, next));
        whole
    });
    pairs.collect()
}

/// Listens for the samples.
pub struct Recorder(Rc<RefCell<Series>>);

impl Recorder {
    /// A recorder, and where it records.
    pub fn new() -> (Recorder, Rc<RefCell<Series>>) {
        let series = Rc::new(RefCell::new(Series::default()));
        (Recorder(series.clone()), series)
    }
}

impl Observer for Recorder {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        let mut series = self.0.borrow_mut();
        series.launches.push((shown(&kernel.name), cycle.get()));
    }

    fn samples_every(&self) -> Option<u64> {
        Some(self.0.borrow().length)
    }

    fn counted(&mut self, from: Cycle, to: Cycle, sm: &SmCounters, memory: &MemoryCounters) {
        self.0.borrow_mut().add(Sample {
            from: from.get(),
            to: to.get(),
            sm: sm.clone(),
            memory: memory.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(from: u64, to: u64) -> Sample {
        let sm = SmCounters {
            thread_instructions: to - from,
            ..SmCounters::default()
        };
        Sample {
            from,
            to,
            sm,
            memory: MemoryCounters::default(),
        }
    }

    #[test]
    fn long_runs_keep_everything_in_longer_samples() {
        let mut series = Series::default();
        let cycles = 100 * MOST as u64 * 5;
        for from in (0..cycles).step_by(100) {
            series.add(sample(from, from + 100));
        }
        assert!(series.samples.len() <= MOST, "{}", series.samples.len());
        assert!(series.samples.len() > MOST / 3, "{}", series.samples.len());
        let sum: u64 = series
            .samples
            .iter()
            .map(|s| s.sm.thread_instructions)
            .sum();
        assert_eq!(sum, cycles);
        for pair in series.samples.windows(2) {
            assert_eq!(pair[0].to, pair[1].from);
        }
        let lengths = series.samples.iter().map(|s| s.to - s.from);
        let longest = lengths.max().expect("samples");
        assert!(longest <= 2 * series.length, "{longest}");
    }

    #[test]
    fn launches_stay_apart() {
        let mut series = Series::default();
        series.add(sample(0, 30));
        series.add(sample(50, 80));
        assert_eq!(series.samples.len(), 2, "nothing ran in between");
    }
}
