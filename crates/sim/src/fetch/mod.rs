//! Fetch policies: for which warp the next instructions are fetched. One file a policy,
//! registered in [`POLICIES`].

mod cff;
mod fef;
mod lrr;

use crate::config::Machine;
use crate::policy::{ParamInfo, ParamKind, PolicyInfo};
use crate::schedule::{IssuePolicy, Place};

/// What a fetch policy sees in a cycle, as bit sets by domain.
pub struct FetchView<'a> {
    /// Warps that may be fetched for; not all empty.
    pub eligible: &'a [u64],
    /// Warps that wait at a barrier.
    pub at_barrier: &'a [u64],
    /// Instructions in a warp's buffer.
    pub buffered: &'a dyn Fn(Place) -> u8,
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
    /// Whether it never fetches for a warp that waits at a barrier. Such warps are then not
    /// eligible while they wait, so that cycles in which there is no other can be skipped.
    fn skips_waiters(&self) -> bool {
        false
    }

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
pub const POLICIES: &[PolicyInfo] = &[
    PolicyInfo {
        name: "lrr",
        description: "round robin over the warps that may be fetched for, barrier waiters included",
        parameters: &[ELIGIBLE],
    },
    PolicyInfo {
        name: "cff",
        description: "critical fetch first: in the issue policy's order, not for warps at a barrier",
        parameters: &[ELIGIBLE, CFF_WAITERS],
    },
    PolicyInfo {
        name: "fef",
        description: "fewest entries first: the warp with the emptiest buffer, ties round robin; needs fetch.eligible = room",
        parameters: &[ELIGIBLE],
    },
];

const ELIGIBLE: ParamInfo = ParamInfo {
    name: "fetch.eligible",
    kind: ParamKind::Choice(&["empty", "room"]),
    default: "empty",
    description: "a warp may be fetched for when its instruction buffer is empty, or has room",
    unit: "",
};

const CFF_WAITERS: ParamInfo = ParamInfo {
    name: "fetch.cff_waiters",
    kind: ParamKind::Choice(&["never", "last"]),
    default: "never",
    description: "whether a warp at a barrier is fetched for when no other warp wants the port",
    unit: "",
};

/// Settings that a fetch policy cannot do without, as `--set` takes them. A machine that lacks
/// them is refused.
pub fn needs(policy: &str) -> &'static [&'static str] {
    match policy {
        "fef" => &["fetch.eligible=room"],
        _ => &[],
    }
}

/// Makes the fetch policy that `machine` names; the name has been checked.
pub fn make(machine: &Machine, domains: usize) -> Option<Box<dyn FetchPolicy>> {
    Some(match machine.fetch.policy.as_str() {
        "lrr" => Box::new(lrr::Lrr::new(domains)),
        "cff" => Box::new(cff::Cff::new(domains, machine.fetch.cff_waiters)),
        "fef" => Box::new(fef::Fef::new(domains)),
        _ => return None,
    })
}
