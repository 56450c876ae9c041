//! Youngest first: always the youngest ready warp.

use warpsim_sim::mechanism::Info;
use warpsim_sim::schedule::order::AgeOrder;
use warpsim_sim::schedule::{IssuePolicy, Place, Policy};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "youngest",
        description: "always the youngest ready warp",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |_, _, domains| Box::new(Youngest::new(domains)),
};

/// The policy: for each scheduler its warps, oldest first.
pub struct Youngest {
    domains: Vec<AgeOrder>,
}

impl Youngest {
    /// A policy for this many schedulers.
    pub fn new(domains: usize) -> Youngest {
        Youngest {
            domains: vec![AgeOrder::default(); domains],
        }
    }
}

impl IssuePolicy for Youngest {
    fn launched(&mut self, place: Place, age: u64, _block: u16) {
        self.domains[place.domain as usize].add(place.index, age);
    }

    fn finished(&mut self, place: Place) {
        self.domains[place.domain as usize].remove(place.index);
    }

    fn issued(&mut self, _: Place) {}

    // The whole difference from `schedule/oldest.rs`: `a` comes before `b` when it is younger.
    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.domains[domain].older(b, a)
    }
}
