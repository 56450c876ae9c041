//! What can be named on the command line, as the simulator registers it.

use warpsim_sim::policy::PolicyInfo;

/// A statistic as `warpsim list stats` shows it.
pub struct StatInfo {
    /// Key in the JSON.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// What it counts.
    pub description: &'static str,
}

/// Issue policies.
pub fn schedulers() -> &'static [PolicyInfo] {
    &[]
}

/// Fetch policies.
pub fn fetch() -> &'static [PolicyInfo] {
    &[]
}

/// Divergence models.
pub fn divergence() -> &'static [PolicyInfo] {
    &[]
}

/// Statistics.
pub fn stats() -> &'static [StatInfo] {
    &[]
}
