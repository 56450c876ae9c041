//! Modules: symbols get addresses and contents, kernels a place in instruction memory.

use super::api::Texture;
use super::{Gpu, Loaded, Module, SimError};
use crate::config::Machine;
use crate::occupancy::fitted;
use std::sync::Arc;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::{INSTRUCTION_BYTES, Kernel, Program, RelocTarget};

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
        let mut symbols = Vec::with_capacity(program.symbols.len());
        for symbol in &program.symbols {
            let address = self
                .image
                .alloc(symbol.size.max(1), symbol.align.max(256), &symbol.name);
            symbols.push(address.ok_or_else(|| {
                SimError::BadLaunch(format!(
                    "no room for the variable {} of {} bytes",
                    symbol.name, symbol.size
                ))
            })?);
        }
        for (symbol, &address) in program.symbols.iter().zip(&symbols) {
            let mut bytes = symbol.init.clone();
            for r in &symbol.relocations {
                let target = match r.target {
                    RelocTarget::Symbol(i) => symbols[i as usize],
                    RelocTarget::Absolute(a) => a,
                };
                let value = (target.wrapping_add_signed(r.addend) >> r.shift).to_le_bytes();
                let (at, n) = (r.offset as usize, r.bytes as usize);
                if bytes.len() < at + n {
                    bytes.resize(at + n, 0);
                }
                bytes[at..at + n].copy_from_slice(&value[..n]);
            }
            if !bytes.is_empty() {
                let what = |e| SimError::BadLaunch(format!("initialising {}: {e}", symbol.name));
                self.image.write(address, &bytes).map_err(what)?;
            }
            if symbol.space == Space::Const {
                self.image.protect(address);
            }
        }
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

    /// Makes a texture object; returns its handle.
    pub fn make_texture(&mut self, texture: Texture) -> u64 {
        self.texture_objects.push(Some(texture));
        self.texture_objects.len() as u64
    }
}
