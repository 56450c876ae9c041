//! PTX, parsed and lowered.

use crate::errors;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use warpsim_present::{mangled, reading};
use warpsim_ptx::kernel;
use warpsim_workloads::simulated::compile;
use warpsim_workloads::{args, cuda};

/// The kernels of a PTX text.
#[pyclass(frozen)]
pub struct Program {
    /// What messages call the text.
    pub name: String,
    /// The PTX.
    pub text: String,
    program: Arc<kernel::Program>,
}

#[pymethods]
impl Program {
    #[new]
    fn new(py: Python<'_>, name: String, text: String) -> PyResult<Program> {
        let program = py.detach(|| compile(&name, &text));
        let program = program.map_err(|e| errors::of_device(py, &e))?;
        Ok(Program {
            name,
            text,
            program,
        })
    }

    /// What messages call the text.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The PTX.
    #[getter]
    fn ptx(&self) -> &str {
        &self.text
    }

    /// Names of the kernels that can be run.
    fn kernels(&self) -> Vec<String> {
        self.program
            .kernels
            .iter()
            .map(|k| k.name.clone())
            .collect()
    }

    /// The kernel that has this name, or the only one whose name contains it.
    fn find(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let found = args::find_kernel(&self.program, name);
        let index = found.map_err(|text| errors::bad_input(py, &text))?;
        Ok(self.program.kernels[index].name.clone())
    }

    /// Name, type and size of each parameter of a kernel.
    fn parameters(&self, py: Python<'_>, kernel: &str) -> PyResult<Vec<(String, String, u32)>> {
        let found = args::find_kernel(&self.program, kernel);
        let index = found.map_err(|text| errors::bad_input(py, &text))?;
        let parameters = self.program.kernels[index].params.iter();
        Ok(parameters
            .map(|p| {
                let ty = match p.array {
                    true => "struct".to_string(),
                    false => format!("{:?}", p.ty).to_lowercase(),
                };
                (p.name.clone(), ty, p.size)
            })
            .collect())
    }

    /// Threads per block that a kernel requires, if it does.
    fn required_block(&self, py: Python<'_>, kernel: &str) -> PyResult<Option<[u32; 3]>> {
        let found = args::find_kernel(&self.program, kernel);
        let index = found.map_err(|text| errors::bad_input(py, &text))?;
        Ok(self.program.kernels[index].bounds.req_ntid)
    }
}

/// A kernel's name as C++ has it, where it is one of C++.
#[pyfunction]
pub fn shown(kernel: &str) -> String {
    mangled::shown(kernel)
}

/// PTX from a CUDA file, by the compiler that the command line uses.
#[pyfunction]
pub fn compile_cuda(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let ptx = py.detach(|| cuda::compile(&path, &cuda::Options::default()));
    ptx.map_err(|e| errors::of_device(py, &e))
}

/// The text of a PTX file.
#[pyfunction]
pub fn read_ptx(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let bytes = reading::read(&path, warpsim_ptx::MOST_BYTES).map_err(|e| e.to_string());
    let text = bytes.and_then(warpsim_ptx::text);
    text.map_err(|e| errors::bad_input(py, &format!("cannot read {}: {e}", path.display())))
}
