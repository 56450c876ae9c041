//! A device for tests: memory is a byte vector, kernels are Rust closures.

#![allow(dead_code)]

use std::collections::HashMap;
use std::sync::Arc;
use warpsim_ptx::isa::{Space, Type};
use warpsim_ptx::kernel::{Kernel, Param, Program, Symbol};
use warpsim_sim::gpu::api::{Launch, Texture};
use warpsim_workloads::device::{Device, DeviceError, ModuleId};

/// What a kernel does: memory, parameter block, number of threads.
pub type Body = Box<dyn Fn(&mut [u8], &[u8], u32) -> Result<(), DeviceError>>;

/// The device. Addresses start at [`BASE`].
#[derive(Default)]
pub struct Mock {
    pub memory: Vec<u8>,
    pub program: Option<Arc<Program>>,
    pub symbols: HashMap<String, (u64, u64)>,
    pub bodies: HashMap<String, Body>,
    pub launches: Vec<(String, Launch)>,
    pub textures: Vec<(Option<String>, Texture)>,
}

pub const BASE: u64 = 0x1000;
const MOST: u64 = 64 << 20;

impl Mock {
    pub fn with(
        mut self,
        kernel: &str,
        body: impl Fn(&mut [u8], &[u8], u32) -> Result<(), DeviceError> + 'static,
    ) -> Mock {
        self.bodies.insert(kernel.to_string(), Box::new(body));
        self
    }
    fn range(&self, address: u64, bytes: u64) -> Result<std::ops::Range<usize>, DeviceError> {
        let start = address.checked_sub(BASE).map(|a| a as usize);
        start
            .map(|s| s..s + bytes as usize)
            .filter(|r| r.end <= self.memory.len())
            .ok_or_else(|| {
                DeviceError::program_failed(format!("address {address:#x} out of bounds"))
            })
    }
}

impl Device for Mock {
    fn alloc(&mut self, bytes: u64, _label: &str) -> Result<u64, DeviceError> {
        let start = self.memory.len().next_multiple_of(256);
        if start as u64 + bytes > MOST {
            return Err(DeviceError::bad_input("out of device memory"));
        }
        self.memory.resize(start + bytes as usize, 0);
        Ok(BASE + start as u64)
    }
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        let range = self.range(address, data.len() as u64)?;
        self.memory[range].copy_from_slice(data);
        Ok(())
    }
    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        Ok(self.memory[self.range(address, bytes)?].to_vec())
    }
    fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), DeviceError> {
        let range = self.range(address, bytes)?;
        self.memory[range].fill(value);
        Ok(())
    }
    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        let data = self.read(from, bytes)?;
        self.write(to, &data)
    }
    fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, DeviceError> {
        for symbol in &program.symbols {
            let address = self.alloc(symbol.size, &symbol.name)?;
            self.symbols
                .insert(symbol.name.clone(), (address, symbol.size));
        }
        self.program = Some(program);
        Ok(ModuleId(0))
    }
    fn symbol(&self, _module: ModuleId, name: &str) -> Option<(u64, u64)> {
        self.symbols.get(name).copied()
    }
    fn bind_texture(
        &mut self,
        _module: ModuleId,
        name: Option<&str>,
        texture: Texture,
    ) -> Result<u64, DeviceError> {
        self.textures.push((name.map(String::from), texture));
        Ok(self.textures.len() as u64)
    }
    fn launch(&mut self, _module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        let name = self.program.as_ref().expect("loaded").kernels[launch.kernel]
            .name
            .clone();
        self.launches.push((name.clone(), launch.clone()));
        let threads: u32 = launch.grid.iter().chain(&launch.block).product();
        match self.bodies.get(&name) {
            Some(body) => body(&mut self.memory, &launch.params, threads),
            None => Ok(()),
        }
    }
}

