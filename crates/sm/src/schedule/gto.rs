//! Greedy then oldest.

use super::order::AgeOrder;
use super::{IssuePolicy, Place, Policy};
use warpsim_machine::mechanism::Info;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "gto",
        description: "greedy then oldest: the warp issued last while it is ready, else the oldest",
        parameters: &[],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |_, _, domains| Box::new(Gto::new(domains)),
};

/// Stays with the warp that issued last while it is ready, else takes the oldest. Age is
/// the time the block came to the SM, then the smaller warp.
#[derive(Debug)]
pub struct Gto {
    domains: Vec<Domain>,
}

#[derive(Clone, Debug, Default)]
struct Domain {
    order: AgeOrder,
    last: Option<u8>,
}

impl Gto {
    /// A policy for this many domains.
    pub fn new(domains: usize) -> Gto {
        Gto {
            domains: vec![Domain::default(); domains],
        }
    }
}

impl IssuePolicy for Gto {
    fn launched(&mut self, place: Place, age: u64, _: u16) {
        self.domains[place.domain as usize]
            .order
            .add(place.index, age);
    }

    fn finished(&mut self, place: Place) {
        let domain = &mut self.domains[place.domain as usize];
        domain.order.remove(place.index);
        if domain.last == Some(place.index) {
            domain.last = None;
        }
    }

    #[inline]
    fn issued(&mut self, place: Place) {
        self.domains[place.domain as usize].last = Some(place.index);
    }

    #[inline]
    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        let d = &self.domains[domain];
        d.last == Some(a) || d.last != Some(b) && d.order.older(a, b)
    }

    #[inline]
    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let d = &self.domains[domain];
        match d.last {
            Some(last) if among >> last & 1 != 0 => Some(last),
            _ => d.order.oldest(among),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_with_a_warp_then_takes_the_oldest() {
        let mut gto = Gto::new(1);
        for (index, age) in [(5, 0), (2, 1), (7, 2)] {
            gto.launched(Place { domain: 0, index }, age, 0);
        }
        assert_eq!(gto.first(0, 0b1010_0100), Some(5));
        gto.issued(Place {
            domain: 0,
            index: 7,
        });
        assert_eq!(gto.first(0, 0b1010_0100), Some(7), "greedy");
        assert_eq!(gto.first(0, 0b0010_0100), Some(5), "then oldest");
        assert!(gto.before(0, 7, 5) && gto.before(0, 5, 2) && !gto.before(0, 2, 5));
        gto.finished(Place {
            domain: 0,
            index: 5,
        });
        assert_eq!(gto.first(0, 0b0000_0100), Some(2));
    }
}
