//! Policies that plan the issues of all schedulers, or slices, of an SM together.

use super::Place;
use crate::divergence::{Group, Groups};
use crate::place::Layout;
use crate::sm::fixed_list::FixedList;
use crate::time::Cycle;

/// Warps that issue together: in lock step, the same instruction, each in another domain and on
/// other lanes. The first one leads.
pub type Together = FixedList<Place, 8>;

/// What a plan may look at.
pub struct IssueView<'a> {
    /// The cycle.
    pub now: Cycle,
    /// Warps that can issue, by domain: none once the domain has had its turn.
    pub ready: &'a [u64],
    /// What the slots hold.
    pub groups: &'a Groups,
    /// Where warps sit.
    pub layout: Layout,
}

impl IssueView<'_> {
    /// Whether a warp can issue.
    pub fn is_ready(&self, place: Place) -> bool {
        self.ready[place.domain as usize] >> place.index & 1 != 0
    }

    /// The group at a place.
    pub fn group(&self, place: Place) -> &Group {
        self.groups.get(self.layout.slot_at(place))
    }
}

/// A policy that plans the issues of a cycle.
///
/// # Contract
///
/// In every cycle in which a warp may be ready, [`next`](IssuePlan::next) is called until it names
/// nobody; what it sees is renewed after each issue, so that it knows the room that is left and
/// the warps that a barrier has let go. A domain issues once per cycle. Budgets, such as two gangs
/// and then single warps where slices are idle, are the plan's own.
pub trait IssuePlan {
    /// The warps that issue next in this cycle; they are ready.
    fn next(&mut self, view: &IssueView) -> Option<Together>;

    /// The warps that issue with the one at `place` as long as they stay together: what is
    /// fetched for one of them is fetched for all.
    fn fetched_with(&self, place: Place) -> Together {
        let mut alone = Together::default();
        alone.push(place);
        alone
    }
}
