//! Basic blocks and their edges.

use crate::isa::Op;
use crate::kernel::{BasicBlock, Instr, NO_PC};

/// True when control may leave the straight line after this instruction.
fn ends_block(instr: &Instr) -> bool {
    matches!(instr.op, Op::Bra | Op::Ret | Op::Exit | Op::Trap)
}

/// Splits flat code into basic blocks. A conditional branch has the taken block first among
/// its successors, then the one it falls into. A block that ends the thread has none.
pub fn build_blocks(code: &[Instr]) -> Vec<BasicBlock> {
    let count = code.len();
    let mut leader = vec![false; count];
    if count > 0 {
        leader[0] = true;
    }
    for (pc, instr) in code.iter().enumerate() {
        if instr.target != NO_PC && (instr.target as usize) < count {
            leader[instr.target as usize] = true;
        }
        if ends_block(instr) && pc + 1 < count {
            leader[pc + 1] = true;
        }
    }
    let starts: Vec<u32> = (0..count as u32)
        .filter(|pc| leader[*pc as usize])
        .collect();
    let mut block_of = vec![0u32; count];
    let mut blocks = Vec::with_capacity(starts.len());
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(count as u32);
        block_of[*start as usize..end as usize].fill(index as u32);
        blocks.push(BasicBlock {
            start: *start,
            end,
            successors: Vec::new(),
            ipdom: None,
            reachable: false,
            label: None,
        });
    }
    for index in 0..blocks.len() {
        let last = &code[blocks[index].end as usize - 1];
        let next = (index + 1 < blocks.len()).then_some(index as u32 + 1);
        let guarded = last.guard.is_some();
        let mut successors = Vec::new();
        match last.op {
            Op::Bra => {
                successors.push(block_of[last.target as usize]);
                if guarded {
                    successors.extend(next);
                }
            }
            Op::Ret | Op::Exit | Op::Trap => {
                if guarded {
                    successors.extend(next);
                }
            }
            _ => successors.extend(next),
        }
        // A branch to the instruction behind it goes one way only.
        if successors.len() == 2 && successors[0] == successors[1] {
            successors.pop();
        }
        blocks[index].successors = successors;
    }
    mark_reachable(&mut blocks);
    blocks
}

fn mark_reachable(blocks: &mut [BasicBlock]) {
    let mut work: Vec<u32> = if blocks.is_empty() { vec![] } else { vec![0] };
    while let Some(index) = work.pop() {
        let block = &mut blocks[index as usize];
        if !block.reachable {
            block.reachable = true;
            work.extend(&block.successors);
        }
    }
}

/// The reverse of the successor lists.
pub fn predecessors(successors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut result = vec![Vec::new(); successors.len()];
    for (from, list) in successors.iter().enumerate() {
        for to in list {
            result[*to as usize].push(from as u32);
        }
    }
    result
}

/// Graphs for the tests of what looks at them.
#[cfg(test)]
pub mod random {
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A graph of fewer than `blocks` blocks, each with fewer than `successors` successors.
    pub fn random_graph(blocks: u32, successors: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
        vec(vec(0..blocks, 0..successors), 1..blocks as usize).prop_map(|mut graph| {
            let count = graph.len() as u32;
            for to in graph.iter_mut().flatten() {
                *to %= count;
            }
            graph
        })
    }
}
