//! Which branches go the same way for all threads of a block.
//!
//! A register is *varying* when two threads of one block may hold different values in it at
//! the same point. What varies to begin with: thread and lane numbers, clocks, results of
//! atomics and of warp-wide operations, loads from memory that a thread may write. A value
//! computed from something varying varies. So does a value written under divergent control:
//! of two threads that meet again, one came through the write and one did not. PTX is not
//! in SSA form, so one verdict per register name is computed and iterated to a fixed point;
//! verdicts only ever change from uniform to varying.

use super::access::{Readers, reads, writes};
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
    let mut search = Search::new(kernel);
    while let Some(pc) = search.work.pop() {
        search.look_at(pc);
    }
    let varying = search.varying;
    let branches = kernel
        .code
        .iter()
        .map(|i| i.op == Op::Bra && i.guard.is_none_or(|(p, _)| !varying.contains(p)))
        .collect();
    Uniformity { branches, varying }
}

/// What has been found so far. An instruction is looked at again when something that it reads has
/// turned out to vary, or the block that it is in to be divergent.
struct Search<'a> {
    kernel: &'a Kernel,
    varying: RegSet,
    /// The carry flag is one more register, without a name. It is treated as varying as soon
    /// as anything varying has written it.
    carry_varies: bool,
    /// By block.
    divergent: Vec<bool>,
    /// By block: the divergent branch from which it was come to last, plus one.
    seen_from: Vec<u32>,
    block_of: Vec<u32>,
    readers: Readers,
    work: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(kernel: &'a Kernel) -> Search<'a> {
        let mut block_of = vec![0; kernel.code.len()];
        for (index, block) in (0..).zip(&kernel.blocks) {
            block_of[block.start as usize..block.end as usize].fill(index);
        }
        let origins = (0..).zip(&kernel.code).filter(|(_, i)| originates(i));
        Search {
            varying: RegSet::new(kernel.registers.len()),
            carry_varies: false,
            divergent: vec![false; kernel.blocks.len()],
            seen_from: vec![0; kernel.blocks.len()],
            block_of,
            readers: Readers::new(kernel),
            work: origins.map(|(pc, _)| pc).collect(),
            kernel,
        }
    }

    fn look_at(&mut self, pc: u32) {
        let instr = &self.kernel.code[pc as usize];
        let block = self.block_of[pc as usize];
        if splits(instr) && instr.guard.is_some_and(|(p, _)| self.varying.contains(p)) {
            self.diverge(block);
        }
        let tainted = self.divergent[block as usize]
            || originates(instr)
            || inputs_vary(instr, &self.varying)
            || (uses_carry(instr) && self.carry_varies);
        if !tainted {
            return;
        }
        for reg in writes(instr) {
            if self.varying.insert(reg) {
                self.work.extend(self.readers.of(reg));
            }
        }
        if instr.mods.cc && !self.carry_varies {
            self.carry_varies = true;
            let users = (0..).zip(&self.kernel.code).filter(|(_, i)| uses_carry(i));
            self.work.extend(users.map(|(pc, _)| pc));
        }
    }

    /// The branch at the end of `block` diverges. The blocks between it and its post-dominator run
    /// for some threads and not for others. When the branch sits in a loop whose exit it decides,
    /// the loop body is among them, since it is on the way.
    ///
    /// Where the block itself is on the way of another branch, all that is between this one and its
    /// post-dominator is between the other and its own, too, and has been found.
    fn diverge(&mut self, block: u32) {
        let from = &self.kernel.blocks[block as usize];
        if from.successors.len() < 2 || self.divergent[block as usize] {
            return;
        }
        // Marks that differ from branch to branch: to take all of them back each time is quadratic.
        let mark = block + 1;
        let mut work = from.successors.clone();
        while let Some(b) = work.pop() {
            if Some(b) == from.ipdom
                || std::mem::replace(&mut self.seen_from[b as usize], mark) == mark
            {
                continue;
            }
            let on_the_way = &self.kernel.blocks[b as usize];
            work.extend(&on_the_way.successors);
            if !std::mem::replace(&mut self.divergent[b as usize], true) {
                self.work.extend(on_the_way.start..on_the_way.end);
            }
        }
    }
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
        Op::TexLevel | Op::TexGrad | Op::Tld4 | Op::Suld => true,
        Op::Mbarrier | Op::Mma | Op::Wmma | Op::Ldmatrix | Op::Movmatrix => true,
        // Runtime functions return what they like.
        Op::Call => true,
        // Warps of a virtual block go on to their next block at different times.
        Op::VtwNextTb | Op::VtwNextTid => true,
        // A reduction over a given number of threads may run several times in a block.
        Op::Bar | Op::Barrier => instr.src.len() > 2,
        // `.nc` promises that no thread writes there while the kernel runs.
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
