//! A machine as data. Presets are TOML files in `configs/` with the source of every number;
//! [`model`] holds the typed form with the rule of each setting, [`read`] makes one of files and
//! overrides, [`check`] says which machines make no sense, and [`warps`] and [`power`] have names for
//! settings that go together.

pub mod check;
pub mod in_step;
pub mod model;
pub mod power;
pub mod read;
pub mod warps;

pub use model::class::OpClass;
pub use model::energy::{Energy, WorkEnergy};
pub use model::work::Work;
pub use model::*;
use read::load;

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
