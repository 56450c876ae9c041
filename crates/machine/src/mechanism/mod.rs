//! How a mechanism (issue policy, fetch policy, divergence model, replacement policy, prefetcher) describes itself, so that a
//! machine can choose it, its parameters can be checked and `warpsim list` can show it. What
//! belongs to one mechanism is declared in its own file, above this crate; [`Mechanisms`] has all of them.

mod choice;
mod kind;
mod parameter;
mod registry;

pub use choice::{Choice, Values};
pub use kind::{CacheName, Kind};
pub use parameter::{Integer, OneOf, Parameter, Switch, Typed};
pub use registry::{Check, Mechanisms, NONE};

/// What every mechanism says of itself.
#[derive(Clone, Copy)]
pub struct Info {
    /// The name used in configurations and on the command line.
    pub name: &'static str,
    /// One or two sentences.
    pub description: &'static str,
    /// What can be set.
    pub parameters: &'static [&'static dyn Parameter],
}

impl Info {
    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&'static dyn Parameter> {
        self.parameters.iter().copied().find(|p| p.name() == name)
    }
}

/// A setting that a mechanism cannot do without. A machine that has another value is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Dotted key.
    pub key: &'static str,
    /// The value it needs.
    pub value: &'static str,
    /// Why, to follow the mechanism's name in a sentence.
    pub because: &'static str,
}

impl Need {
    /// As `--set` takes it.
    pub fn setting(&self) -> String {
        format!("{}={}", self.key, self.value)
    }
}
