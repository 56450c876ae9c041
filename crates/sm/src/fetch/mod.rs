//! Fetch policies: for which warp the next instructions are fetched. One file per policy,
//! registered in [`POLICIES`].

mod cff;
mod fef;
mod lrr;
mod round;

use crate::schedule::{IssuePolicy, Place};
pub use round::{Found, Round};
use std::any::Any;
use warpsim_machine::Machine;
use warpsim_machine::mechanism::{Info, Need, Values};

/// What a fetch policy sees in a cycle, as bit sets by domain.
pub struct FetchView<'a> {
    /// Warps that may be fetched for; not all empty.
    pub eligible: &'a [u64],
    /// Warps of a domain that wait at a barrier.
    pub at_barrier: &'a dyn Fn(usize) -> u64,
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
/// eligible (in which several are, if it [takes the only one](FetchPolicy::takes_only_one)), and returns
/// one of the eligible warps (or none, if it prefers to wait). State changes only there, so that
/// cycles in which nothing is eligible can be skipped.
pub trait FetchPolicy: Any + Send {
    /// Whether it never fetches for a warp that waits at a barrier. Such warps are then not
    /// eligible while they wait, so that cycles in which there is no other can be skipped.
    fn skips_waiters(&self) -> bool {
        false
    }

    /// Whether it fetches for the one eligible warp where there is only one, and has nothing to remember
    /// of its choices: [`select`](FetchPolicy::select) is then asked only where there are several.
    fn takes_only_one(&self) -> bool {
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

/// Where a policy begins its round, if it is [`Lrr`](lrr::Lrr), the most common one: the unit that fetches goes
/// round without a call then.
pub(crate) fn round_of(policy: &dyn FetchPolicy) -> Option<Round> {
    let itself: &dyn Any = policy;
    itself.downcast_ref::<lrr::Lrr>().map(|lrr| lrr.round)
}

/// A fetch policy as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Name, description, parameters.
    pub info: Info,
    /// What it cannot do without.
    pub needs: &'static [Need],
    /// Makes it for an SM of a machine with this many domains.
    pub make: fn(&Values, &Machine, usize) -> Box<dyn FetchPolicy>,
}

/// Every fetch policy.
pub const POLICIES: &[Policy] = &[lrr::POLICY, cff::POLICY, fef::POLICY];

fn find(name: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|p| p.info.name == name)
}

/// Settings that a fetch policy cannot do without. A machine that lacks them is refused.
pub fn needs(name: &str) -> &'static [Need] {
    find(name).map_or(&[], |p| p.needs)
}

/// Makes the fetch policy that a machine has chosen.
///
/// # Panics
///
/// When there is no such policy: the machine has not been
/// [validated](warpsim_machine::check::validate::validate).
pub fn make(machine: &Machine, domains: usize) -> Box<dyn FetchPolicy> {
    let choice = &machine.fetch.policy;
    let policy = find(&choice.name).expect("the machine has been validated");
    (policy.make)(&choice.values, machine, domains)
}
