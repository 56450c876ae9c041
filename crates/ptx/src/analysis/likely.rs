//! Likely-convergence points: where the sides of a branch usually meet, though a rare way out
//! (`break`, `return`) keeps it from being their post-dominator.
//!
//! The point of a branch is where the smallest loop around it starts over: the first instruction
//! of the block that jumps back, as in the paper's example. Where several blocks jump back to one
//! header there are two rules. By ours it is the header: compilers fold a block that only jumps
//! back into its predecessors, and the header is then what is left of it. By the paper's it is the
//! closest of the blocks that jump back. A point counts where it differs from the post-dominator and both sides
//! can come there before they come to the post-dominator: the branch that closes the loop, or a
//! side that is the `break`, has nothing to meet there.

use super::graph::predecessors;
use crate::isa::Op;
use crate::kernel::{Kernel, Likely, NO_PC};

/// A natural loop: where it is entered, the blocks that jump back there, and every block of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The only block through which it is entered.
    pub header: u32,
    /// The blocks with an edge back to the header, in order.
    pub latches: Vec<u32>,
    /// Which blocks belong to the loop, `header` and `latches` included.
    pub body: Vec<bool>,
}

impl Loop {
    fn size(&self) -> usize {
        self.body.iter().filter(|b| **b).count()
    }

    /// The block where every way through the loop that stays in it comes by before it starts
    /// over.
    fn end(&self) -> u32 {
        match self.latches[..] {
            [latch] => latch,
            _ => self.header,
        }
    }
}

/// Every loop that is entered through its header only. A cycle with several entries is none: it
/// has no place where it starts over.
pub fn natural_loops(successors: &[Vec<u32>]) -> Vec<Loop> {
    let preds = predecessors(successors);
    let mut loops = Vec::new();
    for header in 0..successors.len() as u32 {
        let dominated = |latch: &u32| {
            reaches(successors, 0, *latch, None)
                && (header == 0 || !reaches(successors, 0, *latch, Some(header)))
        };
        let back = preds[header as usize].iter().copied();
        let mut latches: Vec<u32> = back.filter(dominated).collect();
        if latches.is_empty() {
            continue;
        }
        latches.sort_unstable();
        latches.dedup();
        loops.push(Loop {
            header,
            body: body(&preds, header, &latches),
            latches,
        });
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

/// The likely-convergence points of every instruction that is a conditional branch. Blocks and
/// post-dominators must be there.
pub fn likely_points(kernel: &Kernel) -> Vec<Likely> {
    let mut points = vec![Likely::NOWHERE; kernel.code.len()];
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let loops = natural_loops(&successors);
    if loops.is_empty() {
        return points;
    }
    let backward = loops_by_latch(&loops, &successors);
    for (index, block) in kernel.blocks.iter().enumerate() {
        let last = block.end - 1;
        if kernel.code[last as usize].op != Op::Bra || block.successors.len() < 2 {
            continue;
        }
        let point = |loops: &[Loop]| {
            let around = loops.iter().filter(|l| l.body[index]);
            let closest = around.min_by_key(|l| (l.size(), l.header))?;
            let end = closest.end();
            if closest.latches == [index as u32] || block.ipdom == Some(end) {
                return None;
            }
            let arrives = |side: &u32| reaches(&successors, *side, end, block.ipdom);
            let all = block.successors.iter().all(arrives);
            all.then(|| kernel.blocks[end as usize].start)
        };
        points[last as usize] = Likely {
            loop_end: point(&loops).unwrap_or(NO_PC),
            backward: point(&backward).unwrap_or(NO_PC),
        };
    }
    points
}

/// The loops again, one for each block that jumps back.
fn loops_by_latch(loops: &[Loop], successors: &[Vec<u32>]) -> Vec<Loop> {
    let preds = predecessors(successors);
    let each = loops
        .iter()
        .flat_map(|l| l.latches.iter().map(|&latch| (l.header, latch)));
    each.map(|(header, latch)| Loop {
        header,
        latches: vec![latch],
        body: body(&preds, header, &[latch]),
    })
    .collect()
}

/// The blocks from which one of the latches can be reached without passing the header.
fn body(preds: &[Vec<u32>], header: u32, latches: &[u32]) -> Vec<bool> {
    let mut body = vec![false; preds.len()];
    body[header as usize] = true;
    let mut work = latches.to_vec();
    while let Some(b) = work.pop() {
        if !std::mem::replace(&mut body[b as usize], true) {
            work.extend(&preds[b as usize]);
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(edges: &[&[u32]]) -> Vec<(Vec<u32>, u32, Vec<u32>)> {
        let edges: Vec<Vec<u32>> = edges.iter().map(|e| e.to_vec()).collect();
        let members = |l: &Loop| {
            (0..edges.len() as u32)
                .filter(|b| l.body[*b as usize])
                .collect()
        };
        let found = natural_loops(&edges);
        found
            .iter()
            .map(|l| (l.latches.clone(), l.header, members(l)))
            .collect()
    }

    #[test]
    fn nested_loops_are_found_with_their_blocks() {
        // 0 -> 1; 1 -> 2; 2 -> 2 | 3; 3 -> 1 | 4; 4 ends.
        assert_eq!(
            loops(&[&[1], &[2], &[2, 3], &[1, 4], &[]]),
            [(vec![3], 1, vec![1, 2, 3]), (vec![2], 2, vec![2])]
        );
    }

    #[test]
    fn the_entry_may_head_a_loop() {
        assert_eq!(loops(&[&[1], &[0, 2], &[]]), [(vec![1], 0, vec![0, 1])]);
    }

    #[test]
    fn edges_back_to_one_header_make_one_loop() {
        // 0 -> 1; 1 -> 2; 2 -> 1 | 3; 3 -> 1 | 4; 4 ends.
        let found = loops(&[&[1], &[2], &[1, 3], &[1, 4], &[]]);
        assert_eq!(found, [(vec![2, 3], 1, vec![1, 2, 3])]);
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