/// Reads what a test needs of PTX: entries with their parameters, and module variables.
pub fn compile(_name: &str, ptx: &str) -> Result<Arc<Program>, DeviceError> {
    let mut program = Program::default();
    for line in ptx.lines().map(str::trim) {
        let words: Vec<&str> = line
            .split([' ', '\t', '(', '[', ']', ',', ';'])
            .filter(|w| !w.is_empty())
            .collect();
        match words.as_slice() {
            [".visible", ".entry", name, ..] => program.kernels.push(kernel(name).into()),
            [".param", ty, name] => {
                let (bytes, ty) = match *ty {
                    ".u64" => (8, Type::U64),
                    ".f32" => (4, Type::F32),
                    _ => (4, Type::U32),
                };
                param(
                    program.kernels.last_mut().expect("an entry"),
                    name,
                    bytes,
                    ty,
                    false,
                );
            }
            [".param", ".align", _, ".b8", name, size] => {
                let size = size.parse().expect("a size");
                param(
                    program.kernels.last_mut().expect("an entry"),
                    name,
                    size,
                    Type::B8,
                    true,
                );
            }
            [".const", ".align", _, ".b8", name, size, ..]
            | [".visible", ".const", ".align", _, ".b8", name, size, ..] => {
                program.symbols.push(Symbol {
                    name: name.to_string(),
                    space: Space::Const,
                    size: size.parse().expect("a size"),
                    align: 4,
                    init: Vec::new(),
                    relocations: Vec::new(),
                    external: false,
                })
            }
            [".global", ".texref", name] => program.textures.push(name.to_string()),
            _ => {}
        }
    }
    Ok(Arc::new(program))
}

fn param(kernel: &mut Kernel, name: &str, size: u32, ty: Type, array: bool) {
    let offset = kernel.param_bytes.next_multiple_of(size.min(8));
    kernel.param_bytes = offset + size;
    kernel.params.push(Param {
        name: name.to_string(),
        offset,
        size,
        align: size.min(8),
        ty,
        array,
    });
}

fn kernel(name: &str) -> Kernel {
    Kernel {
        name: name.to_string(),
        files: Default::default(),
        params: Vec::new(),
        param_bytes: 0,
        code: Vec::new(),
        registers: Vec::new(),
        rows: 0,
        predicate_slots: 0,
        register_demand: 0,
        register_floor: 0,
        shared_bytes: 0,
        dynamic_shared: None,
        local_bytes: 0,
        spill_base: None,
        bounds: Default::default(),
        blocks: Vec::new(),
        rolled: Vec::new(),
        crossings: Default::default(),
        virtualised: Default::default(),
        undefined: Vec::new(),
    }
}

/// The 64-bit word at a byte of the parameter block, as an index into memory.
pub fn pointer(params: &[u8], at: usize) -> usize {
    (u64::from_le_bytes(params[at..at + 8].try_into().expect("8 bytes")) - BASE) as usize
}

/// The 32-bit word at a byte.
pub fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

/// Sets the 32-bit word at a byte.
pub fn set_word(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Vector addition as the kernel of that name does it.
pub fn vecadd(memory: &mut [u8], params: &[u8], threads: u32) -> Result<(), DeviceError> {
    let (a, b, c, n) = (
        pointer(params, 0),
        pointer(params, 8),
        pointer(params, 16),
        word(params, 24),
    );
    for i in 0..threads.min(n) as usize * 4 {
        if i % 4 == 0 {
            let sum = f32::from_bits(word(memory, a + i)) + f32::from_bits(word(memory, b + i));
            set_word(memory, c + i, sum.to_bits());
        }
    }
    Ok(())
}

/// The two kernels of breadth-first search.
pub fn bfs_visit(m: &mut [u8], p: &[u8], threads: u32) -> Result<(), DeviceError> {
    let [row, edges, frontier, next, visited, level] =
        [0, 8, 16, 24, 32, 40].map(|o| pointer(p, o));
    for node in 0..threads.min(word(p, 48)) as usize {
        if word(m, frontier + node * 4) == 0 {
            continue;
        }
        set_word(m, frontier + node * 4, 0);
        let distance = word(m, level + node * 4) + 1;
        for e in word(m, row + node * 4)..word(m, row + node * 4 + 4) {
            let to = word(m, edges + e as usize * 4) as usize;
            if word(m, visited + to * 4) == 0 {
                set_word(m, level + to * 4, distance);
                set_word(m, next + to * 4, 1);
            }
        }
    }
    Ok(())
}

/// See [`bfs_visit`].
pub fn bfs_advance(m: &mut [u8], p: &[u8], threads: u32) -> Result<(), DeviceError> {
    let [frontier, next, visited, again] = [0, 8, 16, 24].map(|o| pointer(p, o));
    for node in 0..threads.min(word(p, 32)) as usize {
        if word(m, next + node * 4) != 0 {
            set_word(m, frontier + node * 4, 1);
            set_word(m, visited + node * 4, 1);
            set_word(m, next + node * 4, 0);
            set_word(m, again, 1);
        }
    }
    Ok(())
}

/// A mock with every kernel above.
pub fn mock() -> Mock {
    Mock::default()
        .with("vecadd", vecadd)
        .with("bfs_visit", bfs_visit)
        .with("bfs_advance", bfs_advance)
}
