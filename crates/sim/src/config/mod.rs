//! A machine as data. Presets are TOML files in `configs/` with the source of every number;
//! [`model`] holds the typed form with the [`rule`] of each setting, [`load`] reads files and
//! follows `extends`, [`set`] applies `--set key=value`, [`warps`] and [`power`] have names for
//! settings that go together, [`validate`] is the one place that says
//! which machines make no sense, with the rules of [`combination`] between mechanisms, and
//! [`matrix`] knows every choice and asks which go together.

pub(crate) mod class;
pub mod combination;
pub(crate) mod energy;
pub mod load;
pub mod matrix;
mod merge;
pub mod model;
mod moved;
pub mod power;
mod preset_tree;
pub mod presets;
pub mod rule;
pub(crate) mod set;
pub mod settings;
pub(crate) mod tables;
pub mod validate;
pub mod warps;
pub(crate) mod work;

pub use class::OpClass;
pub use energy::{Energy, WorkEnergy};
pub use model::*;
pub use work::Work;

use std::path::Path;
use warpsim_present::SourceError;

impl Machine {
    /// A preset by its name.
    pub fn preset(name: &str) -> Result<Machine, SourceError> {
        load::load(&load::Origin::Preset(name.to_string()), &[])
    }

    /// A machine from a TOML file, which may extend a preset or another file.
    pub fn from_file(path: &Path) -> Result<Machine, SourceError> {
        load::load(&load::Origin::File(path.to_path_buf()), &[])
    }

    /// What the command line means by `--machine NAME_OR_FILE --set KEY=VALUE…`: a file when
    /// the name looks like a path, else a preset; then the overrides, in order.
    pub fn resolve(name_or_file: &str, overrides: &[String]) -> Result<Machine, SourceError> {
        load::load(&load::Origin::parse(name_or_file, None), overrides)
    }
}
