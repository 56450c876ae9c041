//! Modules: symbols get addresses and contents, kernels a place in instruction memory.

use super::api::Texture;
use super::{Gpu, Loaded, Module, SimError};
use crate::config::Machine;
use crate::exec::memory::variables;
use crate::occupancy::fitted;
use std::sync::Arc;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Kernel, Program};

/// Where instruction memory begins for the caches.
const CODE_BASE: u64 = 0xf000_0000;
impl Module {
    /// A kernel with spills where this machine asks for them; as it is where it does not.
    pub(super) fn kernel(&self, machine: &Machine, number: usize) -> &Kernel {
        let kernel = &self.program.kernels[number];
        let spilled = &self.kernels[number].fitted;
        spilled
            .get_or_init(|| fitted(machine, kernel))
            .as_ref()
            .unwrap_or(kernel)
    }

    /// How many instructions a kernel has on this machine.
    fn instructions(&self, machine: &Machine, number: usize) -> usize {
        if machine.sm.spills {
            self.kernel(machine, number).code.len()
        } else {
            self.program.kernels[number].instructions()
        }
    }
}

impl Gpu {
    /// Loads a module; returns its number. Kernels that may not have the registers they need here
    /// run with spills.
    pub fn load(&mut self, program: Arc<Program>) -> Result<usize, SimError> {
        let symbols = variables::place(&program, &mut self.image).map_err(SimError::BadLaunch)?;
        let texrefs = vec![None; program.textures.len()];
        let kernels = program.kernels.iter().map(|_| Loaded::default()).collect();
        self.modules.push(Module {
            program,
            symbols,
            texrefs,
            kernels,
        });
        Ok(self.modules.len() - 1)
    }

    /// Where a kernel's code lies in instruction memory: behind that of all kernels before it, in
    /// the order of modules and of kernels in them.
    pub(super) fn code_base(&self, module: usize, number: usize) -> u64 {
        let wanted = &self.modules[module].kernels[number].base;
        if let Some(base) = wanted.get() {
            return *base;
        }
        let line = self.machine.l1i.line.max(1) as u64;
        let packed = self.machine.fetch.kernels_back_to_back;
        let mut end = CODE_BASE;
        for module in &self.modules[..=module] {
            for (number, kernel) in module.kernels.iter().enumerate() {
                let next = || {
                    if packed {
                        end
                    } else {
                        end.next_multiple_of(line)
                    }
                };
                let base = *kernel.base.get_or_init(next);
                if std::ptr::eq(&kernel.base, wanted) {
                    return base;
                }
                let instructions = module.instructions(&self.machine, number) as u64;
                end = base + instructions * INSTRUCTION_BYTES;
            }
        }
        end
    }

    /// Address and size of a module variable.
    pub fn symbol(&self, module: usize, name: &str) -> Option<(u64, u64)> {
        let module = self.modules.get(module)?;
        let at = module.program.symbols.iter().position(|s| s.name == name)?;
        Some((module.symbols[at], module.program.symbols[at].size))
    }

    /// Whether a `.global` or `.const` variable lies at an address.
    pub(super) fn is_variable(&self, address: u64) -> bool {
        let within = |module: &Module| {
            let symbols = module.symbols.iter().zip(&module.program.symbols);
            let mut ranges = symbols.map(|(&at, symbol)| at..at + symbol.size);
            ranges.any(|range| range.contains(&address))
        };
        self.modules.iter().any(within)
    }

    /// Binds a texture to a `.texref` variable.
    pub fn bind_texref(
        &mut self,
        module: usize,
        name: &str,
        texture: Texture,
    ) -> Result<(), SimError> {
        let module = &mut self.modules[module];
        let names = &module.program.textures;
        let Some(at) = names.iter().position(|t| t == name) else {
            let known = if names.is_empty() {
                "it has none".into()
            } else {
                names.join(", ")
            };
            return Err(SimError::BadLaunch(format!(
                "the module has no texture `{name}`: {known}"
            )));
        };
        module.texrefs[at] = Some(texture);
        Ok(())
    }

    /// Makes a texture object; returns its handle. Those of objects that are no more are used again.
    pub fn make_texture(&mut self, texture: Texture) -> u64 {
        let free = self.texture_objects.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.texture_objects.push(None);
            self.texture_objects.len() - 1
        });
        self.texture_objects[at] = Some(texture);
        at as u64 + 1
    }

    /// The texture of an object.
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        let at = usize::try_from(handle).ok()?.checked_sub(1)?;
        self.texture_objects.get(at)?.as_ref()
    }

    /// Takes a texture object away; whether there was one.
    pub fn drop_texture(&mut self, handle: u64) -> bool {
        let at = usize::try_from(handle).ok().and_then(|h| h.checked_sub(1));
        let object = at.and_then(|at| self.texture_objects.get_mut(at));
        object.is_some_and(|object| object.take().is_some())
    }

    /// Gives a module's variables their first contents again.
    pub fn initialise(&mut self, module: usize) -> Result<(), SimError> {
        let module = &self.modules[module];
        for (symbol, &address) in module.program.symbols.iter().zip(&module.symbols) {
            // What the program says nothing of is zero.
            if let Ok(bytes) = self.image.slice_mut(address, symbol.size) {
                bytes.fill(0);
            }
        }
        let done = variables::initialise(&module.program, &module.symbols, &mut self.image);
        done.map_err(SimError::BadLaunch)
    }
}
