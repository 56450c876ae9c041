//! A real GPU as the device that workloads and launch files run on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::{Program, Virtualised};
use warpsim_ptx::rewrite::vtw::Variant;
use warpsim_sim::gpu::api::{Launch, Texture};
use warpsim_workloads::device::{Compiler, Device, DeviceError, MOST_REGISTERS, ModuleId};
use warpsim_workloads::simulated;
use warpsim_workloads::virtual_blocks::Rewritten;

use super::driver::{Driver, Module, Shape};
use super::texture::Bound;

/// The PTX of every program compiled: the driver wants text, devices are given programs.
#[derive(Clone, Default)]
pub struct Texts {
    known: Rc<RefCell<Vec<Known>>>,
    /// Kernels get virtual blocks in software, and where the number is given, so many at most.
    virtualize: Option<Option<u32>>,
}

/// A program and its PTX.
type Known = (Arc<Program>, String);

impl Texts {
    /// Texts whose kernels get virtual blocks in software: so many at most, or (`None`) enough
    /// that the GPU is busy.
    pub fn virtualized(blocks: Option<u32>) -> Texts {
        Texts {
            known: Rc::default(),
            virtualize: Some(blocks),
        }
    }

    fn of(&self, program: &Arc<Program>) -> Option<String> {
        let texts = self.known.borrow();
        let found = texts.iter().find(|(p, _)| Arc::ptr_eq(p, program));
        found.map(|(_, text)| text.clone())
    }
}

impl Compiler for Texts {
    fn compile(&self, name: &str, ptx: &str) -> Result<Arc<Program>, DeviceError> {
        let (program, text) = match self.virtualize {
            None => (simulated::compile(name, ptx)?, ptx.to_string()),
            Some(_) => {
                let rewritten = Rewritten::new(name, ptx, Variant::Software, &|_| MOST_REGISTERS)?;
                let program = simulated::compile(name, &rewritten.text)?;
                (rewritten.finish(&program), rewritten.text)
            }
        };
        let entry = (program.clone(), text);
        self.known.borrow_mut().push(entry);
        Ok(program)
    }
}

/// A GPU through its driver. Compile with the [`Texts`] it was made with.
pub struct RealDevice<'a> {
    driver: &'a Driver,
    texts: Texts,
    modules: Vec<(Module<'a>, Arc<Program>)>,
    /// Address and size of every buffer; freed at the end.
    buffers: HashMap<u64, u64>,
    textures: Vec<Bound<'a>>,
    /// Kernels run.
    pub launches: u64,
}

fn failed(text: String) -> DeviceError {
    DeviceError::program_failed(text)
}

impl<'a> RealDevice<'a> {
    /// A device with nothing on it.
    pub fn new(driver: &'a Driver, texts: Texts) -> RealDevice<'a> {
        RealDevice {
            driver,
            texts,
            modules: Vec::new(),
            buffers: HashMap::new(),
            textures: Vec::new(),
            launches: 0,
        }
    }

    fn module(&self, module: ModuleId) -> Result<&(Module<'a>, Arc<Program>), DeviceError> {
        let missing = || DeviceError::bad_input("no such module");
        self.modules.get(module.0).ok_or_else(missing)
    }
}

impl Drop for RealDevice<'_> {
    fn drop(&mut self) {
        self.textures.clear();
        for address in self.buffers.keys() {
            self.driver.free_raw(*address);
        }
    }
}

impl Device for RealDevice<'_> {
    fn alloc(&mut self, bytes: u64, label: &str) -> Result<u64, DeviceError> {
        let address = self
            .driver
            .alloc_raw(bytes)
            .map_err(|e| DeviceError::bad_input(format!("{label}: {e}")))?;
        self.buffers.insert(address, bytes);
        Ok(address)
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.driver.write(address, data).map_err(failed)
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.driver.read(address, bytes).map_err(failed)
    }

    fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), DeviceError> {
        self.driver.fill(address, bytes, value).map_err(failed)
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        // As if through a buffer: the driver leaves overlapping ranges open.
        let data = self.read(from, bytes)?;
        self.write(to, &data)
    }

    fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, DeviceError> {
        let unknown =
            || DeviceError::bad_input("a program that this device's compiler did not make");
        let text = self.texts.of(&program).ok_or_else(unknown)?;
        let module = self.driver.load(&text).map_err(DeviceError::bad_input)?;
        self.modules.push((module, program));
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        self.modules.get(module.0)?.0.symbol(name)
    }

    fn bind_texture(
        &mut self,
        _module: ModuleId,
        name: Option<&str>,
        texture: Texture,
    ) -> Result<u64, DeviceError> {
        if let Some(name) = name {
            return Err(DeviceError::bad_input(format!(
                "texture `{name}`: a real GPU takes textures by handle only, drivers have given up .texref"
            )));
        }
        let bound = Bound::new(self.driver, texture).map_err(DeviceError::bad_input)?;
        let handle = bound.handle();
        self.textures.push(bound);
        Ok(handle)
    }

    fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        let most = self.texts.virtualize.flatten();
        self.run(module, launch, most.unwrap_or(VIRTUAL_BLOCKS))
    }

    fn launch_together(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        self.run(module, launch, u32::MAX)
    }
}

/// Virtual blocks where the user does not say how many: so few that most kernels of the workloads go through
/// their loop several times, and so many that every SM of a large GPU has something to do.
const VIRTUAL_BLOCKS: u32 = 132;

impl RealDevice<'_> {
    /// Runs a kernel to its end, with so many virtual blocks at most if its blocks are.
    fn run(&mut self, module: ModuleId, launch: &Launch, most: u32) -> Result<(), DeviceError> {
        for texture in &self.textures {
            texture.refresh().map_err(failed)?;
        }
        let (module, program) = self.module(module)?;
        let missing = || DeviceError::bad_input("no such kernel");
        let kernel = program.kernels.get(launch.kernel).ok_or_else(missing)?;
        let bad =
            |why: String| DeviceError::bad_input(format!("kernel {}: {why}", shown(&kernel.name)));
        let (grid, params) = match &kernel.virtualised {
            Virtualised::No => (launch.grid, launch.params.clone()),
            Virtualised::Refused(why) => {
                return Err(bad(format!("it cannot have virtual blocks: it {why}")));
            }
            Virtualised::Form(form) => {
                if let Some(misfit) = form.misfit(launch.grid, launch.block) {
                    return Err(bad(format!("it cannot have virtual blocks for {misfit}")));
                }
                let logical = launch.grid.iter().product::<u32>();
                let params = form.parameters(&launch.params, launch.grid);
                ([logical.min(most), 1, 1], params)
            }
        };
        let shape = Shape {
            grid,
            block: launch.block,
            shared: launch.dynamic_shared,
        };
        let entry = module
            .kernel(&kernel.name)
            .map_err(DeviceError::bad_input)?;
        entry
            .launch(&shape, &params)
            .map_err(|e| failed(format!("kernel {}: {e}", shown(&kernel.name))))?;
        self.launches += 1;
        Ok(())
    }
}
