//! The simulated GPU behind the traits that workloads use.

use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use warpsim_ptx::kernel::Program;
use warpsim_sim::config::Machine;
use warpsim_sim::progress::{Progress, Snapshot};
use warpsim_workloads::{Device, DeviceError};

/// How to run.
#[allow(dead_code)] // Read by the simulated GPU, which this build lacks.
pub struct DeviceOptions {
    /// No timing: execute only.
    pub functional: bool,
    /// Give up after this many cycles.
    pub max_cycles: Option<u64>,
    /// Step through every cycle instead of skipping those in which nothing happens.
    pub no_skip: bool,
    /// File for the instruction trace.
    pub trace: Option<PathBuf>,
    /// Who wants to know how far it is.
    pub progress: Box<dyn Progress>,
}

/// A device that can say what happened on it.
pub trait SimulatedDevice: Device {
    /// Where the run stands.
    fn snapshot(&self) -> Snapshot;
    /// Thread instructions executed.
    fn thread_instructions(&self) -> u64;
    /// Every statistic.
    fn statistics(&self) -> Value;
    /// Ends progress and trace.
    fn finish(&mut self) -> Result<(), DeviceError>;
}

/// Builds the device for a machine.
pub fn make_device(
    _machine: &Machine,
    _options: DeviceOptions,
) -> Result<Box<dyn SimulatedDevice>, DeviceError> {
    Err(DeviceError::bad_input(
        "this build of warpsim has no simulated GPU",
    ))
}

/// Parses and lowers PTX.
pub fn compile(name: &str, _ptx: &str) -> Result<Arc<Program>, DeviceError> {
    Err(DeviceError::bad_input(format!(
        "{name}: this build of warpsim has no PTX front end"
    )))
}
