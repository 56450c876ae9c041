//! The issue policy of an SM. What is asked of it with every instruction is asked of the most common one without a call.

use super::gto::Gto;
use super::{IssuePolicy, Place};
use crate::time::Cycle;
use std::any::Any;
use std::ops::{Deref, DerefMut};

/// The policy.
pub enum Chosen {
    /// Greedy then oldest.
    Gto(Gto),
    /// Any other.
    Other(Box<dyn IssuePolicy>),
}

impl Chosen {
    /// This one.
    pub fn new(mut policy: Box<dyn IssuePolicy>) -> Chosen {
        let itself: &mut dyn Any = &mut *policy;
        match itself.downcast_mut::<Gto>() {
            Some(gto) => Chosen::Gto(std::mem::replace(gto, Gto::new(0))),
            None => Chosen::Other(policy),
        }
    }

    /// Asks the policy for the [first](IssuePolicy::first) of these warps.
    #[inline(always)]
    pub fn first(&self, domain: usize, among: u64) -> Option<u8> {
        match self {
            Chosen::Gto(gto) => gto.first(domain, among),
            Chosen::Other(policy) => policy.first(domain, among),
        }
    }

    /// Asks the policy whether a warp goes [before](IssuePolicy::before) another.
    #[inline(always)]
    pub fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        match self {
            Chosen::Gto(gto) => gto.before(domain, a, b),
            Chosen::Other(policy) => policy.before(domain, a, b),
        }
    }

    /// Tells the policy that a warp has [issued](IssuePolicy::issued).
    #[inline(always)]
    pub fn issued(&mut self, place: Place) {
        match self {
            Chosen::Gto(gto) => gto.issued(place),
            Chosen::Other(policy) => policy.issued(place),
        }
    }

    /// Whether it wants to hear that time has passed.
    #[inline(always)]
    pub fn hears_time(&self) -> bool {
        matches!(self, Chosen::Other(_))
    }

    /// Tells the policy that time has [passed](IssuePolicy::advance).
    #[inline(always)]
    pub fn advance(&mut self, domain: usize, from: Cycle, to: Cycle) {
        if let Chosen::Other(policy) = self {
            policy.advance(domain, from, to);
        }
    }
}

impl Deref for Chosen {
    type Target = dyn IssuePolicy;
    #[inline]
    fn deref(&self) -> &Self::Target {
        match self {
            Chosen::Gto(gto) => gto,
            Chosen::Other(policy) => &**policy,
        }
    }
}

impl DerefMut for Chosen {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Chosen::Gto(gto) => gto,
            Chosen::Other(policy) => &mut **policy,
        }
    }
}
