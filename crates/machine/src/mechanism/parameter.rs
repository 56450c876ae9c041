//! Parameters of mechanisms. One declaration gives the range, default, unit and description, and
//! is what the mechanism reads its value with.

use crate::model::rule::{Rule, range};

/// A parameter as machine files and lists see it.
pub trait Parameter: Sync {
    /// Its key.
    fn name(&self) -> &'static str;
    /// What it may be.
    fn rule(&self) -> Rule;
    /// What it is when it is not set.
    fn default(&self) -> toml::Value;
    /// Unit, or empty.
    fn unit(&self) -> &'static str;
    /// What it does.
    fn description(&self) -> &'static str;
}

/// A parameter as its mechanism reads it.
pub trait Typed: Parameter {
    /// What it is read as.
    type Value;
    /// Reads a value that the [rule](Parameter::rule) allows.
    fn read(&self, value: &toml::Value) -> Option<Self::Value>;
}

/// A whole number.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Integer {
    pub name: &'static str,
    /// Smallest value.
    pub low: u32,
    /// Largest value.
    pub high: u32,
    pub default: u32,
    pub unit: &'static str,
    pub description: &'static str,
}

impl Parameter for Integer {
    fn name(&self) -> &'static str {
        self.name
    }
    fn rule(&self) -> Rule {
        range(self.low, self.high)
    }
    fn default(&self) -> toml::Value {
        toml::Value::Integer(self.default.into())
    }
    fn unit(&self) -> &'static str {
        self.unit
    }
    fn description(&self) -> &'static str {
        self.description
    }
}

impl Typed for Integer {
    type Value = u32;
    fn read(&self, value: &toml::Value) -> Option<u32> {
        value.as_integer()?.try_into().ok()
    }
}

/// `true` or `false`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Switch {
    pub name: &'static str,
    pub default: bool,
    pub description: &'static str,
}

impl Parameter for Switch {
    fn name(&self) -> &'static str {
        self.name
    }
    fn rule(&self) -> Rule {
        Rule::Flag
    }
    fn default(&self) -> toml::Value {
        toml::Value::Boolean(self.default)
    }
    fn unit(&self) -> &'static str {
        ""
    }
    fn description(&self) -> &'static str {
        self.description
    }
}

impl Typed for Switch {
    type Value = bool;
    fn read(&self, value: &toml::Value) -> Option<bool> {
        value.as_bool()
    }
}

/// One of several words. The first is the default.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct OneOf<T: 'static> {
    pub name: &'static str,
    /// What can be written.
    pub words: &'static [&'static str],
    /// What each of them means.
    pub meanings: &'static [T],
    pub description: &'static str,
}

impl<T: Sync> Parameter for OneOf<T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn rule(&self) -> Rule {
        Rule::Words(self.words)
    }
    fn default(&self) -> toml::Value {
        toml::Value::from(self.words[0])
    }
    fn unit(&self) -> &'static str {
        ""
    }
    fn description(&self) -> &'static str {
        self.description
    }
}

impl<T: Copy + Sync> Typed for OneOf<T> {
    type Value = T;
    fn read(&self, value: &toml::Value) -> Option<T> {
        let word = value.as_str()?;
        let at = self.words.iter().position(|w| *w == word)?;
        self.meanings.get(at).copied()
    }
}
