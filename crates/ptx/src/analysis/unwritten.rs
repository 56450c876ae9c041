//! Reads of registers that nothing can have written: a mistake, whatever they hold.
//!
//! A read counts when no path from the kernel's entry to it passes a write of the register. A write
//! under a guard is one, and so is a write on one of two paths: a thread that comes by the other finds
//! an old value, but whether one does is for the program to know, so there is no false alarm.

use super::access::{reads, writes};
use super::liveness::RegSet;
use crate::kernel::{Kernel, Pc, RegId};
use std::collections::HashMap;

/// A read of a register that holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwrittenRead {
    /// The register.
    pub register: RegId,
    /// The instruction that reads it.
    pub pc: Pc,
    /// Its line in the PTX.
    pub line: u32,
    /// Nothing in the kernel writes it; else what writes it comes only behind this place.
    pub ever: bool,
}

/// Each such read, in the order of the code; one of a line counts once. Of a register that nothing
/// ever writes only the first is named: the others say nothing new.
pub fn unwritten_reads(kernel: &Kernel) -> Vec<UnwrittenRead> {
    let mut written = RegSet::new(kernel.registers.len());
    for reg in kernel.code.iter().flat_map(writes) {
        written.insert(reg);
    }
    let suspects = suspects(kernel);
    let mut found: Vec<(u32, UnwrittenRead)> = Vec::new();
    for few in suspects.chunks(64) {
        before_all_writes(kernel, few, |pc, register| {
            let read = UnwrittenRead {
                register,
                pc,
                line: kernel.code[pc as usize].line,
                ever: written.contains(register),
            };
            found.push((pc, read));
        });
    }
    found.sort_by_key(|(pc, _)| *pc);
    let mut named = RegSet::new(kernel.registers.len());
    let mut reads: Vec<UnwrittenRead> = found.into_iter().map(|(_, read)| read).collect();
    reads.retain(|read| read.ever || named.insert(read.register));
    // Reads of one line, and of the copies of a function that was inlined several times.
    let mut places = std::collections::HashSet::new();
    reads.retain(|read| places.insert((read.register, read.line)));
    reads
}

/// Registers that some block reads before it writes them: others cannot be read unwritten.
fn suspects(kernel: &Kernel) -> Vec<RegId> {
    let mut suspected = RegSet::new(kernel.registers.len());
    let mut found = Vec::new();
    // The block that wrote a register last, while blocks are walked in order.
    let mut last = vec![u32::MAX; kernel.registers.len()];
    for (index, block) in kernel.blocks.iter().enumerate() {
        for instr in &kernel.code[block.start as usize..block.end as usize] {
            for reg in reads(instr) {
                let here = last[usize::from(reg.0)] == index as u32;
                if !here && suspected.insert(reg) {
                    found.push(reg);
                }
            }
            for reg in writes(instr) {
                last[usize::from(reg.0)] = index as u32;
            }
        }
    }
    found
}

/// Calls `visit` for each read of one of at most 64 registers that no write can come before.
fn before_all_writes(kernel: &Kernel, registers: &[RegId], mut visit: impl FnMut(u32, RegId)) {
    let bits: HashMap<RegId, u64> = (registers.iter().enumerate())
        .map(|(at, reg)| (*reg, 1 << at))
        .collect();
    let bit = |reg: RegId| bits.get(&reg).copied().unwrap_or(0);
    let code = |block: usize| kernel.blocks[block].start..kernel.blocks[block].end;
    let wrote = |pc: u32| writes(&kernel.code[pc as usize]).fold(0, |all, reg| all | bit(reg));
    let in_block: Vec<u64> = (0..kernel.blocks.len())
        .map(|block| code(block).fold(0, |all, pc| all | wrote(pc)))
        .collect();
    // What may have been written where a block begins; `None`: nothing leads there.
    let mut at_start: Vec<Option<u64>> = vec![None; kernel.blocks.len()];
    let mut work = Vec::new();
    if let Some(entry) = at_start.first_mut() {
        *entry = Some(0);
        work.push(0);
    }
    while let Some(block) = work.pop() {
        let after = at_start[block].unwrap_or(0) | in_block[block];
        for &next in &kernel.blocks[block].successors {
            let before = &mut at_start[next as usize];
            if before.is_none_or(|known| after & !known != 0) {
                *before = Some(before.unwrap_or(0) | after);
                work.push(next as usize);
            }
        }
    }
    for (block, start) in at_start.iter().enumerate() {
        let Some(mut written) = *start else { continue };
        for pc in code(block) {
            for reg in reads(&kernel.code[pc as usize]) {
                if bit(reg) & !written != 0 {
                    visit(pc, reg);
                }
            }
            written |= wrote(pc);
        }
    }
}

#[cfg(test)]
mod tests {
    fn reads(body: &str) -> Vec<(String, u32, bool)> {
        let ptx = format!(
            ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
             .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n\
             {body}\nret;\n}}\n"
        );
        let module = crate::parse(&ptx).expect("valid");
        let program = crate::lower::lower(&module).expect("valid");
        let kernel = &program.kernels[0];
        let name = |reg: crate::kernel::RegId| kernel.registers[usize::from(reg.0)].name.clone();
        let found = super::unwritten_reads(kernel).into_iter();
        found.map(|r| (name(r.register), r.line, r.ever)).collect()
    }

    fn named(list: &[(&str, u32, bool)]) -> Vec<(String, u32, bool)> {
        let own = |(name, line, ever): &(&str, u32, bool)| (name.to_string(), *line, *ever);
        list.iter().map(own).collect()
    }

    #[test]
    fn a_register_that_nothing_writes_is_named_once() {
        let found = reads(
            "add.u32 %r1, %r2, %r3;\n@%p1 mov.u32 %r4, 1;\nadd.u32 %r1, %r1, %r2;\n\
             st.global.u32 [%rd1], %r4;",
        );
        let expected = [("%r2", 10, false), ("%r3", 10, false), ("%p1", 11, false)];
        assert_eq!(found, named(&expected));
    }

    #[test]
    fn every_place_before_the_first_write_is_named() {
        let found = reads(
            "add.u32 %r1, %r2, %r2;\nadd.u32 %r1, %r1, %r2;\nmov.u32 %r2, 1;\nadd.u32 %r1, %r1, %r2;\n\
             st.global.u32 [%rd1], %r1;",
        );
        assert_eq!(found, named(&[("%r2", 10, true), ("%r2", 11, true)]));
    }

    #[test]
    fn a_write_on_one_path_only_is_no_mistake() {
        let found = reads(
            "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r2, 1;\nbra B;\n\
             A:\nadd.u32 %r3, %r2, 1;\nB:\nadd.u32 %r3, %r2, 1;\n@%p1 bra A;\nadd.u32 %r4, %r5, %r4;\n\
             mov.u32 %r5, 1;",
        );
        // `A` is come to again from `B`, behind the write. Line 20 reads what is written there only.
        assert_eq!(found, named(&[("%r5", 20, true), ("%r4", 20, true)]));
        let found = reads(
            "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r2, 1;\nbra B;\n\
             A:\nadd.u32 %r3, %r2, 1;\nB:\nadd.u32 %r3, %r2, 1;",
        );
        assert_eq!(found, named(&[("%r2", 16, true)]));
    }

    #[test]
    fn what_a_loop_wrote_in_its_last_turn_is_written() {
        let found = reads(
            "mov.u32 %r1, 0;\nL:\nadd.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\n\
             setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nst.global.u32 [%rd1], %r2;",
        );
        assert_eq!(found, named(&[]));
    }
}
