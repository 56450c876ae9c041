//! What is computed about a kernel's code once it is flat: basic blocks, post-dominators,
//! likely-convergence points, uniformity of branches, liveness, the register slots that follow from
//! liveness, the registers that an assembler would use, and the arrays in global memory that are read and written.
//!
//! Each analysis is a function of its own over plain data, so that each can be tested on
//! hand-made input. [`finish`] runs them in order and writes the results into a kernel.

mod access;
mod arrays;
mod crossings;
mod dominators;
mod ends;
mod graph;
mod likely;
mod liveness;
mod loops;
mod postdom;
pub mod registers;
#[cfg(test)]
mod slot_tests;
mod slots;
mod uniform;
#[cfg(test)]
mod uniform_tests;
mod unwritten;

pub use access::{reads, writes};
pub use arrays::{Array, Arrays, Touched, arrays, arrays_at, elements};
pub use graph::{build_blocks, predecessors};
pub use likely::likely_points;
pub use liveness::{Liveness, RegSet, live_words, liveness, peak};
pub use loops::{Loop, Loops};
pub use postdom::immediate_post_dominators;
pub use slots::{SlotPlan, assign_slots};
pub use uniform::{Uniformity, uniformity};
pub use unwritten::{UnwrittenRead, unwritten_reads};

use crate::isa::Op;
use crate::kernel::{Kernel, NO_PC, RegClass};

/// Fills in everything of `kernel` that follows from its code: blocks, reconvergence points,
/// uniform branches, register demand and slots. Targets must be resolved already.
///
/// Where threads meet is found with the control flow of each body by itself, as the kernel's `crossings` have it.
pub fn finish(kernel: &mut Kernel, labels: &[(u32, String)]) {
    kernel.blocks = build_blocks(&kernel.code);
    for (pc, name) in labels {
        if let Ok(index) = kernel.blocks.binary_search_by_key(pc, |b| b.start) {
            let label = &mut kernel.blocks[index].label;
            label.get_or_insert_with(|| name.clone());
        }
    }
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let within = kernel.crossings.cut(&kernel.blocks);
    let ipdom = kernel.crossings.post_dominators(&within);
    for (block, within) in kernel.blocks.iter_mut().zip(within) {
        block.successors = within;
    }
    for (block, parent) in kernel.blocks.iter_mut().zip(&ipdom) {
        block.ipdom = *parent;
    }
    for index in 0..kernel.blocks.len() {
        let last = kernel.blocks[index].end - 1;
        let meet = kernel.blocks[index]
            .ipdom
            .map_or(NO_PC, |b| kernel.blocks[b as usize].start);
        let instr = &mut kernel.code[last as usize];
        if instr.op == Op::Bra {
            instr.reconverge = meet;
        }
    }
    let likely = likely_points(kernel);
    for (instr, point) in kernel.code.iter_mut().zip(likely) {
        instr.likely = point;
    }
    for (block, all) in kernel.blocks.iter_mut().zip(successors) {
        block.successors = all;
    }
    let proven = uniformity(kernel);
    for (instr, proof) in kernel.code.iter_mut().zip(&proven.branches) {
        instr.uniform = *proof;
    }
    // Threads that a reconvergence stack runs together in a body were called from one place. These branches are ours, and say so.
    for pc in &kernel.crossings.returns {
        let instr = &mut kernel.code[*pc as usize];
        (instr.uniform, instr.mods.uni) = (true, true);
    }
    let live = liveness(kernel);
    let plan = assign_slots(kernel, &live);
    for (register, slot) in kernel.registers.iter_mut().zip(&plan.slots) {
        register.slot = *slot;
    }
    kernel.rows = plan.rows;
    kernel.predicate_slots = plan.predicates;
    let estimate = registers::estimate(kernel);
    kernel.register_demand = estimate.registers;
    kernel.register_floor = estimate.fewest;
}

/// 32-bit words a register of this class takes; predicates take none.
pub fn words(class: RegClass) -> u32 {
    match class {
        RegClass::Pred => 0,
        RegClass::B32 => 1,
        RegClass::B64 => 2,
    }
}
