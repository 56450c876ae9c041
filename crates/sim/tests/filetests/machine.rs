//! A whole GPU, as the files run on it.

use super::run::{Device, Launch};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use warpsim_ptx::kernel::Program;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::api::{self, Texture};
use warpsim_sim::gpu::{Gpu, Options};

/// What a kernel printed.
#[derive(Clone, Default)]
struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(data);
        Ok(data.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A `gtx480` and the number of the module that was loaded last.
pub struct Whole {
    gpu: Gpu,
    module: usize,
    printed: Printed,
}

impl Whole {
    /// With or without timing, for so many cycles or warp instructions, with other settings.
    pub fn new(functional: bool, limit: u64, set: &[String]) -> Whole {
        let machine = Machine::resolve("gtx480", set).unwrap_or_else(|e| panic!("{e}"));
        let printed = Printed::default();
        let options = Options {
            functional,
            max_cycles: Some(limit),
            output: Box::new(printed.clone()),
            ..Options::default()
        };
        Whole {
            gpu: Gpu::new(machine, options).unwrap_or_else(|e| panic!("{e}")),
            module: 0,
            printed,
        }
    }
}

impl Device for Whole {
    fn load(&mut self, program: Arc<Program>) -> Result<(), String> {
        self.module = self.gpu.load(program).map_err(|e| e.to_string())?;
        Ok(())
    }

    fn alloc(&mut self, bytes: u64, name: &str) -> Option<u64> {
        self.gpu.alloc(bytes, name)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.gpu.write(address, bytes).map_err(|e| e.to_string())
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, String> {
        self.gpu.read(address, bytes).map_err(|e| e.to_string())
    }

    fn free(&mut self, address: u64) -> Result<(), String> {
        self.gpu.free(address).map_err(|e| e.to_string())
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        self.gpu.symbol(self.module, name).map(|(at, _)| at)
    }

    fn bind(&mut self, name: &str, texture: Texture) -> Result<(), String> {
        let bound = self.gpu.bind_texref(self.module, name, texture);
        bound.map_err(|e| e.to_string())
    }

    fn make_texture(&mut self, texture: Texture) -> u64 {
        self.gpu.make_texture(texture)
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), String> {
        let launch = api::Launch {
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            params: launch.params.clone(),
            registers: None,
        };
        let result = self.gpu.launch(self.module, &launch);
        result.map_err(|e| e.to_string())
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.0.borrow()).into_owned()
    }
}
