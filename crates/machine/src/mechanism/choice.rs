//! What a machine holds of a mechanism: its name and the values of its parameters.

use super::{Info, Typed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A mechanism that a machine has chosen, with a value for each of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its name in the registry.
    pub name: String,
    /// Its parameters.
    #[serde(flatten)]
    pub values: Values,
}

/// Values of a mechanism's parameters by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(BTreeMap<String, toml::Value>);

impl Values {
    /// Every parameter of a mechanism at its default.
    pub fn defaults(info: &Info) -> Values {
        let value = |p: &&dyn super::Parameter| (p.name().to_string(), p.default());
        Values(info.parameters.iter().map(value).collect())
    }

    /// A parameter's value, read as it was declared. Where the machine has none, as in one made
    /// by hand, it is the default.
    pub fn get<P: Typed>(&self, parameter: &P) -> P::Value {
        let given = self.0.get(parameter.name());
        given
            .and_then(|v| parameter.read(v))
            .or_else(|| parameter.read(&parameter.default()))
            .expect("a parameter reads its own default")
    }

    /// Gives a parameter a value.
    pub fn set(&mut self, name: &str, value: toml::Value) {
        self.0.insert(name.to_string(), value);
    }

    /// Every parameter that has a value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &toml::Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}
