//! Loose round robin over all warps of the SM.

use super::{FetchPolicy, FetchView, Policy};
use crate::mechanism::Info;
use crate::schedule::Place;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "lrr",
        description: "round robin over the warps that may be fetched for, barrier waiters included",
        parameters: &[],
    },
    needs: &[],
    make: |_, machine, domains| {
        let behind_first = machine.fetch.starts_behind_first;
        Box::new(Lrr::new(domains, behind_first))
    },
};

/// Fetches for the next eligible warp behind the last one, in the order of warp slots
/// (slot = index × domains + domain).
#[derive(Debug)]
pub struct Lrr {
    domains: u16,
    /// The warp slot to look at first.
    start: Place,
}

impl Lrr {
    /// A policy for this many domains. `behind_first`: as if the first warp had just been fetched
    /// for.
    pub fn new(domains: usize, behind_first: bool) -> Lrr {
        let start = Place {
            domain: 0,
            index: 0,
        };
        let mut policy = Lrr {
            domains: domains as u16,
            start,
        };
        if behind_first {
            policy.fetched(start);
        }
        policy
    }

    fn slot(&self, place: Place) -> u16 {
        place.index as u16 * self.domains + place.domain as u16
    }

    /// Distance from the start of the scan.
    fn distance(&self, place: Place) -> u16 {
        let slots = 64 * self.domains;
        let distance = self.slot(place) + slots - self.slot(self.start);
        if distance >= slots {
            distance - slots
        } else {
            distance
        }
    }
}

impl FetchPolicy for Lrr {
    fn takes_only_one(&self) -> bool {
        true
    }

    fn select(&mut self, view: &FetchView) -> Option<Place> {
        // The rounds that the scan has passed through before the slot, then the place: the least is the
        // first.
        let mut best = u32::MAX;
        for (domain, &set) in view.eligible.iter().enumerate() {
            if set == 0 {
                continue;
            }
            // The first index whose slot is at or after the start.
            let behind = (domain < self.start.domain as usize) as u32;
            let first = u32::from(self.start.index) + behind;
            let ahead = set.rotate_right(first).trailing_zeros();
            let index = (first + ahead) & 63;
            best = best.min((ahead + behind) << 16 | (domain as u32) << 8 | index);
        }
        let place = Place {
            domain: (best >> 8) as u8,
            index: best as u8,
        };
        (best != u32::MAX).then_some(place)
    }

    fn passes(&self, place: Place, found: Option<Place>) -> bool {
        found.is_none_or(|f| self.distance(place) < self.distance(f))
    }

    fn fetched(&mut self, place: Place) {
        self.start = place;
        self.start.domain += 1;
        if u16::from(self.start.domain) == self.domains {
            self.start.domain = 0;
            self.start.index = (self.start.index + 1) & 63;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Machine;

    #[test]
    fn goes_round_over_both_domains_in_slot_order() {
        let machine = Machine::preset("gtx480").unwrap();
        let issue = crate::schedule::make(&machine, 2);
        let mut lrr = Lrr::new(2, false);
        let eligible = [0b101, 0b110];
        let view = FetchView {
            eligible: &eligible,
            at_barrier: &|_| 0,
            buffered: &|_| 0,
            issue: &*issue,
        };
        let mut slots = Vec::new();
        for _ in 0..5 {
            let place = lrr.select(&view).unwrap();
            lrr.fetched(place);
            slots.push(place.index * 2 + place.domain);
        }
        assert_eq!(slots, [0, 3, 4, 5, 0]);
        let first = |behind_first| Lrr::new(2, behind_first).select(&view);
        let [slot_0, slot_3] = [(0, 0), (1, 1)].map(|(domain, index)| Place { domain, index });
        assert_eq!(first(false), Some(slot_0));
        assert_eq!(first(true), Some(slot_3), "slot 0 comes last");
    }

    #[test]
    fn the_scan_passes_what_lies_before_its_find() {
        let mut lrr = Lrr::new(2, false);
        lrr.fetched(Place {
            domain: 1,
            index: 1,
        }); // slot 3
        let at = |domain, index| Place { domain, index };
        assert!(lrr.passes(at(0, 2), Some(at(1, 2))));
        assert!(!lrr.passes(at(0, 0), Some(at(1, 2))));
        assert!(lrr.passes(at(0, 0), None));
    }
}
