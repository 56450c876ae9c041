//! Issue policies: which warp issues next. One file per policy, registered in [`POLICIES`].

mod block_first;
mod blocks;
mod gto;
mod lrr;
mod majority;
mod mwf;
mod oldest;
pub mod order;
#[cfg(test)]
mod properties;
mod saws;
mod tls;
#[cfg(test)]
mod toy_gang;

use crate::config::Machine;
use crate::divergence::{Group, Groups};
use crate::mechanism::{Info, Values};
pub use crate::place::Place;
use crate::time::Cycle;

/// What a policy may know of the warps of a domain in a cycle, as bit sets by index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Warps that have come and not finished.
    pub running: u64,
    /// Waiting at a barrier or fence, for an atomic, or asleep.
    pub waiting: u64,
    /// The next instruction reads a register owed by a global, local or texture load.
    pub long_wait: u64,
}

/// What a policy may look at when it puts a gang together.
pub struct GangView<'a> {
    /// Warps that can still issue this cycle, by domain.
    pub ready: &'a [u64],
    /// What the slots hold.
    pub groups: &'a Groups,
}

impl GangView<'_> {
    /// Whether a warp can issue.
    pub fn is_ready(&self, place: Place) -> bool {
        self.ready[place.domain as usize] >> place.index & 1 != 0
    }

    /// The group at a place.
    pub fn group(&self, place: Place) -> &Group {
        let slot = place.index as usize * self.ready.len() + place.domain as usize;
        self.groups.get(slot as u16)
    }
}

/// An issue policy: one instance serves all schedulers (domains) of an SM, so that policies
/// can share state between them.
///
/// # Contract
///
/// In every cycle and for each domain the SM calls [`refresh`](IssuePolicy::refresh), then, if
/// any warp is ready, [`select`](IssuePolicy::select) and [`issued`](IssuePolicy::issued). The
/// order given by [`before`](IssuePolicy::before) and [`first`](IssuePolicy::first) is the one in
/// which `select` looks at warps, ready or not; it may change only in the hooks and in
/// [`advance`](IssuePolicy::advance). When nothing can happen the SM skips cycles: it then calls
/// `advance(domain, from, to)` once instead of cycle by cycle, and never skips beyond
/// [`next`](IssuePolicy::next). Skipped and stepped runs must come out the same.
pub trait IssuePolicy: Send {
    /// A warp has come. `age` grows with every launch on the SM.
    fn launched(&mut self, place: Place, age: u64, block: u16);

    /// A warp has finished and left; its block may still be there.
    fn finished(&mut self, place: Place);

    /// Whether [`refresh`](IssuePolicy::refresh) does anything.
    fn refreshes(&self) -> bool {
        false
    }

    /// Looks at the state of a domain and says which of its warps may be considered now.
    fn refresh(&mut self, domain: usize, facts: &Facts) -> u64 {
        let _ = (domain, facts);
        !0
    }

    /// Chooses one of the ready warps of `domain`; `ready[domain]` is not zero.
    fn select(&mut self, domain: usize, ready: &[u64]) -> u8;

    /// Whether [`gang`](IssuePolicy::gang) ever adds anybody.
    fn gangs(&self) -> bool {
        false
    }

    /// Adds to `members` (which holds the leader) other warps that issue in lock step with it:
    /// ready, at the same PC, each of another domain and on other lanes.
    fn gang(&mut self, leader: Place, view: &GangView, members: &mut Vec<Place>) {
        let _ = (leader, view, members);
    }

    /// The warps that issue in lock step with the one at `place` as long as they stay together:
    /// what is fetched for one of them is fetched for all.
    fn gang_of(&self, place: Place) -> Vec<Place> {
        let _ = place;
        Vec::new()
    }

    /// A warp has issued.
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

    /// In a [pool](crate::divergence::pool) of warps: a warp that can issue has come to stand at
    /// a place, or has changed there. It stands there until it issues or is `finished`.
    fn pooled(&mut self, place: Place, group: &Group) {
        let _ = (place, group);
    }

    /// Whether it ranks blocks: not for warps that hold threads of several.
    fn ranks_blocks(&self) -> bool {
        false
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

    /// Whether the order changes in [`advance`](IssuePolicy::advance). It is then called for one
    /// cycle at a time.
    fn rotates(&self) -> bool {
        false
    }

    /// Cycles `from..to` pass with nothing issued by `domain`.
    fn advance(&mut self, domain: usize, from: Cycle, to: Cycle) {
        let _ = (domain, from, to);
    }

    /// The next cycle in which the policy itself changes something.
    fn next(&self) -> Cycle {
        Cycle::NEVER
    }
}

/// An issue policy as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Name, description, parameters.
    pub info: Info,
    /// It looks at the warps of a [pool](crate::divergence::pool), and there must be one.
    pub needs_pool: bool,
    /// Makes it for an SM of a machine with this many domains.
    pub make: fn(&Values, &Machine, usize) -> Box<dyn IssuePolicy>,
}

/// Every issue policy.
pub const POLICIES: &[Policy] = &[
    lrr::POLICY,
    gto::POLICY,
    oldest::POLICY,
    tls::POLICY,
    blocks::AGE,
    blocks::ROUND_ROBIN,
    blocks::STICKY,
    mwf::LRR,
    mwf::GTO,
    saws::POLICY,
    majority::POLICY,
];

fn find(name: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|p| p.info.name == name)
}

/// Whether a policy needs a [pool](crate::divergence::pool) of warps.
pub fn needs_pool(name: &str) -> bool {
    find(name).is_some_and(|p| p.needs_pool)
}

/// Makes the issue policy that a machine has chosen, for `domains` schedulers.
///
/// # Panics
///
/// When there is no such policy: the machine has not been
/// [validated](crate::config::validate::validate).
pub fn make(machine: &Machine, domains: usize) -> Box<dyn IssuePolicy> {
    let choice = &machine.scheduler;
    let policy = find(&choice.name).expect("the machine has been validated");
    (policy.make)(&choice.values, machine, domains)
}
