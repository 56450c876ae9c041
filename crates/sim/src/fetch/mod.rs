//! Fetch policies: for which warp the next instructions are fetched. One file a policy,
//! registered in [`POLICIES`].

mod lrr;

use crate::config::Machine;
use crate::policy::PolicyInfo;
use crate::schedule::{IssuePolicy, Place};

/// What a fetch policy sees in a cycle, as bit sets by domain.
pub struct FetchView<'a> {
    /// Warps that may be fetched for; not all empty.
    pub eligible: &'a [u64],
    /// Warps that wait at a barrier.
    pub at_barrier: &'a [u64],
    /// The issue policy, for its order.
    pub issue: &'a dyn IssuePolicy,
}

/// A fetch policy.
///
/// # Contract
///
/// [`select`](FetchPolicy::select) is called for every free fetch port in which some warp is
/// eligible, and returns one of the eligible warps (or none, if it prefers to wait). State
/// changes only there, so that cycles in which nothing is eligible can be skipped.
pub trait FetchPolicy: Send {
    /// Chooses a warp.
    fn select(&mut self, view: &FetchView) -> Option<Place>;

    /// Whether the fetch unit's scan passes `place` before it finds `found` (`None`: it finds
    /// nothing). The scan is what notices that a warp has finished. Asked before `select`'s
    /// choice is fetched.
    fn passes(&self, place: Place, found: Option<Place>) -> bool {
        let _ = (place, found);
        true
    }

    /// The chosen warp has been fetched for.
    fn fetched(&mut self, place: Place);
}

/// Every fetch policy.
pub const POLICIES: &[PolicyInfo] = &[PolicyInfo {
    name: "lrr",
    description: "round robin over the warps with an empty buffer, barrier waiters included",
    parameters: &[],
}];

/// Makes the fetch policy that `machine` names; the name has been checked.
pub fn make(machine: &Machine, domains: usize) -> Option<Box<dyn FetchPolicy>> {
    Some(match machine.fetch.policy.as_str() {
        "lrr" => Box::new(lrr::Lrr::new(domains)),
        _ => return None,
    })
}
