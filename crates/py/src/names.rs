//! What there is to choose from.

use crate::errors;
use pyo3::prelude::*;
use warpsim_sim::config::read::presets;
use warpsim_sim::{divergence, fetch, schedule};
use warpsim_study::embedded;
use warpsim_workloads::suite::WORKLOADS;

/// Names of all machines, workloads, schedulers, and so on.
#[pyfunction]
pub fn names(py: Python<'_>, kind: &str) -> PyResult<Vec<String>> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect();
    Ok(match kind {
        "machines" => owned(presets::names().collect()),
        "workloads" => owned(WORKLOADS.iter().map(|w| w.info().name).collect()),
        "schedulers" => owned(schedule::POLICIES.iter().map(|p| p.info.name).collect()),
        "fetch" => owned(fetch::POLICIES.iter().map(|p| p.info.name).collect()),
        "divergence" => owned(divergence::MODELS.iter().map(|m| m.info.name).collect()),
        "studies" => owned(embedded::names().collect()),
        _ => {
            return Err(errors::bad_input(
                py,
                &format!("there is no list of {kind}"),
            ));
        }
    })
}
