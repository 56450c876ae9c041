//! What can be named on the command line, as the simulator registers it.

use warpsim_sim::policy::PolicyInfo;

/// Issue policies.
pub fn schedulers() -> &'static [PolicyInfo] {
    warpsim_sim::schedule::POLICIES
}

/// Fetch policies.
pub fn fetch() -> &'static [PolicyInfo] {
    warpsim_sim::fetch::POLICIES
}

/// Divergence models.
pub fn divergence() -> &'static [PolicyInfo] {
    warpsim_sim::divergence::MODELS
}
