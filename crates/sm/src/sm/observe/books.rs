//! What accounting writes to: the statistics, the observer's news, and the issue policy, whose
//! order says which warp a scheduler that issued nothing waited for.

use super::Watch;
use crate::schedule::{Chosen, IssuePolicy};
use crate::stats::SmStats;

/// The books of an SM.
pub struct Books {
    /// Which warp goes first.
    pub policy: Chosen,
    /// Counters.
    pub stats: SmStats,
    /// What the observer hears.
    pub watch: Watch,
    considers: bool,
    plans: bool,
    hears_memory: bool,
    gang_fetches: u32,
    hears_cache: bool,
    ticks: bool,
}

impl Books {
    /// Empty books.
    pub fn new(mut policy: Box<dyn IssuePolicy>) -> Books {
        Books {
            considers: policy.considers().is_some(),
            plans: policy.plan().is_some(),
            hears_memory: policy.plan().is_some_and(|plan| plan.hears_memory()),
            gang_fetches: policy.plan().map_or(0, |plan| plan.fetches()),
            hears_cache: policy.hears_cache().is_some(),
            ticks: policy.ticks(),
            policy: Chosen::new(policy),
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
    pub fn considers(&self) -> bool {
        self.considers
    }

    /// Whether the policy plans the issues of all schedulers together.
    #[inline]
    pub fn plans(&self) -> bool {
        self.plans
    }

    /// Whether a policy that plans wants to hear of warps that memory has made ready.
    #[inline]
    pub fn hears_memory(&self) -> bool {
        self.hears_memory
    }

    /// How often per cycle several warps are fetched for together.
    #[inline]
    pub fn gang_fetches(&self) -> u32 {
        self.gang_fetches
    }

    /// Whether the policy wants to hear what happens in the L1 data cache.
    #[inline]
    pub fn hears_cache(&self) -> bool {
        self.hears_cache
    }

    /// Whether the policy does something by itself.
    #[inline]
    pub fn ticks(&self) -> bool {
        self.ticks
    }

    /// Whether the domains of the SM are to be looked at in step: the observer hears things in
    /// order, and a policy that looks at warps sees them in order.
    pub fn want_step(&self) -> bool {
        self.considers || self.watch.is_on()
    }
}
