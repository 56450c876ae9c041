//! Oldest first.

use super::order::AgeOrder;
use super::{IssuePolicy, Place, Policy};
use warpsim_machine::mechanism::Info;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "oldest",
        description: "always the oldest ready warp",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |_, _, domains| Box::new(Oldest::new(domains)),
};

/// Always the oldest ready warp.
#[derive(Debug)]
pub struct Oldest {
    domains: Vec<AgeOrder>,
}

impl Oldest {
    /// A policy for this many domains.
    pub fn new(domains: usize) -> Oldest {
        Oldest {
            domains: vec![AgeOrder::default(); domains],
        }
    }
}

impl IssuePolicy for Oldest {
    fn launched(&mut self, place: Place, age: u64, _: u16) {
        self.domains[place.domain as usize].add(place.index, age);
    }

    fn finished(&mut self, place: Place) {
        self.domains[place.domain as usize].remove(place.index);
    }

    fn issued(&mut self, _: Place) {}

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        self.domains[domain].older(a, b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        self.domains[domain].oldest(among)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_decides_whichever_warp_issued_last() {
        let mut oldest = Oldest::new(1);
        for (index, age) in [(1, 10), (0, 11), (2, 12)] {
            oldest.launched(Place { domain: 0, index }, age, 0);
        }
        oldest.issued(Place {
            domain: 0,
            index: 2,
        });
        assert_eq!(oldest.first(0, 0b111), Some(1));
        assert_eq!(oldest.first(0, 0b101), Some(0));
    }
}
