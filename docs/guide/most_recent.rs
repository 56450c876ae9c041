//! Most recently used first: the line goes that was used last, so that of data read round and round some stays.

use warpsim_sim::mechanism::Info;
use warpsim_sim::replacement::{Policy, Replacement, Ways};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "most-recent",
        description: "the line that was used last makes room",
        parameters: &[],
    },
    make: |_, sets, ways| Box::new(MostRecent::new(sets, ways)),
};

/// The policy: when each line was used last.
#[derive(Debug)]
pub struct MostRecent {
    ways: usize,
    used: Vec<u64>,
    clock: u64,
}

impl MostRecent {
    /// A policy for a cache of so many sets and ways.
    pub fn new(sets: usize, ways: usize) -> MostRecent {
        MostRecent {
            ways,
            used: vec![0; sets * ways],
            clock: 0,
        }
    }
}

impl Replacement for MostRecent {
    fn reserved(&mut self, set: usize, way: usize) {
        self.hit(set, way);
    }

    fn hit(&mut self, set: usize, way: usize) {
        self.clock += 1;
        self.used[set * self.ways + way] = self.clock;
    }

    // The whole difference from `replacement/lru.rs`: the greatest instead of the least.
    fn victim(&self, set: usize, among: &Ways) -> usize {
        let used = |way: &usize| self.used[set * self.ways + way];
        among.iter().max_by_key(used).expect("there is one")
    }
}
