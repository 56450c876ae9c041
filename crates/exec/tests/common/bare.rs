//! A device that runs kernels and nothing else: no timing, no machine.

use crate::filetests::run::{Device, Launch};
use std::ops::ControlFlow;
use std::sync::Arc;
use warpsim_exec::code::Code;
use warpsim_exec::functional::{Listeners, Options, RaceCheck, StepCheck, run};
use warpsim_exec::grid::{Grid, Texture};
use warpsim_exec::memory::image::GlobalMemory;
use warpsim_exec::memory::variables;
use warpsim_ptx::kernel::Program;

/// Memory and the program that was loaded last.
pub struct Bare {
    memory: GlobalMemory,
    program: Arc<Program>,
    symbols: Vec<u64>,
    texrefs: Vec<Option<Texture>>,
    objects: Vec<Option<Texture>>,
    printed: Vec<u8>,
    launches: u64,
    limit: u64,
    /// Looks for races, if there is one.
    pub races: Option<RaceCheck>,
    /// Looks for threads that count on being in step, if there is one.
    pub steps: Option<StepCheck>,
}

impl Bare {
    /// Gives up after so many warp instructions.
    pub fn new(limit: u64) -> Bare {
        Bare {
            memory: GlobalMemory::new(),
            program: Arc::default(),
            symbols: Vec::new(),
            texrefs: Vec::new(),
            objects: Vec::new(),
            printed: Vec::new(),
            launches: 0,
            limit,
            races: None,
            steps: None,
        }
    }
}

impl Device for Bare {
    fn load(&mut self, program: Arc<Program>) -> Result<(), String> {
        self.symbols = variables::place(&program, &mut self.memory)?;
        self.texrefs = vec![None; program.textures.len()];
        self.program = program;
        Ok(())
    }

    fn alloc(&mut self, bytes: u64, name: &str) -> Option<u64> {
        self.memory.alloc(bytes, 256, name)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.memory.write(address, bytes).map_err(|e| e.to_string())
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let mut into = vec![0; bytes as usize];
        let read = self.memory.read(address, &mut into);
        read.map(|()| into).map_err(|e| e.to_string())
    }

    fn free(&mut self, address: u64) -> Result<(), String> {
        self.memory.free(address).map_err(|e| e.to_string())
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        let at = self.program.symbols.iter().position(|s| s.name == name)?;
        Some(self.symbols[at])
    }

    fn bind(&mut self, name: &str, texture: Texture) -> Result<(), String> {
        let at = self.program.textures.iter().position(|t| t == name);
        self.texrefs[at.ok_or("no such texture")?] = Some(texture);
        Ok(())
    }

    fn make_texture(&mut self, texture: Texture) -> u64 {
        self.objects.push(Some(texture));
        self.objects.len() as u64
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), String> {
        let kernel = &self.program.kernels[launch.kernel];
        let code = Code::new(kernel, &self.symbols).map_err(|e| e.to_string())?;
        let shared = kernel.dynamic_shared.unwrap_or(kernel.shared_bytes);
        let grid = Grid {
            grid: launch.grid,
            block: launch.block,
            params: launch.params.clone(),
            virtual_blocks: None,
            dynamic_shared: launch.dynamic_shared,
            total_shared: shared + launch.dynamic_shared,
            id: self.launches,
            // What the files expect is what a gtx480 says of itself.
            sms: 15,
            warps_per_sm: 48,
            workspace: 0,
            texrefs: self.texrefs.clone(),
            texture_objects: self.objects.clone(),
        };
        self.launches += 1;
        let printed = &mut self.printed;
        let listeners = Listeners {
            hand_on: &mut |text| {
                printed.append(text);
                ControlFlow::Continue(())
            },
            races: self.races.as_mut(),
            steps: self.steps.as_mut(),
        };
        let options = Options {
            max_instructions: self.limit,
            ..Options::default()
        };
        let result = run(&code, kernel, &grid, &mut self.memory, listeners, options);
        result.map(drop).map_err(|e| e.to_string())
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed).into_owned()
    }
}
