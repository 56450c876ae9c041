//! Power of the execution lanes: when they are switched off, and what that saves.
//!
//! Each lane of an SP unit has an integer and a floating-point pipeline ([`Side`]), and in every
//! cycle such a lane pipeline is busy, idle, gated or waking ([`lanes`]). *Gating* ([`gating`])
//! decides when one is switched off, *folding* ([`folding`]) issues a warp as two halves on half of
//! the lanes so that the others can stay off, in `phases`. [`Power`] has all of it for an SM.
//!
//! # Time
//!
//! Nothing here is stepped. A gate that changes by itself does so at a time that follows from when
//! its lanes were last used, and that is worked out when it is next asked for; what depends on the
//! warps (phases, coordinated blackout) is brought up to date at the start of every cycle that
//! runs, before any warp changes. So no cycle has to run because of a gate, and skipped and stepped
//! runs are the same, gate by gate.

mod adaptive;
mod changes;
mod check;
pub mod folding;
pub mod gating;
pub mod lanes;
mod model;
mod phases;

pub use check::check;
pub use folding::FOLDING;
pub use gating::GATING;
pub use model::{Entries, Entry, Power, UnderWay};
pub use phases::Buffered;
pub use warpsim_machine::lanes::{Side, lane_pipelines, lanes_per_pipeline};

use folding::Folding;
use gating::Gating;
use warpsim_machine::Machine;
use warpsim_machine::mechanism::{Info, Values};

/// A gating policy as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct GatingPolicy {
    /// Name, description, parameters.
    pub info: Info,
    /// What it does with these parameters.
    pub make: fn(&Values) -> Gating,
}

/// A folding policy as it is registered.
#[derive(Clone, Copy)]
pub struct FoldingPolicy {
    /// Name, description, parameters.
    pub info: Info,
    /// What it does with these parameters; nothing where warps are never folded.
    pub make: fn(&Values) -> Option<Folding>,
}

/// The gating that a machine has chosen.
pub fn gating_of(machine: &Machine) -> Gating {
    let choice = &machine.gating;
    let policy = GATING.iter().find(|g| g.info.name == choice.name);
    let policy = policy.expect("the machine has been validated");
    (policy.make)(&choice.values)
}

/// The folding that a machine has chosen.
pub fn folding_of(machine: &Machine) -> Option<Folding> {
    let choice = &machine.folding;
    let policy = FOLDING.iter().find(|f| f.info.name == choice.name);
    let policy = policy.expect("the machine has been validated");
    (policy.make)(&choice.values)
}
