//! A machine as data. Presets are TOML files in `configs/` with the source of every number;
//! `model` holds the typed form.

pub mod model;
pub use model::*;
