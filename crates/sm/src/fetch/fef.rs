//! Fewest entries first (barrier-aware scheduling §6.2): fills the emptiest buffer, whichever warp is
//! critical. What `cff` is compared with.

use super::lrr::Lrr;
use super::{FetchPolicy, FetchView, Policy};
use crate::schedule::Place;
use warpsim_machine::mechanism::{Info, Need};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "fef",
        description: "fewest entries first: the warp with the emptiest buffer, ties round robin; needs fetch.eligible = room",
        parameters: &[],
    },
    needs: &[Need {
        key: "fetch.eligible",
        value: "room",
        because: "chooses by how full buffers are",
    }],
    make: |_, _, domains| Box::new(Fef::new(domains)),
};

/// Fetches for the eligible warp with the fewest buffered instructions; ties go round.
#[derive(Debug)]
pub struct Fef {
    ties: Lrr,
    emptiest: Vec<u64>,
}

impl Fef {
    /// A policy for this many domains.
    pub fn new(domains: usize) -> Fef {
        Fef {
            ties: Lrr::new(domains, false),
            emptiest: vec![0; domains],
        }
    }
}

impl FetchPolicy for Fef {
    fn select(&mut self, view: &FetchView) -> Option<Place> {
        let mut fewest = u8::MAX;
        self.emptiest.fill(0);
        for (domain, &set) in view.eligible.iter().enumerate() {
            let mut rest = set;
            while rest != 0 {
                let place = Place {
                    domain: domain as u8,
                    index: rest.trailing_zeros() as u8,
                };
                rest &= rest - 1;
                let entries = (view.buffered)(place);
                if entries < fewest {
                    fewest = entries;
                    self.emptiest.fill(0);
                }
                if entries == fewest {
                    self.emptiest[domain] |= 1 << place.index;
                }
            }
        }
        self.ties.select(&FetchView {
            eligible: &self.emptiest,
            ..*view
        })
    }

    fn fetched(&mut self, place: Place) {
        self.ties.fetched(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Machine, ReadMachine};

    #[test]
    fn takes_the_emptiest_and_goes_round_among_equals() {
        let machine = Machine::preset("gtx480").expect("a preset");
        let issue = crate::schedule::make(&machine, 2);
        // Slots 0 to 5 hold 1, 0, 2, 0, 1, 0 instructions.
        let buffered = |p: Place| [1, 0, 2, 0, 1, 0][(p.index * 2 + p.domain) as usize];
        let mut fef = Fef::new(2);
        let mut slots = |eligible: &[u64]| {
            let view = FetchView {
                eligible,
                at_barrier: &|_| 0,
                buffered: &buffered,
                issue: &*issue,
            };
            let place = fef.select(&view).expect("some are eligible");
            fef.fetched(place);
            place.index * 2 + place.domain
        };
        let all = [0b111, 0b111];
        assert_eq!(
            [slots(&all), slots(&all), slots(&all), slots(&all)],
            [1, 3, 5, 1]
        );
        assert_eq!(slots(&[0b111, 0]), 4, "from behind the last one");
        assert_eq!(slots(&[0b111, 0]), 0);
        assert_eq!(slots(&[0b010, 0]), 2);
    }
}
