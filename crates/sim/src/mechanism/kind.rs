//! The kinds of mechanisms that a machine chooses one of, each.

use super::{Choice, Info};
use crate::config::Machine;
use crate::{divergence, fetch, power, prefetch, replacement, schedule};
use warpsim_present::{listed, nearest};

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

    /// Every mechanism of this kind.
    pub fn registered(self) -> Vec<Info> {
        match self {
            Kind::Scheduler => schedule::POLICIES.iter().map(|p| p.info).collect(),
            Kind::Fetch => fetch::POLICIES.iter().map(|p| p.info).collect(),
            Kind::Divergence => divergence::MODELS.iter().map(|m| m.info).collect(),
            Kind::Gating => power::GATING.iter().map(|g| g.info).collect(),
            Kind::Folding => power::FOLDING.iter().map(|f| f.info).collect(),
            Kind::Replacement(_) => replacement::POLICIES.iter().map(|p| p.info).collect(),
            Kind::Prefetch => prefetch::PREFETCHERS.iter().map(|p| p.info).collect(),
        }
    }

    /// A mechanism by its name.
    pub fn find(self, name: &str) -> Option<Info> {
        self.registered().into_iter().find(|i| i.name == name)
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

    /// That no mechanism has this name, and which there are.
    pub fn unknown(self, name: &str) -> (String, String) {
        let all = self.registered();
        let names = || all.iter().map(|i| i.name);
        let hint = nearest(name, names())
            .map(|n| format!("did you mean `{n}`? "))
            .unwrap_or_default();
        let known = names().collect::<Vec<_>>().join(", ");
        (
            format!("no {} is called `{name}`", self.word()),
            format!("{hint}there are: {known}"),
        )
    }

    /// That a mechanism has no such parameter, and what can be done about it.
    pub fn no_parameter(self, mechanism: &Info, name: &str) -> (String, String) {
        let (key, word) = (self.key(), self.word());
        let own: Vec<&str> = mechanism.parameters.iter().map(|p| p.name()).collect();
        let all = self.registered();
        let owners: Vec<&str> = all
            .iter()
            .filter(|i| i.parameter(name).is_some())
            .map(|i| i.name)
            .collect();
        let advice = match (owners.first(), nearest(name, own.iter().copied())) {
            (Some(owner), _) => format!(
                "`{name}` is a parameter of {}: choose {}, or write `{key}.{owner}.{name}` \
                 for when it is chosen",
                listed(&owners),
                if owners.len() == 1 {
                    "that"
                } else {
                    "one of them"
                }
            ),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) if own.is_empty() => format!("{} has no parameters", mechanism.name),
            (None, None) => format!("{} has: {}", mechanism.name, own.join(", ")),
        };
        (
            format!("the {word} `{}` has no parameter `{name}`", mechanism.name),
            advice,
        )
    }
}
