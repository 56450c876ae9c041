//! `--registers`, the source that says how many registers a kernel takes, and `--inline-limit`, which functions are inlined.

use crate::console::failure::Failure;
use clap::ValueEnum;
use warpsim_ptx::lower;
use warpsim_workloads::registers::Registers;

/// Which functions are inlined, on the command line.
#[derive(clap::Args)]
pub struct Inlining {
    /// Device functions of more PTX instructions than this are not inlined: they keep one body, which all
    /// calls share, with its frame in local memory [default: all are inlined that can be].
    #[arg(long, value_name = "N")]
    inline_limit: Option<usize>,
}

impl Inlining {
    /// What the arguments mean to lowering.
    pub fn options(&self) -> lower::Options {
        lower::Options {
            inline_limit: self.inline_limit,
        }
    }
}

/// Where numbers of registers come from, on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum RegisterSource {
    /// Our model of what an assembler does.
    Estimate,
    /// NVIDIA's assembler: named by WARPSIM_PTXAS, on PATH, in a CUDA toolkit or a Python package.
    Ptxas,
}

impl RegisterSource {
    /// Finds the assembler where one is to be asked.
    pub fn resolve(self) -> Result<Registers, Failure> {
        match self {
            RegisterSource::Estimate => Ok(Registers::Estimate),
            RegisterSource::Ptxas => Ok(Registers::assembler()?),
        }
    }
}
