//! Which registers an instruction reads and writes, and which instructions read a register.

use crate::kernel::{Instr, Kernel, Operand, Pc, RegId};

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

/// Who reads each register of a kernel.
pub struct Readers {
    /// Register after register.
    instructions: Vec<Pc>,
    /// Where those of a register begin; one more for the end.
    first: Vec<u32>,
}

impl Readers {
    /// Those of a kernel.
    pub fn new(kernel: &Kernel) -> Readers {
        let mut first = vec![0u32; kernel.registers.len() + 1];
        for reg in kernel.code.iter().flat_map(reads) {
            first[usize::from(reg.0) + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut instructions = vec![0; *first.last().unwrap_or(&0) as usize];
        for (pc, instr) in (0..).zip(&kernel.code) {
            for reg in reads(instr) {
                let at = &mut next[usize::from(reg.0)];
                instructions[*at as usize] = pc;
                *at += 1;
            }
        }
        Readers {
            instructions,
            first,
        }
    }

    /// The instructions that read a register.
    pub fn of(&self, reg: RegId) -> &[Pc] {
        let [first, end] = [0, 1].map(|i| self.first[usize::from(reg.0) + i] as usize);
        &self.instructions[first..end]
    }
}
