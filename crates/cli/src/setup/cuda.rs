//! Files of kernels on the command line: PTX as it is, CUDA C compiled.

use crate::console::failure::Failure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use warpsim_present::{nearest, reading};
use warpsim_workloads::cuda;
use warpsim_workloads::suite;

/// How `.cu` files are compiled.
#[derive(clap::Args)]
pub struct CudaArguments {
    /// The compiler of .cu files: nvcc, nvrtc or clang, or a path to one [default: what
    /// WARPSIM_CUDA_COMPILER says, else the first of these that is installed].
    #[arg(long, value_name = "COMPILER")]
    pub cuda_compiler: Option<OsString>,
    /// A flag for that compiler, as in --cuda-flag=-DTILE=16.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub cuda_flag: Vec<String>,
    /// Write the PTX that a .cu file is compiled to into this file.
    #[arg(long, value_name = "FILE")]
    pub keep_ptx: Option<PathBuf>,
}

impl CudaArguments {
    /// What the arguments mean to the compiler.
    pub fn options(&self) -> cuda::Options {
        cuda::Options {
            compiler: self.cuda_compiler.clone(),
            flags: self.cuda_flag.clone(),
            keep: self.keep_ptx.clone(),
        }
    }

    /// The PTX in a file, or of it where it is CUDA C, or of a workload of that name where there is no
    /// such file.
    pub fn read_or_workload(&self, file: &Path) -> Result<String, Failure> {
        match workload(file) {
            Some(ptx) => Ok(ptx.to_string()),
            None if !file.exists() && is_name(file) => Err(neither(file)),
            None => self.read(file),
        }
    }

    /// The PTX in a file, or of it where it is CUDA C.
    pub fn read(&self, file: &Path) -> Result<String, Failure> {
        match cuda::is_cuda(file) {
            true => Ok(cuda::compile(file, &self.options())?),
            false => read_ptx(file),
        }
    }
}

/// Whether this is a name rather than a path.
fn is_name(file: &Path) -> bool {
    file.extension().is_none() && file.components().count() == 1
}

/// That there is neither a file nor a workload of this name.
fn neither(file: &Path) -> Failure {
    let name = file.display().to_string();
    let names = suite::WORKLOADS.iter().map(|w| w.info().name);
    let hint = nearest(&name, names).map(|near| format!("; did you mean `{near}`?"));
    Failure::bad_input(format!(
        "there is neither a file nor a workload called `{name}`{}\n`warpsim list workloads` lists the workloads",
        hint.unwrap_or_default()
    ))
}

/// The PTX of a workload that is named where a file could be.
fn workload(file: &Path) -> Option<&'static str> {
    let name = file.to_str().filter(|_| !file.exists())?;
    let workload = suite::find(name).ok()?;
    Some(workload.info().kernel.ptx)
}

/// The PTX in a file, or of a workload of that name where there is no such file.
pub fn read_ptx(file: &Path) -> Result<String, Failure> {
    if let Some(ptx) = workload(file) {
        return Ok(ptx.to_string());
    }
    let bytes = reading::read(file, warpsim_ptx::MOST_BYTES).map_err(|e| e.to_string());
    let text = bytes.and_then(warpsim_ptx::text);
    text.map_err(|e| Failure::bad_input(format!("cannot read {}: {e}", file.display())))
}

/// The text of a file of CUDA C, where it can be read.
pub fn source_text(file: &Path) -> Option<String> {
    let bytes = reading::read(file, reading::TEXT).ok()?;
    String::from_utf8(bytes).ok()
}
