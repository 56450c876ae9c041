//! Files of kernels on the command line: PTX as it is, CUDA C compiled.

use crate::console::failure::Failure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use warpsim_workloads::cuda;

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

    /// The PTX in a file, or of it where it is CUDA C.
    pub fn read(&self, file: &Path) -> Result<String, Failure> {
        let name = file.display();
        let bytes = std::fs::read(file)
            .map_err(|e| Failure::bad_input(format!("cannot read {name}: {e}")))?;
        if cuda::is_cuda(file) {
            return Ok(cuda::compile(file, &self.options())?);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
