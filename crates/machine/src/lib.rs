//! A machine as data. Presets are TOML files in `configs/` with the source of every number;
//! [`model`] holds the typed form with the rule of each setting, [`read`] makes one of files and
//! overrides, [`check`] says which machines make no sense, and [`warps`] and [`power`] have names for
//! settings that go together. [`place`] and [`lanes`] say what follows from the settings about where
//! warps sit and which units have lanes.
//!
//! Mechanisms (schedulers, replacement policies, ...) lie above and are not known here: each describes
//! itself with what is in [`mechanism`], and whoever reads a machine passes these descriptions on
//! ([`Mechanisms`](mechanism::Mechanisms)).

pub mod check;
pub mod lanes;
pub mod limits;
pub mod mechanism;
pub mod model;
pub mod place;
pub mod power;
pub mod read;
pub mod warps;

pub use model::class::OpClass;
pub use model::energy::{Energy, WorkEnergy};
pub use model::work::Work;
pub use model::*;
