//! A machine, checked.

use crate::errors;
use pyo3::prelude::*;
use std::sync::Arc;
use warpsim_present::Source;
use warpsim_sim::config::{self, ReadMachine, read::load};

/// A machine as the simulator has it: complete, and known to make sense.
#[pyclass(frozen)]
pub struct Machine(pub Arc<config::Machine>);

#[pymethods]
impl Machine {
    /// A preset's name or a machine file, then `key=value` overrides.
    #[staticmethod]
    fn resolve(py: Python<'_>, name: &str, overrides: Vec<String>) -> PyResult<Machine> {
        let machine = config::Machine::resolve(name, &overrides);
        let machine = machine.map_err(|e| errors::of_source(py, &e))?;
        Ok(Machine(Arc::new(machine)))
    }

    /// The text of a machine file, then overrides. `name` is what messages call the text.
    #[staticmethod]
    fn from_toml(
        py: Python<'_>,
        name: &str,
        text: &str,
        overrides: Vec<String>,
    ) -> PyResult<Machine> {
        let machine = load::from_source(&Source::new(name, text), &overrides);
        let machine = machine.map_err(|e| errors::of_source(py, &e))?;
        Ok(Machine(Arc::new(machine)))
    }

    /// The text of a machine file that has these values (JSON).
    #[staticmethod]
    fn toml_of(py: Python<'_>, json: &str) -> PyResult<String> {
        let bad = |e: &dyn std::fmt::Display| {
            errors::bad_input(py, &format!("these values are no machine: {e}"))
        };
        let value: serde_json::Value = serde_json::from_str(json).map_err(|e| bad(&e))?;
        toml::to_string_pretty(&value).map_err(|e| bad(&e))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Every setting, as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let text = serde_json::to_string(&*self.0);
        text.map_err(|e| errors::bad_input(py, &e.to_string()))
    }
}
