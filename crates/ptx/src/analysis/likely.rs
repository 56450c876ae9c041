//! Likely-convergence points: where the sides of a branch usually meet, though a rare way out
//! (`break`, `return`) keeps it from being their post-dominator.
//!
//! The point of a branch is the first instruction of the block that closes the smallest loop
//! around it. It counts where it differs from the post-dominator and both sides can come there
//! before they come to the post-dominator: the branch that closes the loop itself, or a side
//! that is the `break`, has nothing to meet there.

use super::graph::predecessors;
use crate::isa::Op;
use crate::kernel::{Kernel, NO_PC, Pc};

/// A natural loop: the block that jumps back, and every block of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block whose edge leads back.
    pub latch: u32,
    /// Where it leads.
    pub header: u32,
    /// Which blocks belong to the loop, `header` and `latch` included.
    pub body: Vec<bool>,
}

impl Loop {
    fn size(&self) -> usize {
        self.body.iter().filter(|b| **b).count()
    }
}

/// Every loop that is entered through its header only, one for each edge back. A cycle with
/// several entries is none: it has no block that closes it.
pub fn natural_loops(successors: &[Vec<u32>]) -> Vec<Loop> {
    let preds = predecessors(successors);
    let mut loops = Vec::new();
    for (latch, list) in successors.iter().enumerate() {
        for &header in list {
            let latch = latch as u32;
            if !reaches(successors, 0, latch, None)
                || header != 0 && reaches(successors, 0, latch, Some(header))
            {
                continue;
            }
            let mut body = vec![false; successors.len()];
            body[header as usize] = true;
            let mut work = vec![latch];
            while let Some(b) = work.pop() {
                if !std::mem::replace(&mut body[b as usize], true) {
                    work.extend(&preds[b as usize]);
                }
            }
            loops.push(Loop {
                latch,
                header,
                body,
            });
        }
    }
    loops
}

/// Whether there is a way from one block to another that does not touch `without`.
fn reaches(successors: &[Vec<u32>], from: u32, to: u32, without: Option<u32>) -> bool {
    let mut seen = vec![false; successors.len()];
    let mut work = vec![from];
    while let Some(b) = work.pop() {
        if Some(b) == without || std::mem::replace(&mut seen[b as usize], true) {
            continue;
        }
        if b == to {
            return true;
        }
        work.extend(&successors[b as usize]);
    }
    false
}

/// The likely-convergence point of every instruction that is a conditional branch, or
/// [`NO_PC`]. Blocks and post-dominators must be there.
pub fn likely_points(kernel: &Kernel) -> Vec<Pc> {
    let mut points = vec![NO_PC; kernel.code.len()];
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let loops = natural_loops(&successors);
    if loops.is_empty() {
        return points;
    }
    for (index, block) in kernel.blocks.iter().enumerate() {
        let last = block.end - 1;
        if kernel.code[last as usize].op != Op::Bra || block.successors.len() < 2 {
            continue;
        }
        let around = loops.iter().filter(|l| l.body[index]);
        let Some(closest) = around.min_by_key(|l| (l.size(), l.latch)) else {
            continue;
        };
        let latch = closest.latch;
        if latch as usize == index || block.ipdom == Some(latch) {
            continue;
        }
        let arrives = |side: &u32| reaches(&successors, *side, latch, block.ipdom);
        if block.successors.iter().all(arrives) {
            points[last as usize] = kernel.blocks[latch as usize].start;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(edges: &[&[u32]]) -> Vec<(u32, u32, Vec<u32>)> {
        let edges: Vec<Vec<u32>> = edges.iter().map(|e| e.to_vec()).collect();
        let members = |l: &Loop| {
            (0..edges.len() as u32)
                .filter(|b| l.body[*b as usize])
                .collect()
        };
        let found = natural_loops(&edges);
        found
            .iter()
            .map(|l| (l.latch, l.header, members(l)))
            .collect()
    }

    #[test]
    fn nested_loops_are_found_with_their_blocks() {
        // 0 -> 1; 1 -> 2; 2 -> 2 | 3; 3 -> 1 | 4; 4 ends.
        assert_eq!(
            loops(&[&[1], &[2], &[2, 3], &[1, 4], &[]]),
            [(2, 2, vec![2]), (3, 1, vec![1, 2, 3])]
        );
    }

    #[test]
    fn the_entry_may_head_a_loop() {
        assert_eq!(loops(&[&[1], &[0, 2], &[]]), [(1, 0, vec![0, 1])]);
    }

    #[test]
    fn a_cycle_with_two_entries_is_no_loop() {
        // 0 -> 1 | 2; 1 -> 2; 2 -> 1 | 3.
        assert_eq!(loops(&[&[1, 2], &[2], &[1, 3], &[]]), []);
    }

    #[test]
    fn unreachable_code_makes_no_loop() {
        assert_eq!(loops(&[&[], &[1]]), []);
    }
}
