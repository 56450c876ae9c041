//! Where the number of registers per thread comes from: our estimate, or NVIDIA's assembler where
//! one is installed.

use crate::host::device::DeviceError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use warpsim_present::mangled::shown;
use warpsim_ptx::assembler::{Answers, Assembler};
use warpsim_ptx::kernel::Program;

/// Who says how many registers a kernel takes. A number in a launch file comes before both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Registers {
    /// The estimate that every lowered kernel carries.
    #[default]
    Estimate,
    /// This assembler.
    Asked(Assembler),
}

impl Registers {
    /// Finds the assembler to ask.
    pub fn assembler() -> Result<Registers, DeviceError> {
        let found = Assembler::find(None).map_err(DeviceError::bad_input)?;
        Ok(Registers::Asked(found))
    }

    /// Who it is, in words.
    pub fn name(&self) -> String {
        match self {
            Registers::Estimate => "the estimate".into(),
            Registers::Asked(assembler) => format!("ptxas {}", assembler.version),
        }
    }

    /// The program of a text with these numbers.
    pub fn counted(
        &self,
        program: Arc<Program>,
        name: &str,
        ptx: &str,
    ) -> Result<Arc<Program>, DeviceError> {
        let Registers::Asked(assembler) = self else {
            return Ok(program);
        };
        let answers = answers(assembler, ptx).map_err(DeviceError::bad_input)?;
        let mut program = Program::clone(&program);
        for kernel in &mut program.kernels {
            let usage = match answers.get(&kernel.name) {
                Some(Ok(usage)) => usage,
                Some(Err(why)) => return Err(refused(name, &kernel.name, assembler, why)),
                None => {
                    let why = "it said nothing about it";
                    return Err(refused(name, &kernel.name, assembler, why));
                }
            };
            kernel.register_demand = usage.registers.max(1);
            kernel.register_floor = kernel.register_floor.min(kernel.register_demand);
        }
        Ok(Arc::new(program))
    }
}

fn refused(file: &str, kernel: &str, assembler: &Assembler, why: &str) -> DeviceError {
    DeviceError::bad_input(format!(
        "{file}: {} {} refuses kernel {}: {why}; --registers estimate does without it",
        assembler.path.display(),
        assembler.version,
        shown(kernel)
    ))
}

/// What the assembler says about a text; each text is asked about once in a process.
fn answers(assembler: &Assembler, ptx: &str) -> Result<Answers, String> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Answers>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answers) = known().get(ptx) {
        return Ok(answers.clone());
    }
    let module = warpsim_ptx::parse(ptx).map_err(|_| "the PTX does not parse".to_string())?;
    let answers = assembler.ask(ptx, &module)?;
    known().insert(ptx.to_string(), answers.clone());
    Ok(answers)
}
