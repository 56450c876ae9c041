//! PTX to programs as a user asked for it: which functions are inlined, what counts registers.

use crate::compile::registers::Registers;
use crate::host::device::{Compiler, DeviceError};
use crate::host::simulated::compile_with;
use std::sync::Arc;
use warpsim_ptx::kernel::Program;
use warpsim_ptx::lower;

/// How PTX becomes programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lowering {
    /// Who says how many registers a kernel takes.
    pub registers: Registers,
    /// What is inlined.
    pub options: lower::Options,
}

impl From<Registers> for Lowering {
    /// Everything is inlined that can be.
    fn from(registers: Registers) -> Lowering {
        Lowering {
            registers,
            ..Lowering::default()
        }
    }
}

impl Compiler for Lowering {
    fn compile(&self, name: &str, ptx: &str) -> Result<Arc<Program>, DeviceError> {
        let program = compile_with(name, ptx, self.options)?;
        self.registers.counted(program, name, ptx)
    }
}
