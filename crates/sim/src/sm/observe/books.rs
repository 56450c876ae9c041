//! What accounting writes to: the statistics, the observer's news, and the issue policy, whose
//! order says which warp a scheduler that issued nothing waited for.

use super::Watch;
use crate::schedule::IssuePolicy;
use crate::stats::SmStats;

/// The books of an SM.
pub struct Books {
    /// Which warp goes first.
    pub policy: Box<dyn IssuePolicy>,
    /// Counters.
    pub stats: SmStats,
    /// What the observer hears.
    pub watch: Watch,
    refreshes: bool,
    rotates: bool,
    gangs: bool,
}

impl Books {
    /// Empty books.
    pub fn new(policy: Box<dyn IssuePolicy>) -> Books {
        Books {
            refreshes: policy.refreshes(),
            rotates: policy.rotates(),
            gangs: policy.gangs(),
            policy,
            stats: SmStats::default(),
            watch: Watch::default(),
        }
    }

    /// Puts another policy in place, before anything runs.
    pub fn replace_policy(&mut self, policy: Box<dyn IssuePolicy>) {
        *self = Books::new(policy);
    }

    /// Whether the policy wants to look at the warps.
    #[inline]
    pub fn refreshes(&self) -> bool {
        self.refreshes
    }

    /// Whether the policy's order changes as time passes.
    #[inline]
    pub fn rotates(&self) -> bool {
        self.rotates
    }

    /// Whether the policy lets warps issue together.
    #[inline]
    pub fn gangs(&self) -> bool {
        self.gangs
    }

    /// Whether the domains of the SM are to be looked at in step: the observer hears things in
    /// order, and such a policy sees them in order. (One that rotates is asked for its order by
    /// critical fetch too: it must be the order of this very cycle.)
    pub fn want_step(&self) -> bool {
        self.refreshes || self.rotates || self.gangs || self.watch.is_on()
    }
}
