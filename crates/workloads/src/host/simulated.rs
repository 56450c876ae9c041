//! The simulator's GPU as the device that workloads and launch files run on.

use crate::host::device::{Category, Device, DeviceError, ModuleId, Source};
use crate::host::machine_code::{LaunchError, MachineCode, machine_code};
use std::sync::Arc;
use warpsim_present::memory::try_reserve;
use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::lower;
use warpsim_ptx::rewrite::vtw::Variant;
use warpsim_sim::config::{Machine, VirtualMode};
use warpsim_sim::gpu::api::{Launch, Texture};
use warpsim_sim::gpu::{Gpu, Options, SimError};

/// A simulated GPU.
pub struct Simulated {
    /// The GPU, for its statistics.
    pub gpu: Gpu,
    /// Machine code, where that is executed and not PTX.
    code: Option<MachineCode>,
    /// Names of kernels by module, where machine code is executed.
    programs: Vec<Arc<Program>>,
}

impl Simulated {
    /// A GPU as `machine` describes it.
    pub fn new(machine: Machine, options: Options) -> Result<Simulated, DeviceError> {
        Ok(Simulated {
            gpu: Gpu::new(machine, options).map_err(convert)?,
            code: None,
            programs: Vec::new(),
        })
    }

    /// From now on modules are executed as machine code, without timing.
    pub fn execute_machine_code(&mut self) -> Result<(), DeviceError> {
        if self.virtualize().is_some() {
            let text = "virtual blocks are made of PTX, and machine code has none: execute PTX";
            return Err(DeviceError::bad_input(text));
        }
        self.code = Some(MachineCode::default());
        Ok(())
    }
}

/// Parses and lowers PTX; the error holds every diagnostic.
pub fn compile(name: &str, ptx: &str) -> Result<Arc<Program>, DeviceError> {
    compile_with(name, ptx, lower::Options::default())
}

/// The same as the options say.
pub fn compile_with(
    name: &str,
    ptx: &str,
    options: lower::Options,
) -> Result<Arc<Program>, DeviceError> {
    let module = warpsim_ptx::parse(ptx);
    let program = module.and_then(|module| lower::lower_owned(module, options));
    let program =
        program.map_err(|errors| DeviceError::bad_input(render_all(&errors, name, ptx)))?;
    if program.kernels.is_empty() && !program.rejected.is_empty() {
        let reasons = program.rejected.iter();
        let all: Vec<String> = reasons.map(|(_, r)| render_all(r, name, ptx)).collect();
        return Err(DeviceError::bad_input(all.join("\n")));
    }
    Ok(Arc::new(program))
}

fn convert(error: SimError) -> DeviceError {
    let category = match &error {
        SimError::BadLaunch(_) => Category::BadInput,
        _ => Category::ProgramFailed,
    };
    DeviceError {
        category,
        text: error.to_string(),
    }
}

fn access(
    what: &str,
    address: u64,
    bytes: u64,
) -> impl Fn(warpsim_sim::exec::memory::image::AccessError) -> DeviceError + '_ {
    move |e| DeviceError::bad_input(format!("{what} of {bytes} bytes at {address:#x}: {e}"))
}

impl Device for Simulated {
    fn alloc(&mut self, bytes: u64, label: &str) -> Result<u64, DeviceError> {
        let full = || {
            let text = "the simulated address space or the host's memory is used up";
            DeviceError::bad_input(format!("no room for {bytes} bytes ({label}): {text}"))
        };
        self.gpu.alloc(bytes, label).ok_or_else(full)
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.gpu
            .write(address, data)
            .map_err(access("copy to the GPU", address, data.len() as u64))
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.gpu
            .read(address, bytes)
            .map_err(access("copy from the GPU", address, bytes))
    }

    fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), DeviceError> {
        let mut data = Vec::new();
        if !try_reserve(&mut data, bytes as usize) {
            let text = format!("the host has no {bytes} bytes left to fill memory from");
            return Err(DeviceError::bad_input(text));
        }
        data.resize(bytes as usize, value);
        self.write(address, &data)
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        let data = self.read(from, bytes)?;
        self.write(to, &data)
    }

    fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, DeviceError> {
        self.gpu.load(program).map(ModuleId).map_err(convert)
    }

    fn load_from(
        &mut self,
        source: &Source<'_>,
        program: Arc<Program>,
    ) -> Result<ModuleId, DeviceError> {
        if self.code.is_none() {
            return self.load(program);
        }
        let code = machine_code(source)?;
        let id = self.load(program.clone())?;
        self.programs.resize(id.0, program.clone());
        self.programs.push(program);
        if let Some(all) = &mut self.code {
            all.load(id, code);
        }
        Ok(id)
    }

    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        self.gpu.symbol(module.0, name)
    }

    fn bind_texture(
        &mut self,
        module: ModuleId,
        name: Option<&str>,
        texture: Texture,
    ) -> Result<u64, DeviceError> {
        if let Some(name) = name {
            self.gpu
                .bind_texref(module.0, name, texture.clone())
                .map_err(convert)?;
        }
        Ok(self.gpu.make_texture(texture))
    }

    fn resident_blocks(
        &self,
        module: ModuleId,
        launch: &Launch,
    ) -> Result<Option<u32>, DeviceError> {
        let blocks = self.gpu.resident_blocks(module.0, launch);
        blocks.map(Some).map_err(convert)
    }

    fn virtualize(&self) -> Option<Variant> {
        match self.gpu.machine().virtual_blocks.mode {
            VirtualMode::Off => None,
            VirtualMode::Software => Some(Variant::Software),
            VirtualMode::Hardware => Some(Variant::Hardware),
        }
    }

    fn hoist_limit(&self, kernel: &Kernel) -> u32 {
        warpsim_sim::occupancy::hoist_limit(self.gpu.machine(), kernel)
    }

    fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        let Some(code) = &mut self.code else {
            return self.gpu.launch(module.0, launch).map_err(convert);
        };
        let kernels = self.programs.get(module.0).map(|p| &p.kernels);
        let Some(kernel) = kernels.and_then(|k| k.get(launch.kernel)) else {
            return Err(DeviceError::bad_input("the module has no such kernel"));
        };
        let done = code.launch(&mut self.gpu, module, &kernel.name, launch);
        done.map_err(|error| match error {
            LaunchError::Input(error) => error,
            LaunchError::Run(error) => convert(error),
        })
    }
}
