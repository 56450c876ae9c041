//! Atomics on shared memory are loops around a lock, so the block they stand in ends there: nothing
//! is started early across them, and a loop around them is not written out.

use crate::analysis::registers::word::{Block, Code};

/// Cuts blocks behind every loop around a lock.
pub fn cut(code: &mut Code) {
    let old = std::mem::take(&mut code.blocks);
    let pieces = |block: &Block| 1 + block.nodes.iter().filter(|n| n.locks).count() as u32;
    // Where a block begins and where its last piece is.
    let mut next = 0;
    let places: Vec<(u32, u32)> = (old.iter())
        .map(|block| {
            let first = next;
            next += pieces(block);
            (first, next - 1)
        })
        .collect();
    for (mut block, (first, last)) in old.into_iter().zip(&places) {
        for to in &mut block.successors {
            *to = places[*to as usize].0;
        }
        for from in &mut block.predecessors {
            *from = places[*from as usize].1;
        }
        for at in *first..*last {
            let end = block.nodes.iter().position(|n| n.locks).unwrap_or(0) + 1;
            let rest = block.nodes.split_off(end);
            let after = Block {
                nodes: rest,
                successors: std::mem::replace(&mut block.successors, vec![at + 1]),
                predecessors: vec![at],
                depth: block.depth,
                ..Block::default()
            };
            block.sealed = true;
            code.blocks.push(std::mem::replace(&mut block, after));
        }
        code.blocks.push(block);
    }
}
