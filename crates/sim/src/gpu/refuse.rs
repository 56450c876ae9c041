//! Launches that are refused, each with what is wrong, and what is odd about a kernel that can be run.

use super::api::Launch;
use super::{Gpu, Module, SimError};
use crate::config::{Machine, OpClass};
use crate::sm::facts::class_of;
use warpsim_present::mangled::shown;
use warpsim_ptx::analysis::unwritten_reads;
use warpsim_ptx::kernel::{AddrBase, Instr, Kernel, Operand, Pc, TexBase};

/// Threads of a block and blocks of a grid in x, y and z, by the CUDA programming guide (compute
/// capability 3.0 and later, whose PTX this is).
const LARGEST_BLOCK: [u32; 3] = [1024, 1024, 64];
const LARGEST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Local memory of a thread, by the same guide.
const LARGEST_LOCAL: u32 = 512 << 10;

/// What is odd about a kernel, though it can be run: on this machine, unless nothing is timed.
pub(super) fn oddities(kernel: &Kernel, machine: Option<&Machine>) -> Vec<String> {
    let lacking = machine.filter(|m| m.own_unit_of(OpClass::Tensor).is_none());
    let product = |instr: &Instr| class_of(instr) == OpClass::Tensor;
    let products = lacking.and_then(|m| Some((m, kernel.code.iter().position(product)?)));
    let products = products.map(|(machine, pc)| {
        format!(
            "kernel {}, {}: {} has no unit for products of matrices (`tensor`); the one for \
             single precision takes them",
            shown(&kernel.name),
            kernel.origin(pc as Pc),
            machine.name
        )
    });
    let unwritten = unwritten_reads(kernel).into_iter().map(|read| {
        format!(
            "kernel {}, {}: `{}` is read here, and {}",
            shown(&kernel.name),
            kernel.origin(read.pc),
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
pub(super) fn check_externals(module: &Module, kernel: &Kernel) -> Result<(), SimError> {
    let refuse = |what: String| {
        Err(SimError::BadLaunch(format!(
            "kernel {} {what}, which is declared `.extern` and which no file defines; link the file \
             that does",
            shown(&kernel.name)
        )))
    };
    if let Some((name, line)) = kernel.undefined.first() {
        // A trap stands where the call was.
        let at = kernel.code.iter().position(|instr| instr.line == *line);
        let place = kernel.origin(at.map_or(Pc::MAX, |pc| pc as Pc));
        return refuse(format!("calls `{}`, at {place}", shown(name)));
    }
    for (pc, instr) in kernel.code.iter().enumerate() {
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
                let place = kernel.origin(pc as Pc);
                return refuse(format!("uses `{}`, at {place}", symbol.name));
            }
        }
    }
    Ok(())
}

impl Gpu {
    /// Refuses a launch that the machine, or any, cannot have.
    pub(super) fn check(&self, kernel: &Kernel, launch: &Launch) -> Result<(), SimError> {
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
        if let Some(required) = kernel.bounds.req_ntid
            && launch.block != required
        {
            return bad(format!(
                "blocks of {:?}, but the PTX requires {required:?} (.reqntid)",
                launch.block
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

    /// Refuses a kernel whose textures are not all bound.
    pub(super) fn check_textures(&self, module: &Module, kernel: &Kernel) -> Result<(), SimError> {
        for (pc, instr) in kernel.code.iter().enumerate() {
            if let Some(Operand::Texture(TexBase::Texref(index))) = instr.src.first()
                && module.texrefs[*index as usize].is_none()
            {
                return Err(SimError::BadLaunch(format!(
                    "kernel {} reads the texture `{}`, at {}, which is not bound; bind it in the launch file",
                    shown(&kernel.name),
                    module.program.textures[*index as usize],
                    kernel.origin(pc as Pc)
                )));
            }
        }
        Ok(())
    }
}
