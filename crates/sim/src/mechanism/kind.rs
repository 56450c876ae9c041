//! The kinds of mechanisms that a machine chooses one of, each.

use super::{Choice, Info};
use crate::config::Machine;
use crate::{divergence, fetch, power, schedule};
use warpsim_present::{listed, nearest};

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
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [
        Kind::Scheduler,
        Kind::Fetch,
        Kind::Divergence,
        Kind::Gating,
        Kind::Folding,
    ];

    /// The section of a machine file that chooses one.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Scheduler => "scheduler",
            Kind::Fetch => "fetch.policy",
            Kind::Divergence => "divergence",
            Kind::Gating => "gating",
            Kind::Folding => "folding",
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
