//! What the Python package `warpsim` is made of: the parts that are in Rust.
//!
//! Python sees plain functions and a few opaque classes here, and the package around them
//! (`python/warpsim`) makes what people use. Values cross as JSON text, arrays as buffers that are
//! read and written in place. While a simulation runs the interpreter's lock is free; it is taken
//! now and then for signals (Ctrl-C) and progress, and for schedulers written in Python.

mod arguments;
mod colours;
mod elements;
mod errors;
mod launches;
mod machine;
mod names;
mod observed;
mod program;
mod run;
mod scheduler;
mod study;
mod watch;

use pyo3::prelude::*;

/// The parts of warpsim that are in Rust; `warpsim` is what to import.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::colours::state_colours;
    #[pymodule_export]
    use super::launches::{run_launches, run_named};
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::names::names;
    #[pymodule_export]
    use super::program::{Program, compile_cuda, read_ptx, shown};
    #[pymodule_export]
    use super::scheduler::Place;
    #[pymodule_export]
    use super::study::Plan;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
