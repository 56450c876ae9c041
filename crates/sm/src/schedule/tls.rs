//! Two-level scheduling: a small active set with round robin inside, the others queued. A
//! warp leaves the set when it waits at a barrier or fence or for an atomic, has finished, or
//! its next instruction reads a register owed by a global, local or texture load. (Demoting
//! only on loads deadlocks: a set full of warps at a barrier never lets their siblings in.)

use super::lrr::first_from;
use super::{Considers, Facts, IssuePolicy, Place, Policy};
use std::collections::VecDeque;
use warpsim_machine::mechanism::{Info, Integer};

/// Six, as the public GTX 480 configuration has it (`two_level_active:6:0:1`).
pub(super) const ACTIVE: Integer = Integer {
    name: "active",
    low: 1,
    high: 64,
    default: 6,
    unit: "warps",
    description: "active warps of each scheduler",
};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "tls",
        description: "two levels: round robin in a small active set; warps that wait long leave it",
        parameters: &[&ACTIVE],
    },
    needs_pool: false,
    ranks_blocks: false,
    make: |values, _, domains| Box::new(Tls::new(domains, values.get(&ACTIVE) as usize)),
};

/// The two-level policy.
#[derive(Debug)]
pub struct Tls {
    places: usize,
    domains: Vec<Domain>,
}

#[derive(Clone, Debug, Default)]
struct Domain {
    active: u64,
    pending: VecDeque<u8>,
    /// Index to look at first.
    start: u8,
}

impl Tls {
    /// `places` active warps in each of `domains` domains.
    pub fn new(domains: usize, places: usize) -> Tls {
        Tls {
            places,
            domains: vec![Domain::default(); domains],
        }
    }
}

impl Tls {
    /// The index that a domain looks at first in its active set.
    pub(super) fn start(&self, domain: usize) -> u8 {
        self.domains[domain].start
    }
}

impl IssuePolicy for Tls {
    fn launched(&mut self, place: Place, _: u64, _: u16) {
        self.domains[place.domain as usize]
            .pending
            .push_back(place.index);
    }

    fn finished(&mut self, place: Place) {
        let domain = &mut self.domains[place.domain as usize];
        domain.active &= !(1 << place.index);
        domain.pending.retain(|&i| i != place.index);
    }

    fn considers(&mut self) -> Option<&mut dyn Considers> {
        Some(self)
    }

    fn active(&self, domain: usize) -> u64 {
        self.domains[domain].active
    }

    fn issued(&mut self, place: Place) {
        self.domains[place.domain as usize].start = (place.index + 1) % 64;
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        let d = &self.domains[domain];
        let rank = |i: u8| match d.active >> i & 1 {
            1 => (0, i.wrapping_sub(d.start) as usize % 64),
            _ => (
                1,
                d.pending.iter().position(|&p| p == i).unwrap_or(usize::MAX),
            ),
        };
        rank(a) < rank(b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let d = &self.domains[domain];
        first_from(among & d.active, d.start)
            .or_else(|| d.pending.iter().copied().find(|&i| among >> i & 1 != 0))
    }
}

impl Considers for Tls {
    fn consider(&mut self, domain: usize, facts: &Facts) -> u64 {
        let d = &mut self.domains[domain];
        let aside = facts.waiting | facts.long_wait | !facts.running;
        let mut leaving = d.active & aside;
        d.active &= !leaving;
        while leaving != 0 {
            d.pending.push_back(leaving.trailing_zeros() as u8);
            leaving &= leaving - 1;
        }
        // Once no queued warp can come in, looking again in the same state changes nothing:
        // skipped cycles need no repetition.
        while d.active.count_ones() < self.places as u32 {
            let Some(at) = d.pending.iter().position(|&i| aside >> i & 1 == 0) else {
                break;
            };
            let index = d.pending.remove(at).expect("position is within the queue");
            d.active |= 1 << index;
        }
        d.active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls_with(warps: u8, places: usize) -> Tls {
        let mut tls = Tls::new(1, places);
        for index in 0..warps {
            tls.launched(Place { domain: 0, index }, index as u64, 0);
        }
        tls
    }

    #[test]
    fn a_warp_that_waits_for_a_load_makes_room_for_the_next() {
        let mut tls = tls_with(4, 2);
        let mut facts = Facts {
            running: 0b1111,
            ..Facts::default()
        };
        assert_eq!(tls.consider(0, &facts), 0b0011);
        facts.long_wait = 0b0001;
        assert_eq!(tls.consider(0, &facts), 0b0110);
        facts.long_wait = 0;
        assert_eq!(tls.consider(0, &facts), 0b0110, "it waits for its turn");
        facts.waiting = 0b0110;
        assert_eq!(tls.consider(0, &facts), 0b1001);
    }

    #[test]
    fn a_set_full_of_barrier_waiters_lets_their_siblings_in() {
        let mut tls = tls_with(3, 2);
        let facts = Facts {
            running: 0b111,
            waiting: 0b011,
            long_wait: 0,
            ..Facts::default()
        };
        assert_eq!(tls.consider(0, &facts), 0b100);
    }

    #[test]
    fn refreshing_twice_in_the_same_state_changes_nothing() {
        let mut tls = tls_with(6, 2);
        let facts = Facts {
            running: 0b111111,
            waiting: 0b000001,
            long_wait: 0b001000,
            ..Facts::default()
        };
        let first = tls.consider(0, &facts);
        let order = tls.domains[0].pending.clone();
        assert_eq!(tls.consider(0, &facts), first);
        assert_eq!(tls.domains[0].pending, order);
    }
}
