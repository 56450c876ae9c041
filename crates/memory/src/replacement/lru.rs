//! Least recently used: the line goes whose last use is longest ago.

use super::{Policy, Replacement, Ways};
use warpsim_machine::mechanism::Info;

/// The policy: when each line was used last.
#[derive(Debug)]
pub struct Lru {
    ways: usize,
    used: Vec<u64>,
    clock: u64,
}

impl Lru {
    /// For a cache of so many sets and ways.
    pub fn new(sets: usize, ways: usize) -> Lru {
        Lru {
            ways,
            used: vec![0; sets * ways],
            clock: 0,
        }
    }
}

impl Replacement for Lru {
    fn reserved(&mut self, set: usize, way: usize) {
        self.hit(set, way);
    }

    fn hit(&mut self, set: usize, way: usize) {
        self.clock += 1;
        self.used[set * self.ways + way] = self.clock;
    }

    fn victim(&self, set: usize, among: &Ways) -> usize {
        let used = |way: &usize| self.used[set * self.ways + way];
        among.iter().min_by_key(used).unwrap_or(0)
    }
}

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "lru",
        description: "least recently used: the line whose last use is longest ago makes room",
        parameters: &[],
    },
    make: |_, sets, ways| Box::new(Lru::new(sets, ways)),
};
