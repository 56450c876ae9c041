//! Machines as data, with all mechanisms that there are: `warpsim_machine` knows settings and files, and this
//! module adds the mechanisms and [which of them go together](check).

pub mod check;
pub mod in_step;
pub(crate) mod mechanisms;
pub mod read;

pub use warpsim_machine::model::{self, *};
pub use warpsim_machine::{Energy, OpClass, Work, WorkEnergy, power, warps};

use read::load;
use std::path::Path;
use warpsim_present::SourceError;

/// Machines by name or from files.
pub trait ReadMachine: Sized {
    /// A preset by its name.
    fn preset(name: &str) -> Result<Self, SourceError>;

    /// A machine from a TOML file, which may extend a preset or another file.
    fn from_file(path: &Path) -> Result<Self, SourceError>;

    /// What the command line means by `--machine NAME_OR_FILE --set KEY=VALUE…`: a file when
    /// the name looks like a path, else a preset; then the overrides, in order.
    fn resolve(name_or_file: &str, overrides: &[String]) -> Result<Self, SourceError>;
}

impl ReadMachine for Machine {
    fn preset(name: &str) -> Result<Machine, SourceError> {
        load::load(&load::Origin::Preset(name.to_string()), &[])
    }

    fn from_file(path: &Path) -> Result<Machine, SourceError> {
        load::load(&load::Origin::File(path.to_path_buf()), &[])
    }

    fn resolve(name_or_file: &str, overrides: &[String]) -> Result<Machine, SourceError> {
        load::load(&load::Origin::parse(name_or_file, None), overrides)
    }
}
