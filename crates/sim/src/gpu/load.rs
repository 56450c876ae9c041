//! Modules: symbols get addresses and contents, kernels a place in instruction memory.

use super::api::{Launch, Texture};
use super::{Decoded, Gpu, Loaded, Module, SimError};
use crate::config::{Machine, OpClass};
use crate::exec::code::Code;
use crate::exec::grid::{Grid, VirtualBlocks};
use crate::exec::memory::image::host_has;
use crate::occupancy::{Occupancy, fitted, occupancy, registers};
use crate::sm::Launched;
use crate::sm::facts::{class_of, op_facts};
use std::sync::Arc;
use warpsim_present::mangled::shown;
use warpsim_ptx::analysis::unwritten_reads;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::{
    AddrBase, INSTRUCTION_BYTES, Instr, Kernel, Operand, Program, RelocTarget, TexBase, Virtualised,
};

/// Threads of a block and blocks of a grid in x, y and z, by the CUDA programming guide (compute
/// capability 3.0 and later, whose PTX this is).
const LARGEST_BLOCK: [u32; 3] = [1024, 1024, 64];
const LARGEST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Local memory of a thread, by the same guide.
const LARGEST_LOCAL: u32 = 512 << 10;
/// Local memory of a thread for which the host's memory is not looked at.
const SMALL_LOCAL: u32 = 4 << 10;

/// Parameters, blocks in x, y and z, and what virtual blocks run for.
type Shape = (Vec<u8>, [u32; 3], Option<VirtualBlocks>);

/// Where instruction memory begins for the caches.
const CODE_BASE: u64 = 0xf000_0000;
/// Where kernel parameters lie for the constant cache: where six channels begin anew, as at address
/// 0, and in the bank in which instruction memory begins.
const PARAM_BASE: u64 = 0xc000_0000;

