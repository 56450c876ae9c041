//! Study files: an experiment as data, in TOML. `docs/study-files.md` explains the format.
//!
//! [`read`] and [`parse`] check what the text alone can tell; [`crate::plan`] resolves every name
//! against what this build of the simulator has.

mod baseline;
mod beside;
mod claim;
mod configurations;
mod figure;
mod kind;
mod model;
mod parse;
mod reason;
mod references;
mod repeats;
mod table;
mod trade_off;

pub use baseline::Bases;
pub use beside::{Experiment, Sensitivity, Waiver};
pub use configurations::{Change, SEED};
pub use figure::rebase;
pub use kind::Kind;
pub use model::*;
pub use parse::{ALL, SIZES, parse};
pub use references::known;
pub use repeats::{MOST as MOST_REPEATS, Perturbation, Repeats, Vary};

use crate::error::StudyError;
use std::path::Path;
use warpsim_present::{Source, reading};

/// Reads a study file.
pub fn read(path: &Path) -> Result<Study, StudyError> {
    let name = path.display().to_string();
    let bytes = reading::read(path, reading::TEXT)
        .map_err(|e| StudyError::bad_input(format!("cannot read {name}: {e}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| StudyError::bad_input(format!("{name} is not UTF-8 text")))?;
    let mut study = parse(&Source::new(&name, &text))?;
    study.directory = path.parent().map(Path::to_path_buf);
    Ok(study)
}
