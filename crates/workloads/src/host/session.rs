//! A host program's view of one run: a device, a compiler, and the calls workloads make often.

use crate::compile::virtual_blocks::Rewritten;
use crate::host::args::{self, Arg};
use crate::host::device::{Compiler, Device, DeviceError, ModuleId, Source};
use crate::host::element::{f32_bytes, u32_bytes};
use crate::suite::Kernel;
use std::sync::Arc;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Program;
use warpsim_sim::gpu::api::{Launch, TexelKind, Texture};

/// A device and a compiler for the length of a run.
pub struct Session<'a> {
    /// The GPU.
    pub device: &'a mut dyn Device,
    /// Turns PTX into programs.
    pub compiler: &'a dyn Compiler,
}

/// A program on the device.
pub struct Module {
    /// The device's number for it.
    pub id: ModuleId,
    /// What was loaded.
    pub program: Arc<Program>,
}

/// Grid and block of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
}

impl Shape {
    /// A one-dimensional launch.
    pub fn linear(grid: u32, block: u32) -> Shape {
        Shape {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
        }
    }

    /// One thread for each of `n` items, at least one block.
    pub fn cover(n: u32, block: u32) -> Shape {
        Shape::linear(n.div_ceil(block).max(1), block)
    }
}

impl Session<'_> {
    /// Compiles and loads a workload's kernels.
    pub fn load(&mut self, kernel: &Kernel) -> Result<Module, DeviceError> {
        self.load_source(&Source {
            name: &format!("{}.ptx", kernel.name),
            ptx: kernel.ptx,
            listing: Some(kernel.listing),
        })
    }

    /// Compiles and loads PTX; `name` is what messages call it.
    pub fn load_text(&mut self, name: &str, ptx: &str) -> Result<Module, DeviceError> {
        self.load_source(&Source {
            name,
            ptx,
            listing: None,
        })
    }

    fn load_source(&mut self, source: &Source<'_>) -> Result<Module, DeviceError> {
        let Source { name, ptx, .. } = *source;
        let program = match self.device.virtualize() {
            None => self.compiler.compile(name, ptx)?,
            Some(variant) => {
                let rewritten =
                    Rewritten::new(name, ptx, variant, &|k| self.device.hoist_limit(k))?;
                rewritten.finish(&*self.compiler.compile(name, &rewritten.text)?)
            }
        };
        let id = self.device.load_from(source, program.clone())?;
        Ok(Module { id, program })
    }

    /// A zeroed buffer.
    pub fn zeroed(&mut self, label: &str, bytes: u64) -> Result<u64, DeviceError> {
        self.device.alloc(bytes, label)
    }

    /// A buffer with these bytes.
    pub fn upload(&mut self, label: &str, data: &[u8]) -> Result<u64, DeviceError> {
        let address = self.device.alloc(data.len() as u64, label)?;
        self.device.write(address, data)?;
        Ok(address)
    }

    /// A buffer with these words.
    pub fn upload_u32(&mut self, label: &str, data: &[u32]) -> Result<u64, DeviceError> {
        self.upload(label, &u32_bytes(data))
    }

    /// A buffer with these floats.
    pub fn upload_f32(&mut self, label: &str, data: &[f32]) -> Result<u64, DeviceError> {
        self.upload(label, &f32_bytes(data))
    }

    /// The handle of a 1-D texture over plain memory: unsigned texels of `channels` components of
    /// `bits` bits.
    pub fn linear_texture(
        &mut self,
        module: &Module,
        address: u64,
        texels: u32,
        (channels, bits): (u8, u8),
    ) -> Result<u64, DeviceError> {
        let texture = Texture {
            address,
            size: [texels, 1, 1],
            dimensions: 1,
            channels,
            bits,
            kind: TexelKind::Unsigned,
            linear_memory: true,
            filter_linear: false,
            wrap: false,
            normalized: false,
            read_normalized: false,
        };
        self.device.bind_texture(module.id, None, texture)
    }

    /// Sets a variable of a module, from its beginning.
    pub fn set_symbol(
        &mut self,
        module: &Module,
        name: &str,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        match self.device.symbol(module.id, name) {
            Some((address, size)) if data.len() as u64 <= size => self.device.write(address, data),
            Some((_, size)) => Err(DeviceError::bad_input(format!(
                "`{name}` holds {size} bytes, not {}",
                data.len()
            ))),
            None => Err(DeviceError::bad_input(format!(
                "the module has no variable `{name}`"
            ))),
        }
    }

    /// The word at an address.
    pub fn read_u32(&self, address: u64) -> Result<u32, DeviceError> {
        let bytes = self.device.read(address, 4)?;
        let word = bytes.first_chunk().copied().unwrap_or_default();
        Ok(u32::from_le_bytes(word))
    }

    /// Launches a kernel of a module by its name and waits for its end.
    pub fn launch(
        &mut self,
        module: &Module,
        kernel: &str,
        shape: Shape,
        arguments: &[Arg],
    ) -> Result<(), DeviceError> {
        let launch = self.prepare(module, kernel, shape, arguments)?;
        self.device.launch(module.id, &launch)
    }

    /// The same for a kernel that is given so many registers per thread, because the program it
    /// stands for takes as many and residency depends on it.
    pub fn launch_with_registers(
        &mut self,
        module: &Module,
        kernel: &str,
        shape: Shape,
        arguments: &[Arg],
        registers: u32,
    ) -> Result<(), DeviceError> {
        let launch = Launch {
            registers: Some(registers),
            ..self.prepare(module, kernel, shape, arguments)?
        };
        self.device.launch(module.id, &launch)
    }

    /// The same for a kernel that is given so many registers unless that is 0; in virtual blocks, as many more as
    /// these need.
    pub fn launch_counted(
        &mut self,
        module: &Module,
        (from, kernel): (&Kernel, &str),
        shape: Shape,
        arguments: &[Arg],
        registers: u32,
    ) -> Result<(), DeviceError> {
        if registers == 0 {
            return self.launch(module, kernel, shape, arguments);
        }
        let needs = |program: &Program| {
            let found = args::find_kernel(program, kernel).map_err(DeviceError::bad_input)?;
            Ok::<u32, DeviceError>(program.kernels[found].register_demand)
        };
        let more = match self.device.virtualize() {
            None => 0,
            Some(_) => {
                let plain = self
                    .compiler
                    .compile(&format!("{}.ptx", from.name), from.ptx)?;
                needs(&module.program)?.saturating_sub(needs(&plain)?)
            }
        };
        self.launch_with_registers(module, kernel, shape, arguments, registers + more)
    }

    /// The same for a kernel whose blocks wait for each other: an error when the GPU cannot hold
    /// all of them at once, since those it holds would wait forever.
    pub fn launch_together(
        &mut self,
        module: &Module,
        kernel: &str,
        shape: Shape,
        arguments: &[Arg],
    ) -> Result<(), DeviceError> {
        let launch = self.prepare(module, kernel, shape, arguments)?;
        self.launch_prepared(module, kernel, &launch)
    }

    /// Launches a kernel whose blocks wait for each other.
    pub fn launch_prepared(
        &mut self,
        module: &Module,
        kernel: &str,
        launch: &Launch,
    ) -> Result<(), DeviceError> {
        let blocks = launch.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        match self.device.resident_blocks(module.id, launch)? {
            Some(most) if u64::from(most) < blocks => Err(DeviceError::bad_input(format!(
                "the {blocks} blocks of {} wait for each other, but this GPU holds only {most} \
                 of them at once; launch fewer",
                shown(kernel)
            ))),
            _ => self.device.launch_together(module.id, launch),
        }
    }

    fn prepare(
        &self,
        module: &Module,
        kernel: &str,
        shape: Shape,
        arguments: &[Arg],
    ) -> Result<Launch, DeviceError> {
        let index = args::find_kernel(&module.program, kernel).map_err(DeviceError::bad_input)?;
        let params = args::pack(&module.program.kernels[index], arguments)
            .map_err(|e| DeviceError::bad_input(e.message))?;
        Ok(Launch {
            kernel: index,
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: 0,
            params,
            registers: None,
        })
    }
}
