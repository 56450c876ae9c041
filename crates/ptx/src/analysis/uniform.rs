//! Which branches go the same way for all threads of a block.
//!
//! A register is *varying* when two threads of one block may hold different values in it at
//! the same point. What varies to begin with: thread and lane numbers, clocks, results of
//! atomics and of warp-wide operations, loads from memory that someone may write. A value
//! computed from something varying varies. So does a value written under divergent control:
//! of two threads that meet again, one came through the write and one did not. PTX is not
//! in SSA form, so one verdict per register name is computed and iterated to a fixed point;
//! verdicts only ever change from uniform to varying.

use super::access::{reads, writes};
use super::liveness::RegSet;
use crate::isa::{Op, Space, Special};
use crate::kernel::{Instr, Kernel, Operand};

/// What is known about a kernel.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// By instruction: a conditional branch proven to go one way for all threads of a block.
    pub branches: Vec<bool>,
    /// Registers that may differ between threads of a block.
    pub varying: RegSet,
}

/// Analyses `kernel`, whose blocks and post-dominators must be there.
pub fn uniformity(kernel: &Kernel) -> Uniformity {
    let mut varying = RegSet::new(kernel.registers.len());
    let influence: Vec<Vec<u32>> = (0..kernel.blocks.len())
        .map(|b| controlled_blocks(kernel, b as u32))
        .collect();
    let mut divergent = vec![false; kernel.blocks.len()];
    // The carry flag is one more register, without a name. It is treated as varying as soon
    // as anything varying has written it.
    let mut carry_varies = false;
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in kernel.blocks.iter().enumerate() {
            for pc in block.start..block.end {
                let instr = &kernel.code[pc as usize];
                let tainted = divergent[index]
                    || originates(instr)
                    || inputs_vary(instr, &varying)
                    || (uses_carry(instr) && carry_varies);
                if !tainted {
                    continue;
                }
                for reg in writes(instr) {
                    changed |= varying.insert(reg);
                }
                if instr.mods.cc && !carry_varies {
                    carry_varies = true;
                    changed = true;
                }
            }
            let last = &kernel.code[block.end as usize - 1];
            if splits(last) && last.guard.is_some_and(|(p, _)| varying.contains(p)) {
                for b in &influence[index] {
                    changed |= !std::mem::replace(&mut divergent[*b as usize], true);
                }
            }
        }
    }
    let branches = kernel
        .code
        .iter()
        .map(|i| i.op == Op::Bra && i.guard.is_none_or(|(p, _)| !varying.contains(p)))
        .collect();
    Uniformity { branches, varying }
}

/// Is anything that decides the result varying? A reduction over the whole block gives every
/// thread the same answer whatever the threads bring, so only its guard and number count.
fn inputs_vary(instr: &Instr, varying: &RegSet) -> bool {
    if matches!(instr.op, Op::Bar | Op::Barrier) {
        let guard = instr.guard.is_some_and(|(p, _)| varying.contains(p));
        let number = instr.src.first();
        return guard || matches!(number, Some(Operand::Reg(r)) if varying.contains(*r));
    }
    reads(instr).any(|r| varying.contains(r))
}

fn splits(instr: &Instr) -> bool {
    instr.guard.is_some() && matches!(instr.op, Op::Bra)
}

/// Blocks between the branch at the end of `block` and its post-dominator: they run for
/// some threads and not for others when the branch diverges. When the branch sits in a
/// loop whose exit it decides, the loop body is among them, since it is on the way.
fn controlled_blocks(kernel: &Kernel, block: u32) -> Vec<u32> {
    let from = &kernel.blocks[block as usize];
    if !splits(&kernel.code[from.end as usize - 1]) || from.successors.len() < 2 {
        return Vec::new();
    }
    let mut seen = vec![false; kernel.blocks.len()];
    let mut work = from.successors.clone();
    let mut found = Vec::new();
    while let Some(b) = work.pop() {
        if Some(b) == from.ipdom || std::mem::replace(&mut seen[b as usize], true) {
            continue;
        }
        found.push(b);
        work.extend(&kernel.blocks[b as usize].successors);
    }
    found
}

fn uses_carry(instr: &Instr) -> bool {
    matches!(instr.op, Op::Addc | Op::Subc | Op::Madc)
}

/// Does the instruction bring in something that differs between threads, whatever its
/// register operands are?
fn originates(instr: &Instr) -> bool {
    let special = instr
        .src
        .iter()
        .any(|o| matches!(o, Operand::Special(s) if special_varies(*s)));
    let op = match instr.op {
        Op::Atom | Op::Shfl | Op::Vote | Op::Match | Op::Redux | Op::Activemask | Op::Tex => true,
        // Runtime functions return what they like.
        Op::Call => true,
        // Warps of a virtual block go on to their next block at different times.
        Op::VtwNextTb | Op::VtwNextTid => true,
        // A reduction over a given number of threads may run several times in a block.
        Op::Bar | Op::Barrier => instr.src.len() > 2,
        // `.nc` promises that nobody writes there while the kernel runs.
        Op::Ld => !matches!(instr.mods.space, Some(Space::Param | Space::Const)) && !instr.mods.nc,
        Op::Ldu => true,
        _ => false,
    };
    special || op
}

fn special_varies(special: Special) -> bool {
    use Special::*;
    match special {
        Ntid(_) | Ctaid(_) | Nctaid(_) | Nwarpid | Nsmid | Gridid | DynamicSmemSize
        | TotalSmemSize | Envreg(_) | WarpSize => false,
        // All warps of a block run on one SM.
        Smid => false,
        Tid(_) | Laneid | Warpid | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe
        | LanemaskGt => true,
        // Warps read clocks and counters at different times.
        Clock | ClockHi | Clock64 | Globaltimer | GlobaltimerLo | GlobaltimerHi | Pm(_) => true,
    }
}
