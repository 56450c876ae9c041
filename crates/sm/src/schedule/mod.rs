//! Issue policies: which warp issues next. One file per policy, registered in [`POLICIES`].

mod block_first;
mod blocks;
mod ccws;
mod chosen;
mod gangs;
mod gto;
mod lrr;
mod majority;
mod mwf;
mod oldest;
pub mod order;
pub(crate) mod plan;
mod progress;
#[cfg(test)]
#[path = "tests/properties.rs"]
mod properties;
mod saws;
mod tls;
mod type_first;
pub(crate) mod view;

use crate::divergence::Group;
pub use crate::place::Place;
use crate::time::Cycle;
pub(crate) use chosen::Chosen;
pub use plan::{FetchView, GangView, IssuePlan, IssueView, Together};
use std::any::Any;
pub use view::{CacheEvent, Considers, Facts, HearsCache, MindsPower, WarpInfo};
use warpsim_machine::Machine;
use warpsim_machine::mechanism::{Info, Values};

/// An issue policy: one instance serves all schedulers (domains) of an SM, so that policies
/// can share state between them.
///
/// # Contract
///
/// A policy is an order of the warps of each domain, ready or not: [`before`](IssuePolicy::before)
/// and [`first`](IssuePolicy::first) tell it. In every cycle the SM issues from the first of the
/// warps that are ready in a domain, and calls [`issued`](IssuePolicy::issued). The order may
/// change only in the hooks and in
/// [`advance`](IssuePolicy::advance). When nothing can happen the SM skips cycles: it then calls
/// `advance(domain, from, to)` once instead of cycle by cycle, and never skips beyond
/// [`next`](IssuePolicy::next). Skipped and stepped runs must come out the same.
pub trait IssuePolicy: Any + Send {
    /// A warp has come. `age` grows with every launch on the SM.
    fn launched(&mut self, place: Place, age: u64, block: u16);

    /// A warp has finished and left; its block may still be there.
    fn finished(&mut self, place: Place);

    /// A warp has issued. A policy that [plans](IssuePolicy::plan) has named it, and does not hear
    /// of it again.
    fn issued(&mut self, place: Place);

    /// Whether `a` is looked at before `b`.
    fn before(&self, domain: usize, a: u8, b: u8) -> bool;

    /// The warp that is looked at first among these.
    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        let mut best = None;
        let mut rest = among;
        while rest != 0 {
            let i = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            best = match best {
                Some(b) if !self.before(domain, i, b) => Some(b),
                _ => Some(i),
            };
        }
        best
    }

    /// In a pool of warps: a warp that can issue has come to stand at
    /// a place, or has changed there. It stands there until it issues or is `finished`.
    fn pooled(&mut self, place: Place, group: &Group) {
        let _ = (place, group);
    }

    /// The divergence model has put other threads at a place, whose warp goes on (or the warp there
    /// goes on with some of its own).
    fn restarted(&mut self, place: Place) {
        let _ = place;
    }

    /// A warp of `block` has come to a barrier in cycle `now` and waits there. (One that only
    /// announces itself, `bar.arrive`, does not wait.)
    fn waits(&mut self, place: Place, block: u16, now: Cycle) {
        let _ = (place, block, now);
    }

    /// A barrier of `block` has opened: these warps, which waited there, go on.
    fn released(&mut self, block: u16, warps: &mut dyn Iterator<Item = Place>) {
        let _ = (block, warps);
    }

    /// A warp of a virtual block has gone on to its next logical block.
    fn iterated(&mut self, place: Place, block: u16) {
        let _ = (place, block);
    }

    /// A launch begins, with blocks left to be handed out; or none is left. Told of the latter
    /// only if it [wants to hear](IssuePolicy::hears_blocks).
    fn blocks_left(&mut self, any: bool) {
        let _ = any;
    }

    /// Whether it wants to hear when no block is left to be handed out.
    fn hears_blocks(&self) -> bool {
        false
    }

    /// Cycles `from..to` pass with nothing issued by `domain`, which has warps.
    fn advance(&mut self, domain: usize, from: Cycle, to: Cycle) {
        let _ = (domain, from, to);
    }

    /// The next cycle in which the policy itself changes something.
    fn next(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Whether [`tick`](IssuePolicy::tick) does anything.
    fn ticks(&self) -> bool {
        false
    }

    /// Called in every cycle that is not skipped and at or behind [`next`](IssuePolicy::next),
    /// before issue.
    fn tick(&mut self, now: Cycle) {
        let _ = now;
    }

    /// Itself, if it looks at warps before it chooses.
    fn considers(&mut self) -> Option<&mut dyn Considers> {
        None
    }

    /// Itself, if it plans the issues of all schedulers together. It is then not asked
    /// which is [`first`](IssuePolicy::first) among those that are ready.
    fn plan(&mut self) -> Option<&mut dyn IssuePlan> {
        None
    }

    /// The warps of a domain that it keeps in an active set; those it has no such set for are all
    /// active.
    fn active(&self, domain: usize) -> u64 {
        let _ = domain;
        !0
    }

    /// Itself, if it goes by the lanes' power.
    fn minds_power(&mut self) -> Option<&mut dyn MindsPower> {
        None
    }

    /// Itself, if it wants to hear what warps do in the L1 data cache.
    fn hears_cache(&mut self) -> Option<&mut dyn HearsCache> {
        None
    }
}

/// An issue policy as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Name, description, parameters.
    pub info: Info,
    /// It looks at the warps of a pool, and there must be one.
    pub needs_pool: bool,
    /// It ranks blocks: not for warps that hold threads of several.
    pub ranks_blocks: bool,
    /// Makes it for an SM of a machine with this many domains.
    pub make: fn(&Values, &Machine, usize) -> Box<dyn IssuePolicy>,
}

/// Every issue policy.
pub const POLICIES: &[Policy] = &[
    lrr::POLICY,
    gto::POLICY,
    oldest::POLICY,
    tls::POLICY,
    type_first::gates::POLICY,
    type_first::origami::POLICY,
    blocks::AGE,
    blocks::ROUND_ROBIN,
    blocks::STICKY,
    mwf::LRR,
    mwf::GTO,
    saws::POLICY,
    ccws::POLICY,
    majority::POLICY,
    gangs::POLICY,
    progress::POLICY,
];

fn find(name: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|p| p.info.name == name)
}

/// Whether a policy needs a pool of warps.
pub fn needs_pool(name: &str) -> bool {
    find(name).is_some_and(|p| p.needs_pool)
}

/// Whether a policy ranks blocks.
pub fn ranks_blocks(name: &str) -> bool {
    find(name).is_some_and(|p| p.ranks_blocks)
}

/// Makes the issue policy that a machine has chosen, for `domains` schedulers.
///
/// # Panics
///
/// When there is no such policy: the machine has not been
/// [validated](warpsim_machine::check::validate::validate).
pub fn make(machine: &Machine, domains: usize) -> Box<dyn IssuePolicy> {
    let choice = &machine.scheduler;
    let policy = find(&choice.name).expect("the machine has been validated");
    (policy.make)(&choice.values, machine, domains)
}
