//! All mechanisms, as they describe themselves. What belongs to one mechanism is declared in its own file; its registry
//! (`schedule::POLICIES`, `fetch::POLICIES`, `divergence::MODELS`, `replacement::POLICIES`,
//! `prefetch::PREFETCHERS`) has one line for it.

use super::check::combination;
use crate::memory::cache::tables;
use crate::{divergence, fetch, power, prefetch, replacement, schedule};
use warpsim_machine::mechanism::{Info, Kind, Mechanisms};

/// Every mechanism that there is, for those who read and check machines.
pub static MECHANISMS: Mechanisms = Mechanisms {
    registered: |kind| Some(registered(kind)),
    checks: &[power::check, tables::check],
    rules: combination::RULES,
};

fn registered(kind: Kind) -> Vec<Info> {
    match kind {
        Kind::Scheduler => schedule::POLICIES.iter().map(|p| p.info).collect(),
        Kind::Fetch => fetch::POLICIES.iter().map(|p| p.info).collect(),
        Kind::Divergence => divergence::MODELS.iter().map(|m| m.info).collect(),
        Kind::Gating => power::GATING.iter().map(|g| g.info).collect(),
        Kind::Folding => power::FOLDING.iter().map(|f| f.info).collect(),
        Kind::Replacement(_) => replacement::POLICIES.iter().map(|p| p.info).collect(),
        Kind::Prefetch => prefetch::PREFETCHERS.iter().map(|p| p.info).collect(),
    }
}
