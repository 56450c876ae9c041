//! Loose round robin over all warps of the SM.

use super::round::{Found, Round};
use super::{FetchPolicy, FetchView, Policy};
use crate::schedule::Place;
use warpsim_machine::mechanism::Info;

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

/// Fetches for the next eligible warp behind the last one, in the order of warp slots.
#[derive(Debug)]
pub struct Lrr {
    pub(super) round: Round,
}

impl Lrr {
    /// A policy for this many domains. `behind_first`: as if the first warp had just been fetched
    /// for.
    pub fn new(domains: usize, behind_first: bool) -> Lrr {
        Lrr {
            round: Round::new(domains, behind_first),
        }
    }
}

impl FetchPolicy for Lrr {
    fn select(&mut self, view: &FetchView) -> Option<Place> {
        let found = view.eligible.iter().enumerate();
        let found = found.fold(Found::default(), |found, (domain, &set)| {
            self.round.look_at(found, domain, set)
        });
        self.round.place_of(found)
    }

    fn passes(&self, place: Place, found: Option<Place>) -> bool {
        self.round.passes(place, found)
    }

    fn fetched(&mut self, place: Place) {
        self.round.go_on_behind(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Machine, ReadMachine};

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
}
