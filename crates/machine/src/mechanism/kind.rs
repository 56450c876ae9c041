//! The kinds of mechanisms that a machine chooses one of, each.

use super::Choice;
use crate::Machine;

/// A cache whose lines have several ways to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheName {
    /// An SM's data cache.
    L1d,
    /// Its instruction cache.
    L1i,
    /// Its constant cache.
    Constant,
    /// Its texture cache.
    Texture,
    /// A slice of L2.
    L2,
}

/// What a mechanism decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Which warp issues.
    Scheduler,
    /// Which warp is fetched for.
    Fetch,
    /// Which threads go together.
    Divergence,
    /// When lanes are switched off.
    Gating,
    /// When warps are issued as two halves.
    Folding,
    /// Which line of a cache makes room.
    Replacement(CacheName),
    /// Which lines the L1 data cache fetches before they are asked for.
    Prefetch,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 11] = [
        Kind::Scheduler,
        Kind::Fetch,
        Kind::Divergence,
        Kind::Gating,
        Kind::Folding,
        Kind::Replacement(CacheName::L1d),
        Kind::Replacement(CacheName::L1i),
        Kind::Replacement(CacheName::Constant),
        Kind::Replacement(CacheName::Texture),
        Kind::Replacement(CacheName::L2),
        Kind::Prefetch,
    ];

    /// The section of a machine file that chooses one.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Scheduler => "scheduler",
            Kind::Fetch => "fetch.policy",
            Kind::Divergence => "divergence",
            Kind::Gating => "gating",
            Kind::Folding => "folding",
            Kind::Replacement(CacheName::L1d) => "l1d.replacement",
            Kind::Replacement(CacheName::L1i) => "l1i.replacement",
            Kind::Replacement(CacheName::Constant) => "constant.replacement",
            Kind::Replacement(CacheName::Texture) => "texture.replacement",
            Kind::Replacement(CacheName::L2) => "l2.replacement",
            Kind::Prefetch => "l1d.prefetch",
        }
    }

    /// The key that names it.
    pub fn name_key(self) -> &'static str {
        match self {
            Kind::Scheduler => "scheduler.name",
            Kind::Fetch => "fetch.policy.name",
            Kind::Divergence => "divergence.name",
            Kind::Gating => "gating.name",
            Kind::Folding => "folding.name",
            Kind::Replacement(CacheName::L1d) => "l1d.replacement.name",
            Kind::Replacement(CacheName::L1i) => "l1i.replacement.name",
            Kind::Replacement(CacheName::Constant) => "constant.replacement.name",
            Kind::Replacement(CacheName::Texture) => "texture.replacement.name",
            Kind::Replacement(CacheName::L2) => "l2.replacement.name",
            Kind::Prefetch => "l1d.prefetch.name",
        }
    }

    /// What one is called in messages.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Scheduler => "scheduler",
            Kind::Fetch => "fetch policy",
            Kind::Divergence => "divergence model",
            Kind::Gating => "gating policy",
            Kind::Folding => "folding policy",
            Kind::Replacement(_) => "replacement policy",
            Kind::Prefetch => "prefetcher",
        }
    }

    /// What a machine has chosen.
    pub fn chosen(self, machine: &Machine) -> &Choice {
        match self {
            Kind::Scheduler => &machine.scheduler,
            Kind::Fetch => &machine.fetch.policy,
            Kind::Divergence => &machine.divergence,
            Kind::Gating => &machine.gating,
            Kind::Folding => &machine.folding,
            Kind::Replacement(CacheName::L1d) => &machine.l1d.cache.replacement,
            Kind::Replacement(CacheName::L1i) => &machine.l1i.replacement,
            Kind::Replacement(CacheName::Constant) => &machine.constant.replacement,
            Kind::Replacement(CacheName::Texture) => &machine.texture.replacement,
            Kind::Replacement(CacheName::L2) => &machine.l2.replacement,
            Kind::Prefetch => &machine.l1d.prefetch,
        }
    }
}
