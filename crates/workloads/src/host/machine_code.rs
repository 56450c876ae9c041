//! Kernels as machine code: where a module's comes from, and launches of it on the simulated GPU.

use crate::host::device::{DeviceError, ModuleId, Source};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use warpsim_exec::functional::SimFault;
use warpsim_present::mangled::shown;
use warpsim_sass::front::tools::Tools;
use warpsim_sass::front::{assemble, hash, listing};
use warpsim_sass::program::Program;
use warpsim_sass::run::{self, Banks, Code};
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::gpu::{Execution, Gpu, SimError};

/// The architecture whose machine code is executed.
pub const ARCHITECTURE: u32 = 90;

/// The machine code of PTX: from the listing that comes with it, else from the user's assembler.
pub fn machine_code(source: &Source<'_>) -> Result<Program, DeviceError> {
    let found = match source.listing {
        Some(bytes) => {
            let stem = source.name.strip_suffix(".ptx").unwrap_or(source.name);
            read_listing(&format!("{stem}.sass"), bytes, source.ptx)
        }
        None => Tools::for_ptx().and_then(|t| assemble(&t, source.name, source.ptx, ARCHITECTURE)),
    };
    found.map_err(DeviceError::bad_input)
}

fn read_listing(name: &str, bytes: &[u8], ptx: &str) -> Result<Program, String> {
    let text = listing::decompress(name, bytes)?;
    let program = listing::read(name, &text)?;
    match program.source.as_deref() == Some(hash(ptx).as_str()) {
        true => Ok(program),
        false => Err(format!(
            "{name} is not of this PTX: run kernels/listings.sh"
        )),
    }
}

/// A module's machine code.
struct Loaded {
    program: Program,
    /// Kernels that have been launched.
    codes: HashMap<String, Arc<Code>>,
    banks: Banks,
}

/// The machine code of all modules.
#[derive(Default)]
pub(super) struct MachineCode {
    modules: BTreeMap<ModuleId, Loaded>,
}

impl MachineCode {
    /// Takes in a module's machine code.
    pub fn load(&mut self, module: ModuleId, program: Program) {
        let loaded = Loaded {
            program,
            codes: HashMap::new(),
            banks: Banks::default(),
        };
        self.modules.insert(module, loaded);
    }

    /// Launches a kernel.
    pub fn launch(
        &mut self,
        gpu: &mut Gpu,
        module: ModuleId,
        name: &str,
        launch: &Launch,
    ) -> Result<(), LaunchError> {
        let lacks = |what: String| LaunchError::Input(DeviceError::bad_input(what));
        let loaded = self.modules.get_mut(&module);
        let loaded = loaded.ok_or_else(|| lacks("this module has no machine code".into()))?;
        let code = match loaded.codes.get(name) {
            Some(code) => code.clone(),
            None => {
                let kernel = loaded.program.kernel(name).ok_or_else(|| {
                    let (file, name) = (&loaded.program.name, shown(name));
                    lacks(format!("the machine code of {file} has no kernel {name}"))
                })?;
                let code = Arc::new(Code::new(&loaded.program, kernel).map_err(lacks)?);
                loaded.codes.insert(name.to_string(), code.clone());
                code
            }
        };
        let Loaded { program, banks, .. } = loaded;
        let mut execute = |execution: Execution<'_>| {
            let symbol = |name: &str| {
                let found = execution.symbols.iter().find(|(known, ..)| known == name)?;
                Some((found.1, found.2))
            };
            let refreshed = banks.refresh(program, execution.image, symbol);
            refreshed.map_err(SimFault::Launch)?;
            let launch = run::Launch {
                code: &code,
                grid: execution.grid,
                banks,
                options: execution.options,
            };
            run::run(launch, execution.image, execution.hand_on)
        };
        gpu.launch_by(module.0, launch, &mut execute)
            .map_err(LaunchError::Run)
    }
}

/// Why a launch of machine code has failed.
pub(super) enum LaunchError {
    /// There is none, or it cannot be executed.
    Input(DeviceError),
    /// It went wrong while it ran.
    Run(SimError),
}
