//! Which registers hold a value that may still be read.
//!
//! Liveness is that of one thread: a register is live at a point when some path that a
//! single thread can take from there reads it before writing it. A write under a guard may
//! not happen, so it does not end the life of the old value.

use super::access::{reads, writes};
use super::words;
use crate::kernel::{Kernel, Operand, RegClass, RegId};

/// A set of registers, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegSet(Vec<u64>);

impl RegSet {
    /// An empty set with room for `count` registers.
    pub fn new(count: usize) -> Self {
        RegSet(vec![0; count.div_ceil(64)])
    }
    /// Adds a register; true when it was not there.
    pub fn insert(&mut self, reg: RegId) -> bool {
        let (word, bit) = (reg.0 as usize / 64, 1u64 << (reg.0 % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
    /// Takes a register out; true when it was there.
    pub fn remove(&mut self, reg: RegId) -> bool {
        let there = self.contains(reg);
        self.0[reg.0 as usize / 64] &= !(1u64 << (reg.0 % 64));
        there
    }
    /// Registers 64 `at` and those behind it, as bits.
    pub(super) fn word(&self, at: usize) -> u64 {
        self.0[at]
    }
    /// Adds registers of those.
    pub(super) fn add_word(&mut self, at: usize, bits: u64) {
        self.0[at] |= bits;
    }
    /// Is it there?
    pub fn contains(&self, reg: RegId) -> bool {
        self.0[reg.0 as usize / 64] & (1u64 << (reg.0 % 64)) != 0
    }
    /// Adds all of `other`; true when something was new.
    pub fn union_with(&mut self, other: &RegSet) -> bool {
        let mut grown = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            grown |= *b & !*a != 0;
            *a |= *b;
        }
        grown
    }
    /// The registers in order.
    pub fn iter(&self) -> impl Iterator<Item = RegId> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    RegId((word as u32 * 64 + bit) as u16)
                })
            })
        })
    }
}

/// Live registers at the edges of every basic block.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Live on entry to each block.
    pub live_in: Vec<RegSet>,
    /// Live at the end of each block.
    pub live_out: Vec<RegSet>,
}

impl Liveness {
    /// Walks a block backwards: `visit(pc, live after the instruction)`.
    pub fn walk_back(&self, kernel: &Kernel, block: usize, mut visit: impl FnMut(u32, &RegSet)) {
        let mut live = self.live_out[block].clone();
        let range = kernel.blocks[block].start..kernel.blocks[block].end;
        for pc in range.rev() {
            visit(pc, &live);
            step_back(kernel, pc, &mut live);
        }
    }
}

/// Turns "live after `pc`" into "live before `pc`".
fn step_back(kernel: &Kernel, pc: u32, live: &mut RegSet) {
    let instr = &kernel.code[pc as usize];
    if instr.guard.is_none() {
        for reg in writes(instr) {
            live.remove(reg);
        }
    }
    for reg in reads(instr) {
        live.insert(reg);
    }
}

/// Computes liveness over the blocks of `kernel` by iterating to a fixed point.
pub fn liveness(kernel: &Kernel) -> Liveness {
    let count = kernel.registers.len();
    let blocks = kernel.blocks.len();
    let mut result = Liveness {
        live_in: vec![RegSet::new(count); blocks],
        live_out: vec![RegSet::new(count); blocks],
    };
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let preds = super::predecessors(&successors);
    let mut waiting = vec![true; blocks];
    let mut work: Vec<u32> = (0..blocks as u32).collect();
    while let Some(block) = work.pop() {
        let index = block as usize;
        waiting[index] = false;
        let mut live = std::mem::take(&mut result.live_out[index]);
        for next in &kernel.blocks[index].successors {
            live.union_with(&result.live_in[*next as usize]);
        }
        result.live_out[index] = live.clone();
        for pc in (kernel.blocks[index].start..kernel.blocks[index].end).rev() {
            step_back(kernel, pc, &mut live);
        }
        if result.live_in[index].union_with(&live) {
            for p in &preds[index] {
                if !std::mem::replace(&mut waiting[*p as usize], true) {
                    work.push(*p);
                }
            }
        }
    }
    result
}

/// 32-bit words of the live registers, predicates aside.
pub fn live_words(kernel: &Kernel, live: &RegSet) -> u32 {
    live.iter()
        .map(|r| words(kernel.registers[r.0 as usize].class))
        .sum()
}

/// The largest number of 32-bit registers that are live at once: before an instruction, or
/// right after it with its destinations (a value that is never read still needs a place for a
/// moment). Unreachable code does not count.
pub fn peak(kernel: &Kernel, live: &Liveness) -> u32 {
    let mut most = 0;
    let width = |r: RegId| words(kernel.registers[r.0 as usize].class);
    for (index, block) in kernel.blocks.iter().enumerate() {
        if !block.reachable {
            continue;
        }
        most = most.max(live_words(kernel, &live.live_in[index]));
        // Kept up to date from one instruction to the next: counting anew takes as long as there
        // are registers.
        let mut after = live.live_out[index].clone();
        let mut here = live_words(kernel, &after);
        for pc in (block.start..block.end).rev() {
            let instr = &kernel.code[pc as usize];
            let fresh = instr.dst.iter().filter_map(|dst| match dst {
                Operand::Reg(r) if !after.contains(*r) => Some(width(*r)),
                _ => None,
            });
            most = most.max(here + fresh.sum::<u32>());
            if instr.guard.is_none() {
                for reg in writes(instr) {
                    here -= if after.remove(reg) { width(reg) } else { 0 };
                }
            }
            for reg in reads(instr) {
                here += if after.insert(reg) { width(reg) } else { 0 };
            }
        }
    }
    most.max(u32::from(
        kernel.registers.iter().any(|r| r.class != RegClass::Pred),
    ))
}
