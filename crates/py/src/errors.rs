//! Errors as Python's exceptions, with the text that the command line shows.

use pyo3::prelude::*;
use pyo3::types::PyType;
use warpsim_present::{SourceError, visible};
use warpsim_study::StudyError;
use warpsim_workloads::{Category, DeviceError};

/// An input that makes no sense: `warpsim.BadInput`.
pub fn bad_input(py: Python<'_>, text: &str) -> PyErr {
    raised(py, "BadInput", text)
}

/// An error of a run.
pub fn of_device(py: Python<'_>, error: &DeviceError) -> PyErr {
    let class = match error.category {
        Category::BadInput => "BadInput",
        Category::ProgramFailed => "ProgramFailed",
    };
    raised(py, class, &error.text)
}

/// An error in a machine.
pub fn of_source(py: Python<'_>, error: &SourceError) -> PyErr {
    bad_input(py, &error.to_string())
}

/// An error in a study.
pub fn of_study(py: Python<'_>, error: &StudyError) -> PyErr {
    bad_input(py, &error.text)
}

fn raised(py: Python<'_>, class: &str, text: &str) -> PyErr {
    // The command line writes "error: " itself.
    let text = text.strip_prefix("error: ").unwrap_or(text).trim_end();
    let module = py.import("warpsim._errors");
    let class = module.and_then(|m| Ok(m.getattr(class)?.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, visible(text).into_owned()),
        Err(error) => error,
    }
}
