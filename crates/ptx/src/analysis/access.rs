//! Which registers an instruction reads and writes.

use crate::kernel::{AddrBase, Instr, Operand, RegId, TexBase};

fn register_of(operand: &Operand) -> Option<RegId> {
    match operand {
        Operand::Reg(r) | Operand::NotReg(r) => Some(*r),
        Operand::Address {
            base: AddrBase::Reg(r),
            ..
        } => Some(*r),
        Operand::Texture(TexBase::Handle(r)) => Some(*r),
        _ => None,
    }
}

/// Registers read: sources, address bases, texture handles and the guard.
pub fn reads(instr: &Instr) -> impl Iterator<Item = RegId> + '_ {
    instr
        .src
        .iter()
        .filter_map(register_of)
        .chain(instr.guard.map(|(r, _)| r))
}

/// Registers written. Under a guard the write may not happen.
pub fn writes(instr: &Instr) -> impl Iterator<Item = RegId> + '_ {
    instr.dst.iter().filter_map(register_of)
}
