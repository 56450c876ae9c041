//! Mechanisms of a user's own in place of those of the machine, before anything runs.

use super::Sm;
use super::execute::Pipelines;
use crate::divergence::DivergenceModel;
use crate::fetch::FetchPolicy;
use crate::mechanism::CacheName;
use crate::prefetch::Prefetcher;
use crate::replacement::Replacement;
use crate::schedule::IssuePolicy;
use crate::sm::memory::L1;
use crate::sm::units::UnitPlan;

/// Makes a replacement policy for so many sets and ways.
type Make<'a> = &'a dyn Fn(usize, usize) -> Box<dyn Replacement>;

impl Sm {
    /// How many domains an issue policy serves.
    pub fn domain_count(&self) -> usize {
        self.layout.domains()
    }

    /// Another issue policy.
    pub fn replace_policy(&mut self, mut policy: Box<dyn IssuePolicy>) {
        let minded = policy.minds_power().is_some();
        self.plans = policy.plan().is_some();
        self.policy = policy;
        let plan = UnitPlan::of(&self.machine);
        self.pipelines = Pipelines::new(&self.machine, plan, minded);
    }

    /// Another divergence model, of the same kind: with a pool of warps or without.
    pub fn replace_model(&mut self, mut model: Box<dyn DivergenceModel>) {
        let pools = model.pool().is_some();
        assert!(pools == self.pools, "slots were made for the other kind");
        self.model = model;
    }

    /// Other fetch policies, one for each unit, made for all domains.
    pub fn replace_fetch_policies(&mut self, make: &dyn Fn(usize) -> Box<dyn FetchPolicy>) {
        let domains = self.domain_count();
        for unit in &mut self.fetch.units {
            unit.policy = make(domains);
        }
    }

    /// Another replacement policy, in one of its caches.
    pub fn replace_replacement_policy(&mut self, cache: CacheName, make: Make) {
        let cache: &mut L1 = match cache {
            CacheName::L1i => &mut self.fetch.cache.cache,
            of_memory => self.memory.cache_named(of_memory),
        };
        cache.replace_policy(make);
    }

    /// Another prefetcher, in the L1 data cache.
    pub fn replace_prefetcher(&mut self, prefetcher: Box<dyn Prefetcher>) {
        self.memory.replace_prefetcher(prefetcher, &self.machine);
    }
}
