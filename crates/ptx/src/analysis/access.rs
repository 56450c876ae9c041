//! Which registers an instruction reads and writes.

use crate::kernel::{Instr, Operand, RegId};

/// Registers read: sources, address bases, texture handles and the guard.
pub fn reads(instr: &Instr) -> impl Iterator<Item = RegId> + '_ {
    instr
        .src
        .iter()
        .filter_map(Operand::register)
        .chain(instr.guard.map(|(r, _)| r))
}

/// Registers written. Under a guard the write may not happen.
pub fn writes(instr: &Instr) -> impl Iterator<Item = RegId> + '_ {
    instr.dst.iter().filter_map(Operand::register)
}