impl Module {
    /// A kernel with spills where this machine asks for them; as it is where it does not.
    fn kernel(&self, machine: &Machine, number: usize) -> &Kernel {
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

/// What is odd about a kernel, though it can be run: on this machine, unless nothing is timed.
pub(super) fn oddities(kernel: &Kernel, machine: Option<&Machine>) -> Vec<String> {
    let lacking = machine.filter(|m| m.own_unit_of(OpClass::Tensor).is_none());
    let product = |instr: &&Instr| class_of(instr) == OpClass::Tensor;
    let products = lacking.and_then(|m| Some((m, kernel.code.iter().find(product)?)));
    let products = products.map(|(machine, instr)| {
        format!(
            "kernel {}, PTX line {}: {} has no unit for products of matrices (`tensor`); the one for \
             single precision takes them",
            shown(&kernel.name),
            instr.line,
            machine.name
        )
    });
    let unwritten = unwritten_reads(kernel).into_iter().map(|read| {
        format!(
            "kernel {}, PTX line {}: `{}` is read here, and {}",
            shown(&kernel.name),
            read.line,
            kernel.registers[usize::from(read.register.0)].name,
            match read.ever {
                true => "nothing that comes before writes it",
                false => "nothing ever writes it",
            }
        )
    });
    products.into_iter().chain(unwritten).collect()
}

/// Refuses a kernel that needs what no file defines.
fn check_externals(module: &Module, kernel: &Kernel) -> Result<(), SimError> {
    let refuse = |what: String| {
        Err(SimError::BadLaunch(format!(
            "kernel {} {what}, which is declared `.extern` and which no file defines; link the file \
             that does",
            shown(&kernel.name)
        )))
    };
    if let Some((name, line)) = kernel.undefined.first() {
        return refuse(format!("calls `{}` (PTX line {line})", shown(name)));
    }
    for instr in &kernel.code {
        for operand in &instr.src {
            let (Operand::Symbol { index, .. }
            | Operand::Address {
                base: AddrBase::Symbol(index),
                ..
            }) = operand
            else {
                continue;
            };
            let symbol = &module.program.symbols[*index as usize];
            if symbol.external {
                return refuse(format!("uses `{}` (PTX line {})", symbol.name, instr.line));
            }
        }
    }
    Ok(())
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
    fn code_base(&self, module: usize, number: usize) -> u64 {
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

    /// Registers a thread that occupancy counts with: what the launch says, else what the PTX
    /// needs and asks for.
    fn registers(&self, kernel: &Kernel, launch: &Launch) -> u32 {
        let threads = launch.block.iter().product();
        let limited = || registers(&self.machine, kernel, threads);
        launch.registers.unwrap_or_else(limited)
    }

    /// Blocks of a launch that the machine holds at once: all that kernels whose blocks wait for
    /// each other may have.
    pub fn resident_blocks(&self, module: usize, launch: &Launch) -> Result<u32, SimError> {
        let (launched, occupancy, _) = self.prepare(module, launch)?;
        let places = occupancy.blocks.saturating_mul(self.machine.gpu.sms);
        Ok(match &launched.kernel.virtualised {
            Virtualised::Form(_) => self.virtual_places(places),
            _ => places,
        })
    }

    /// Virtual blocks that are launched at most where the GPU has room for so many blocks.
    fn virtual_places(&self, places: u32) -> u32 {
        match self.machine.virtual_blocks.blocks {
            0 => places,
            most => places.min(most),
        }
    }

    /// The grid as the hardware sees it: as it was asked for, or virtual blocks for it.
    fn shape(&self, kernel: &Kernel, launch: &Launch, places: u32) -> Result<Shape, SimError> {
        let bad =
            |text: String| SimError::BadLaunch(format!("kernel {}: {text}", shown(&kernel.name)));
        let form = match &kernel.virtualised {
            Virtualised::No => return Ok((launch.params.clone(), launch.grid, None)),
            Virtualised::Refused(why) => {
                return Err(bad(format!(
                    "it cannot have virtual blocks: it {why}; --virtualize off runs it"
                )));
            }
            Virtualised::Form(form) => form,
        };
        if let Some(misfit) = form.misfit(launch.grid, launch.block) {
            return Err(bad(format!("it cannot have virtual blocks for {misfit}")));
        }
        let logical: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let blocks = u64::from(self.virtual_places(places)).min(logical) as u32;
        let params = form.parameters(&launch.params, launch.grid);
        let handed_out = form.hardware.then_some(VirtualBlocks {
            logical,
            next_tid: self.machine.virtual_blocks.next_tid,
        });
        Ok((params, [blocks, 1, 1], handed_out))
    }

    /// Checks a launch and gets everything ready for it.
    pub(super) fn prepare(
        &self,
        module: usize,
        launch: &Launch,
    ) -> Result<(Launched, Occupancy, u32), SimError> {
        let number = module;
        let module = &self.modules[number];
        if launch.kernel >= module.kernels.len() {
            let text = "the module has no such kernel";
            return Err(SimError::BadLaunch(text.into()));
        }
        let kernel = module.kernel(&self.machine, launch.kernel);
        self.check(kernel, launch)?;
        self.check_textures(module, kernel)?;
        check_externals(module, kernel)?;
        let bad =
            |text: String| SimError::BadLaunch(format!("kernel {}: {text}", shown(&kernel.name)));
        let total_shared =
            kernel.dynamic_shared.unwrap_or(kernel.shared_bytes) + launch.dynamic_shared;
        let registers = self.registers(kernel, launch);
        let threads = launch.block.iter().product::<u32>();
        let occupancy = occupancy(&self.machine, registers, total_shared, threads);
        if occupancy.blocks == 0 {
            return Err(bad(format!(
                "a block of {threads} threads with {registers} registers each and {total_shared} bytes of \
                 shared memory does not fit an SM of {}: limited by {}",
                self.machine.name, occupancy.limited_by
            )));
        }
        let places = occupancy.blocks.saturating_mul(self.machine.gpu.sms);
        // Small frames are not worth asking for.
        let resident = u64::from(places) * u64::from(threads.next_multiple_of(32));
        let local = u64::from(kernel.local_bytes) * resident;
        if kernel.local_bytes > SMALL_LOCAL && !host_has(local as usize) {
            return Err(bad(format!(
                "{} bytes of local memory for each of {resident} threads are {local} bytes, which the \
                 host does not have",
                kernel.local_bytes
            )));
        }
        let (params, blocks, virtual_blocks) = self.shape(kernel, launch, places)?;
        let decoded = self.decoded(module, launch.kernel)?;
        let grid = Grid {
            grid: blocks,
            block: launch.block,
            params,
            virtual_blocks,
            dynamic_shared: launch.dynamic_shared,
            total_shared,
            id: self.launches,
            sms: self.machine.gpu.sms,
            warps_per_sm: self.machine.sm.max_threads / 32,
            texrefs: module.texrefs.clone(),
            texture_objects: self.texture_objects.clone(),
        };
        // Parameters of every launch have a place of their own, unless the reference's
        // artifact (always constant address 0) is asked for.
        let own = if self.machine.fetch.kernels_back_to_back {
            0
        } else {
            self.launches % 4096
        };
        let launched = Launched {
            facts: decoded.facts.clone(),
            kernel: decoded.kernel.clone(),
            code: decoded.code.clone(),
            code_base: self.code_base(number, launch.kernel),
            param_base: PARAM_BASE + own * 4096,
            blocks_per_sm: occupancy.blocks,
            grid,
        };
        Ok((launched, occupancy, registers))
    }

    /// A kernel decoded for execution and timing. Host programs launch the same kernels over and
    /// over, often for a handful of warps: they are decoded with their first launch only.
    fn decoded<'a>(&self, module: &'a Module, number: usize) -> Result<&'a Decoded, SimError> {
        let place = &module.kernels[number].decoded;
        if let Some(decoded) = place.get() {
            return Ok(decoded);
        }
        let kernel = module.kernel(&self.machine, number);
        let code = Code::new(kernel, &module.symbols);
        let code = code.map_err(|e| SimError::BadLaunch(e.to_string()))?;
        Ok(place.get_or_init(|| Decoded {
            kernel: Arc::new(kernel.clone()),
            code: Arc::new(code),
            facts: op_facts(kernel, &self.machine).into(),
        }))
    }

    fn check(&self, kernel: &Kernel, launch: &Launch) -> Result<(), SimError> {
        let bad = |text: String| {
            Err(SimError::BadLaunch(format!(
                "kernel {}: {text}",
                shown(&kernel.name)
            )))
        };
        let threads: u64 = launch.block.iter().map(|&n| n as u64).product();
        let limit = 1024.min(self.machine.sm.max_threads as u64);
        if threads == 0 || threads > limit {
            return bad(format!(
                "{threads} threads per block; 1 to {limit} are possible"
            ));
        }
        let mut dimensions = launch.block.iter().zip(LARGEST_BLOCK);
        if let Some((is, most)) = dimensions.find(|(is, most)| *is > most) {
            return bad(format!(
                "blocks of {:?}: {is} threads in a dimension where {most} are the most (the most in x, y \
                 and z are {LARGEST_BLOCK:?})",
                launch.block
            ));
        }
        let mut dimensions = launch.grid.iter().zip(LARGEST_GRID);
        if let Some((is, most)) = dimensions.find(|(is, most)| *is > most) {
            return bad(format!(
                "a grid of {:?}: {is} blocks in a dimension where {most} are the most (the most in x, y \
                 and z are {LARGEST_GRID:?})",
                launch.grid
            ));
        }
        if kernel.local_bytes > LARGEST_LOCAL {
            return bad(format!(
                "{} bytes of local memory per thread; {LARGEST_LOCAL} are the most",
                kernel.local_bytes
            ));
        }
        if launch.grid.contains(&0) {
            return bad(format!("an empty grid {:?}", launch.grid));
        }
        if launch.params.len() != kernel.param_bytes as usize {
            return bad(format!(
                "{} bytes of parameters given, {} expected",
                launch.params.len(),
                kernel.param_bytes
            ));
        }
        if kernel.bounds.req_ntid.is_some_and(|r| r != launch.block) {
            return bad(format!(
                "blocks of {:?}, but the PTX requires {:?}",
                launch.block, kernel.bounds.req_ntid
            ));
        }
        if let Some(max) = kernel.bounds.max_ntid
            && threads > max.iter().map(|&n| n as u64).product()
        {
            return bad(format!(
                "{threads} threads per block, but the PTX says at most {max:?} (.maxntid)"
            ));
        }
        Ok(())
    }

    fn check_textures(&self, module: &Module, kernel: &Kernel) -> Result<(), SimError> {
        for instr in &kernel.code {
            if let Some(Operand::Texture(TexBase::Texref(index))) = instr.src.first()
                && module.texrefs[*index as usize].is_none()
            {
                return Err(SimError::BadLaunch(format!(
                    "kernel {} reads the texture `{}` (PTX line {}), which is not bound; bind it in the launch file",
                    shown(&kernel.name),
                    module.program.textures[*index as usize],
                    instr.line
                )));
            }
        }
        Ok(())
    }
}
