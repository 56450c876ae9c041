//! Mechanisms of your own in place of the machine's, on every SM, reference SMs among them.

use super::Gpu;
use super::run::Site;
use crate::divergence::DivergenceModel;
use crate::fetch::FetchPolicy;
use crate::mechanism::CacheName;
use crate::prefetch::Prefetcher;
use crate::replacement::Replacement;
use crate::schedule::IssuePolicy;

impl Gpu {
    /// Puts an issue policy of your own in place of the machine's, on every SM: `make` gets the
    /// number of domains (schedulers times slices) it serves. For policies that are not in
    /// [`schedule::POLICIES`](crate::schedule::POLICIES); call it before the first launch.
    pub fn replace_issue_policy(&mut self, make: impl Fn(usize) -> Box<dyn IssuePolicy>) {
        for Site { sm, .. } in &mut self.sms {
            let policy = make(sm.domain_count());
            sm.replace_policy(policy, &self.machine);
        }
        for sm in &mut self.reference {
            let policy = make(sm.domain_count());
            sm.replace_policy(policy);
        }
    }

    /// Puts a replacement policy of your own in place of the machine's, in every cache of that name: `make` gets the
    /// number of sets and ways. For policies that are not in [`replacement::POLICIES`](crate::replacement::POLICIES);
    /// call it before anything is copied or launched.
    pub fn replace_replacement_policy(
        &mut self,
        cache: CacheName,
        make: impl Fn(usize, usize) -> Box<dyn Replacement>,
    ) {
        if cache == CacheName::L2 {
            return self.memory.replace_policy(&make);
        }
        for Site { sm, .. } in &mut self.sms {
            sm.replace_replacement_policy(cache, &make);
        }
        for sm in &mut self.reference {
            sm.replace_replacement_policy(cache, &make);
        }
    }

    /// Puts a prefetcher of your own in place of the machine's, in the L1 data cache of every SM. For prefetchers that
    /// are not in [`prefetch::PREFETCHERS`](crate::prefetch::PREFETCHERS); call it before the first launch.
    pub fn replace_prefetcher(&mut self, make: impl Fn() -> Box<dyn Prefetcher>) {
        for Site { sm, .. } in &mut self.sms {
            sm.replace_prefetcher(make(), &self.machine);
        }
        for sm in &mut self.reference {
            sm.replace_prefetcher(make());
        }
    }

    /// As [`replace_issue_policy`](Gpu::replace_issue_policy), for fetch policies that are not in
    /// [`fetch::POLICIES`](crate::fetch::POLICIES).
    pub fn replace_fetch_policy(&mut self, make: impl Fn(usize) -> Box<dyn FetchPolicy>) {
        for Site { sm, .. } in &mut self.sms {
            sm.replace_fetch_policies(&make);
        }
        for sm in &mut self.reference {
            sm.replace_fetch_policies(&make);
        }
    }

    /// As [`replace_issue_policy`](Gpu::replace_issue_policy), for divergence models that are not in
    /// [`divergence::MODELS`](crate::divergence::MODELS).
    ///
    /// # Panics
    ///
    /// When the model has a pool of warps and the machine's has none, or the other way round.
    pub fn replace_divergence_model(&mut self, make: impl Fn() -> Box<dyn DivergenceModel>) {
        for Site { sm, .. } in &mut self.sms {
            sm.replace_model(make());
        }
        for sm in &mut self.reference {
            sm.replace_model(make());
        }
    }
}
