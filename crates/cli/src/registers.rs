//! `--registers`: who says how many registers a kernel takes.

use crate::failure::Failure;
use clap::ValueEnum;
use warpsim_workloads::registers::Registers;

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
