//! The ways to simulate a run, all of which come to the same: skipped or stepped, on one thread or several, listened to or not.

use warpsim_sim::gpu::Options;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::time::Cycle;

/// A way to simulate a run.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// In words.
    pub name: &'static str,
    skip: bool,
    threads: usize,
    /// Cycles between samples, for who listens.
    listens: Option<Option<u64>>,
}

/// As most runs are simulated, and each other way.
pub const WAYS: [Way; 6] = [
    way("skipped", true, 1, None),
    way("stepped", false, 1, None),
    way("listened to", true, 1, Some(None)),
    way("listened to and sampled", true, 1, Some(Some(70))),
    way("on three threads", true, 3, None),
    way(
        "on two threads, sampled and stepped",
        false,
        2,
        Some(Some(1000)),
    ),
];

const fn way(name: &'static str, skip: bool, threads: usize, listens: Option<Option<u64>>) -> Way {
    Way {
        name,
        skip,
        threads,
        listens,
    }
}

/// Listens, and forgets.
struct Listener(Option<u64>);

impl Observer for Listener {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

    fn samples_every(&self) -> Option<u64> {
        self.0
    }
}

impl Way {
    /// With no more cycles than these for a launch.
    pub fn options(&self, max_cycles: Option<u64>) -> Options {
        let listener = |every| Box::new(Listener(every)) as Box<dyn Observer>;
        Options {
            skip: self.skip,
            threads: self.threads,
            observer: self.listens.map(listener),
            max_cycles,
            ..Options::default()
        }
    }
}

/// Whether a run comes to the same in each of these ways; `run` says what it comes to. If so, that.
pub fn agree<T: PartialEq>(
    ways: &[Way],
    run: impl Fn(Options) -> T,
    max_cycles: Option<u64>,
) -> Result<T, String> {
    let (first, others) = ways.split_first().expect("a way");
    let result = run(first.options(max_cycles));
    match others
        .iter()
        .find(|way| run(way.options(max_cycles)) != result)
    {
        None => Ok(result),
        Some(way) => Err(format!(
            "{} and {} it comes to something else",
            first.name, way.name
        )),
    }
}
