//! The mechanisms that there are, as those above hand them to the reader and the checker of machines.

use super::{Info, Kind};
use crate::Machine;
use crate::check::rule::Rule;
use crate::check::validate::Problem;
use warpsim_present::{listed, nearest};

/// What a part asks of a machine.
pub type Check = fn(&Machine) -> Result<(), Problem>;

/// What a simulator, or a part of one, has to choose from.
pub struct Mechanisms {
    /// Every mechanism of a kind. `None` where this program has nothing of the kind: a machine's choice of one
    /// is then taken as it is, and its parameters are left out.
    pub registered: fn(Kind) -> Option<Vec<Info>>,
    /// What parts ask of a machine whose settings are in their ranges, in this order.
    pub checks: &'static [Check],
    /// What does not go together.
    pub rules: &'static [Rule],
}

/// None of any kind: machines are read and their settings checked, and nothing else.
pub static NONE: Mechanisms = Mechanisms {
    registered: |_| None,
    checks: &[],
    rules: &[],
};

impl Mechanisms {
    /// Whether machines are read for a program that has mechanisms of this kind.
    pub fn has(&self, kind: Kind) -> bool {
        (self.registered)(kind).is_some()
    }

    /// Every mechanism of a kind.
    pub fn of(&self, kind: Kind) -> Vec<Info> {
        (self.registered)(kind).unwrap_or_default()
    }

    /// A mechanism by its name.
    pub fn find(&self, kind: Kind, name: &str) -> Option<Info> {
        self.of(kind).into_iter().find(|i| i.name == name)
    }

    /// That no mechanism has this name, and which there are.
    pub fn unknown(&self, kind: Kind, name: &str) -> (String, String) {
        let all = self.of(kind);
        let names = || all.iter().map(|i| i.name);
        let hint = nearest(name, names())
            .map(|n| format!("did you mean `{n}`? "))
            .unwrap_or_default();
        let known = names().collect::<Vec<_>>().join(", ");
        (
            format!("no {} is called `{name}`", kind.word()),
            format!("{hint}there are: {known}"),
        )
    }

    /// That a mechanism has no such parameter, and what can be done about it.
    pub fn no_parameter(&self, kind: Kind, mechanism: &Info, name: &str) -> (String, String) {
        let (key, word) = (kind.key(), kind.word());
        let own: Vec<&str> = mechanism.parameters.iter().map(|p| p.name()).collect();
        let all = self.of(kind);
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
