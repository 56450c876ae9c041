//! Critical fetch first (barrier-aware scheduling §4.2): the fetch unit follows the order of the
//! issue policy, so that what the scheduler wants to issue next is there.

use super::{FetchPolicy, FetchView, Policy};
use crate::schedule::Place;
use warpsim_machine::mechanism::{Info, OneOf};

/// Whether a warp at a barrier is ever fetched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiters {
    /// Only once its barrier has opened.
    Never,
    /// When no other warp wants the port.
    Last,
}

/// Never: the paper fetches for the warp to be issued next.
const WAITERS: OneOf<Waiters> = OneOf {
    name: "waiters",
    words: &["never", "last"],
    meanings: &[Waiters::Never, Waiters::Last],
    description: "whether a warp at a barrier is fetched for when no other warp wants the port",
};

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "cff",
        description: "critical fetch first: in the issue policy's order, not for warps at a barrier",
        parameters: &[&WAITERS],
    },
    needs: &[],
    make: |values, _, domains| Box::new(Cff::new(domains, values.get(&WAITERS))),
};

/// Fetches for the first eligible warp of a scheduler's order that is not at a barrier. Schedulers
/// take turns at a port: the one behind that which was served last goes first.
#[derive(Debug)]
pub struct Cff {
    domains: usize,
    /// Domain that goes first.
    turn: usize,
    waiters: Waiters,
}

impl Cff {
    /// A policy for this many domains.
    pub fn new(domains: usize, waiters: Waiters) -> Cff {
        Cff {
            domains,
            turn: 0,
            waiters,
        }
    }

    /// The first of the warps that `wanted` gives for a domain, of the domain whose turn it is.
    fn first(&self, view: &FetchView, wanted: impl Fn(usize) -> u64) -> Option<Place> {
        (0..self.domains).find_map(|i| {
            let domain = (self.turn + i) % self.domains;
            let index = match wanted(domain) {
                0 => return None,
                set => view.issue.first(domain, set)?,
            };
            Some(Place {
                domain: domain as u8,
                index,
            })
        })
    }
}

impl FetchPolicy for Cff {
    fn skips_waiters(&self) -> bool {
        self.waiters == Waiters::Never
    }

    fn takes_only_one(&self) -> bool {
        true
    }

    fn select(&mut self, view: &FetchView) -> Option<Place> {
        let critical = self.first(view, |d| view.eligible[d] & !(view.at_barrier)(d));
        critical.or_else(|| match self.waiters {
            Waiters::Never => None,
            Waiters::Last => self.first(view, |d| view.eligible[d]),
        })
    }

    fn fetched(&mut self, place: Place) {
        self.turn = (place.domain as usize + 1) % self.domains;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Machine, ReadMachine};
    use crate::schedule::IssuePolicy;
    use crate::time::Cycle;

    fn issue(policy: &str, domains: usize) -> Box<dyn IssuePolicy> {
        let set = [format!("scheduler={policy}")];
        let machine = Machine::resolve("gtx480", &set).expect("valid");
        let mut issue = crate::schedule::make(&machine, domains);
        for w in 0..8 * domains as u64 {
            let place = Place {
                domain: (w % domains as u64) as u8,
                index: (w / domains as u64) as u8,
            };
            issue.launched(place, w, (w / 4) as u16);
        }
        issue
    }

    fn fetched(cff: &mut Cff, view: &FetchView) -> Option<(u8, u8)> {
        let place = cff.select(view)?;
        cff.fetched(place);
        Some((place.domain, place.index))
    }

    #[test]
    fn follows_the_issue_order_of_each_scheduler_in_turn() {
        let mut issue = issue("gto", 2);
        issue.issued(Place {
            domain: 1,
            index: 5,
        });
        let view = FetchView {
            eligible: &[0b1100, 0b10_0110],
            at_barrier: &|_| 0,
            buffered: &|_| 0,
            issue: &*issue,
        };
        let mut cff = Cff::new(2, Waiters::Never);
        assert_eq!(fetched(&mut cff, &view), Some((0, 2)), "the oldest");
        assert_eq!(fetched(&mut cff, &view), Some((1, 5)), "the last issued");
        assert_eq!(fetched(&mut cff, &view), Some((0, 2)));
        let only_odd = FetchView {
            eligible: &[0, 0b110],
            ..view
        };
        assert_eq!(fetched(&mut cff, &only_odd), Some((1, 1)));
        assert_eq!(
            fetched(&mut cff, &only_odd),
            Some((1, 1)),
            "no turn is lost"
        );
    }

    #[test]
    fn fetches_for_the_critical_warps_of_mwf_and_never_for_waiters() {
        let mut issue = issue("mwf-lrr", 1);
        // Warps 4 to 6 wait for warp 7.
        for index in 4..7 {
            issue.waits(Place { domain: 0, index }, 1, Cycle::new(10));
        }
        let view = FetchView {
            eligible: &[0xff],
            at_barrier: &|_| 0b0111_0000,
            buffered: &|_| 0,
            issue: &*issue,
        };
        let mut cff = Cff::new(1, Waiters::Never);
        assert_eq!(fetched(&mut cff, &view), Some((0, 7)));
        let waiters = FetchView {
            eligible: &[0b0111_0000],
            ..view
        };
        assert_eq!(fetched(&mut cff, &waiters), None);
        assert!(cff.skips_waiters());
        let mut cff = Cff::new(1, Waiters::Last);
        assert_eq!(fetched(&mut cff, &view), Some((0, 7)));
        assert_eq!(
            fetched(&mut cff, &waiters),
            Some((0, 4)),
            "for want of others"
        );
        assert!(!cff.skips_waiters());
    }
}
