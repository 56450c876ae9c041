//! What there is to choose in the memory system, for whoever reads a machine for that alone.

use super::cache::tables;
use crate::replacement;
use warpsim_machine::mechanism::{Kind, Mechanisms};

/// Replacement policies, and what caches ask of a machine.
pub static MECHANISMS: Mechanisms = Mechanisms {
    registered: |kind| {
        let here = matches!(kind, Kind::Replacement(_));
        here.then(|| replacement::POLICIES.iter().map(|p| p.info).collect())
    },
    checks: &[tables::check],
    rules: &[],
};
