//! Loose round robin.

use super::{IssuePolicy, Place, Policy};
use warpsim_machine::mechanism::Info;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "lrr",
        description: "loose round robin: the warp after the one issued last, then on around",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |_, _, domains| Box::new(Lrr::new(domains)),
};

/// Looks at the warps in slot order, starting behind the one that issued last.
#[derive(Debug)]
pub struct Lrr {
    /// For each domain: the index to look at first.
    start: Vec<u8>,
}

impl Lrr {
    /// A policy for this many domains.
    pub fn new(domains: usize) -> Lrr {
        Lrr {
            start: vec![0; domains],
        }
    }
}

/// The first member of `set` at or after `start`, going round.
#[inline]
pub(super) fn first_from(set: u64, start: u8) -> Option<u8> {
    let later = set & (!0 << start);
    let from = if later != 0 { later } else { set };
    (from != 0).then(|| from.trailing_zeros() as u8)
}

impl IssuePolicy for Lrr {
    fn launched(&mut self, _: Place, _: u64, _: u16) {}
    fn finished(&mut self, _: Place) {}

    fn issued(&mut self, place: Place) {
        self.start[place.domain as usize] = (place.index + 1) % 64;
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        let start = self.start[domain];
        (a.wrapping_sub(start) % 64) < (b.wrapping_sub(start) % 64)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        first_from(among, self.start[domain])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ready_warp_has_its_turn_before_any_comes_again() {
        let mut lrr = Lrr::new(1);
        let ready = 0b1011_0110;
        let mut seen = Vec::new();
        for _ in 0..5 {
            let index = lrr.first(0, ready).expect("some are ready");
            lrr.issued(Place { domain: 0, index });
            seen.push(index);
        }
        assert_eq!(seen, [1, 2, 4, 5, 7]);
        assert_eq!(lrr.first(0, ready), Some(1));
    }

    #[test]
    fn the_order_starts_behind_the_last_issuer() {
        let mut lrr = Lrr::new(1);
        lrr.issued(Place {
            domain: 0,
            index: 3,
        });
        assert!(lrr.before(0, 4, 3));
        assert!(lrr.before(0, 63, 0));
        assert_eq!(lrr.first(0, 0b1001), Some(0));
    }
}
