//! Greedy fetch: goes on with the warp that it fetched for last while it may, else with the first in the
//! scheduler's order.

use warpsim_sim::fetch::{FetchPolicy, FetchView, Policy};
use warpsim_sim::mechanism::Info;
use warpsim_sim::schedule::Place;

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "greedy",
        description: "the warp that was fetched for last, else the first in the scheduler's order",
        parameters: &[],
    },
    needs: &[],
    make: |_, _, _| Box::new(Greedy::default()),
};

/// The policy.
#[derive(Debug, Default)]
pub struct Greedy {
    last: Option<Place>,
}

impl FetchPolicy for Greedy {
    fn select(&mut self, view: &FetchView) -> Option<Place> {
        let eligible = |place: &Place| view.eligible[place.domain as usize] >> place.index & 1 != 0;
        if let Some(last) = self.last.filter(eligible) {
            return Some(last);
        }
        // Schedulers take turns: the one behind that of the last warp begins.
        let domains = view.eligible.len();
        let begin = self.last.map_or(0, |last| last.domain as usize + 1);
        (begin..begin + domains).find_map(|i| {
            let domain = i % domains;
            let index = view.issue.first(domain, view.eligible[domain])?;
            Some(Place {
                domain: domain as u8,
                index,
            })
        })
    }

    fn fetched(&mut self, place: Place) {
        self.last = Some(place);
    }
}
