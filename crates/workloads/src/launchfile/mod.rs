//! Launch files: a PTX file, its input, its launches and what to expect of the result, in TOML.
//! `docs/launch-files.md` explains the format.
//!
//! [`parse`](fn@parse) checks what the text alone can tell; `prepare` loads data and resolves
//! every name, address and range, so that nothing but the simulated program can go wrong once
//! it runs; `execute` runs it and judges the result.

mod destinations;
mod execute;
mod expression;
mod fields;
mod limits;
mod loops;
mod model;
mod parse;
mod parse_data;
mod parse_steps;
mod prepare;
mod prepare_data;
mod prepare_steps;
mod variables;

pub(crate) use expression::evaluate;
pub use model::*;
pub use parse::{parse, parse_with};
pub use variables::Variables;

use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::Session;
use std::path::Path;
use warpsim_present::{Source, reading};

/// Reads a launch file.
pub fn read(path: &Path) -> Result<LaunchFile, DeviceError> {
    read_with(path, &[])
}

/// Reads a launch file with changes (`KEY=VALUE`) of its parameters.
pub fn read_with(path: &Path, changes: &[String]) -> Result<LaunchFile, DeviceError> {
    let name = path.display().to_string();
    let bytes = reading::read(path, reading::TEXT)
        .map_err(|e| DeviceError::bad_input(format!("cannot read {name}: {e}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| DeviceError::bad_input(format!("{name} is not UTF-8 text")))?;
    Ok(parse_with(&Source::new(&name, &text), changes)?)
}

/// Runs a launch file. Paths in it are relative to `directory`; `seed` replaces the file's own.
pub fn run(
    file: &LaunchFile,
    directory: &Path,
    seed: Option<u64>,
    session: &mut Session<'_>,
) -> Result<Outcome, DeviceError> {
    let plan = prepare::prepare(file, directory, seed.unwrap_or(file.seed), session)?;
    execute::execute(&plan, session)
}
