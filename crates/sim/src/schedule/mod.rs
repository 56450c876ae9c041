//! Issue policies: which warp issues next. One file a policy, registered in [`POLICIES`].

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
pub use crate::place::Place;
use crate::policy::{ParamInfo, ParamKind, PolicyInfo};
use crate::time::Cycle;
use block_first::Inside;
use blocks::Priority;

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

/// Every issue policy.
pub const POLICIES: &[PolicyInfo] = &[
    PolicyInfo {
        name: "lrr",
        description: "loose round robin: the warp after the one issued last, then on around",
        parameters: &[],
    },
    PolicyInfo {
        name: "gto",
        description: "greedy then oldest: the warp issued last while it is ready, else the oldest",
        parameters: &[],
    },
    PolicyInfo {
        name: "oldest",
        description: "always the oldest ready warp",
        parameters: &[],
    },
    PolicyInfo {
        name: "tls",
        description: "two levels: round robin in a small active set; warps that wait long leave it",
        parameters: &[ParamInfo {
            name: "sm.tls_active",
            kind: ParamKind::Integer { low: 1, high: 64 },
            default: "6",
            description: "active warps of each scheduler",
            unit: "warps",
        }],
    },
    PolicyInfo {
        name: "age",
        description: "the block that came first, round robin in it; goes with divergence tbc",
        parameters: &[],
    },
    PolicyInfo {
        name: "rrb",
        description: "each block in turn, a cycle long, round robin in it; goes with divergence tbc",
        parameters: &[],
    },
    PolicyInfo {
        name: "srr",
        description: "the block that issued last while any of its warps is ready, round robin in it; goes with divergence tbc",
        parameters: &[],
    },
    PolicyInfo {
        name: "mwf-lrr",
        description: "most waiting first: the block with most warps at a barrier, round robin in it",
        parameters: &[BLOCK_TIES, COUNT_EXITED],
    },
    PolicyInfo {
        name: "mwf-gto",
        description: "most waiting first: the block with most warps at a barrier, greedy then oldest in it",
        parameters: &[BLOCK_TIES, COUNT_EXITED],
    },
    PolicyInfo {
        name: "saws",
        description: "synchronisation aware: the block that hit its barrier first, greedy then oldest in it",
        parameters: &[BLOCK_TIES],
    },
    PolicyInfo {
        name: "majority",
        description: "for dwf and dwf-wb: all warps at the PC where most pooled threads are, in the order in which they were formed, then the next such PC",
        parameters: &[],
    },
];

const BLOCK_TIES: ParamInfo = ParamInfo {
    name: "sm.block_ties",
    kind: ParamKind::Choice(&["age", "slot"]),
    default: "age",
    description: "which of two blocks of the same rank goes first: the older, or the one in the lower slot",
    unit: "",
};

const COUNT_EXITED: ParamInfo = ParamInfo {
    name: "sm.mwf_counts_exited",
    kind: ParamKind::Flag,
    default: "false",
    description: "finished warps count as waiting, at their block's end",
    unit: "",
};

/// Makes the issue policy that `machine` names, for `domains` schedulers. The name has been
/// checked against [`POLICIES`].
pub fn make(machine: &Machine, domains: usize) -> Option<Box<dyn IssuePolicy>> {
    Some(match machine.sm.scheduler.as_str() {
        "lrr" => Box::new(lrr::Lrr::new(domains)),
        "gto" => Box::new(gto::Gto::new(domains)),
        "oldest" => Box::new(oldest::Oldest::new(domains)),
        "majority" => Box::new(majority::Majority::new(domains)),
        "age" => Box::new(blocks::Blocks::new(domains, Priority::Age)),
        "rrb" => Box::new(blocks::Blocks::new(domains, Priority::RoundRobin)),
        "srr" => Box::new(blocks::Blocks::new(domains, Priority::Sticky)),
        "tls" => Box::new(tls::Tls::new(domains, machine.sm.tls_active as usize)),
        "mwf-lrr" => mwf(machine, domains, Inside::Lrr),
        "mwf-gto" => mwf(machine, domains, Inside::Gto),
        "saws" => Box::new(saws::Saws::new(
            saws::FirstArrival,
            Inside::Gto,
            machine,
            domains,
        )),
        _ => return None,
    })
}

fn mwf(machine: &Machine, domains: usize, inside: Inside) -> Box<dyn IssuePolicy> {
    let ranking = mwf::MostWaiting {
        count_exited: machine.sm.mwf_counts_exited,
    };
    Box::new(mwf::Mwf::new(ranking, inside, machine, domains))
}
