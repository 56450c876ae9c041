//! How a mechanism (issue policy, fetch policy, divergence model) describes itself, so that
//! `warpsim list` can show it and a configuration can be checked against it.

/// A mechanism as its registry lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// The name used in configurations and on the command line.
    pub name: &'static str,
    /// One or two sentences.
    pub description: &'static str,
    /// What can be set.
    pub parameters: &'static [ParamInfo],
}

/// A parameter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Dotted key in the machine description (`sm.tls_active`).
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: ParamKind,
    /// Default, as it would be written.
    pub default: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Unit, or empty.
    pub unit: &'static str,
}

/// Kind of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// An integer between two bounds.
    Integer {
        /// Smallest value.
        low: u64,
        /// Largest value.
        high: u64,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl std::fmt::Display for ParamKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParamKind::Integer { low, high } => write!(f, "{low} to {high}"),
            ParamKind::Flag => f.write_str("true or false"),
            ParamKind::Choice(words) => f.write_str(&words.join(" | ")),
        }
    }
}
