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

use super::dominators::Ancestry;
use super::graph::predecessors;
use super::loops::{Loop, Loops};
use crate::isa::Op;
use crate::kernel::{Kernel, Likely, NO_PC};

/// The likely-convergence points of every instruction that is a conditional branch. Blocks and
/// post-dominators must be there.
pub fn likely_points(kernel: &Kernel) -> Vec<Likely> {
    let mut points = vec![Likely::NOWHERE; kernel.code.len()];
    let successors: Vec<Vec<u32>> = kernel.blocks.iter().map(|b| b.successors.clone()).collect();
    let loops = Loops::of(&successors);
    if loops.all.is_empty() {
        return points;
    }
    let preds = predecessors(&successors);
    let closest = closest_latches(&loops, &preds);
    let above = Ancestry::new(kernel.blocks.iter().map(|b| b.ipdom));
    let mut asked = Vec::new();
    for (index, block) in (0..).zip(&kernel.blocks) {
        let last = block.end - 1;
        if kernel.code[last as usize].op != Op::Bra || block.successors.len() < 2 {
            continue;
        }
        let Some(around) = loops.innermost[index as usize] else {
            continue;
        };
        let around = &loops.all[around as usize];
        let nearest = closest[index as usize].unwrap_or(around.latches[0]);
        let ends = [
            (Rule::LoopEnd, end(around), around.latches == [index]),
            (Rule::Backward, nearest, nearest == index),
        ];
        for (rule, end, closes) in ends {
            // A thread that comes to the end without the post-dominator passes the latter behind it, so
            // that it post-dominates the end as well; and a side that is the post-dominator comes
            // nowhere before it. Both are known without a search.
            let meet = block.ipdom;
            let behind = meet.is_none_or(|meet| meet != end && above.is_above(meet, end));
            let beside = block.successors.iter().all(|side| Some(*side) != meet);
            if !closes && behind && beside {
                let without = meet.unwrap_or(u32::MAX);
                asked.push((end, without, index, rule));
            }
        }
    }
    asked.sort_unstable();
    // One search backwards answers all that ask for the same two blocks.
    for same in asked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (end, without, ..) = same[0];
        let arrives = leading_to(&preds, end, without);
        for (_, _, index, rule) in same {
            let block = &kernel.blocks[*index as usize];
            if block.successors.iter().all(|side| arrives[*side as usize]) {
                let point = &mut points[block.end as usize - 1];
                *match rule {
                    Rule::LoopEnd => &mut point.loop_end,
                    Rule::Backward => &mut point.backward,
                } = kernel.blocks[end as usize].start;
            }
        }
    }
    debug_assert_eq!(Likely::NOWHERE.loop_end, NO_PC);
    points
}

/// Which rule a point is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    LoopEnd,
    Backward,
}

/// The block where every way through the loop that stays in it comes by before it starts over.
fn end(around: &Loop) -> u32 {
    match around.latches[..] {
        [latch] => latch,
        _ => around.header,
    }
}

/// The blocks from which there is a way to another that does not touch `without`.
fn leading_to(preds: &[Vec<u32>], to: u32, without: u32) -> Vec<bool> {
    let mut seen = vec![false; preds.len()];
    let mut work = vec![to];
    while let Some(b) = work.pop() {
        if b != without && !std::mem::replace(&mut seen[b as usize], true) {
            work.extend(&preds[b as usize]);
        }
    }
    seen
}

/// For each block in a loop with several latches, the latch of the smallest loop around it, where
/// each latch makes a loop of its own: the blocks from which it is reached without the header.
fn closest_latches(loops: &Loops, preds: &[Vec<u32>]) -> Vec<Option<u32>> {
    let mut closest = vec![None; preds.len()];
    let mut best = vec![u32::MAX; preds.len()];
    let mut reaches = vec![0u64; preds.len()];
    for (at, around) in (0..).zip(&loops.all) {
        if around.latches.len() < 2 {
            continue;
        }
        for some in around.latches.chunks(64) {
            let blocks = mark_leading_to(preds, around.header, some, &mut reaches);
            let mut sizes = vec![0u32; some.len()];
            for block in &blocks {
                let mut rest = reaches[*block as usize];
                while rest != 0 {
                    sizes[rest.trailing_zeros() as usize] += 1;
                    rest &= rest - 1;
                }
            }
            let mut order: Vec<usize> = (0..some.len()).collect();
            order.sort_by_key(|bit| sizes[*bit]);
            let own = |b: &&u32| loops.innermost[**b as usize] == Some(at);
            for block in blocks.iter().filter(own) {
                let mask = reaches[*block as usize];
                let Some(bit) = order.iter().find(|bit| mask >> **bit & 1 != 0) else {
                    continue;
                };
                if sizes[*bit] < best[*block as usize] {
                    best[*block as usize] = sizes[*bit];
                    closest[*block as usize] = Some(some[*bit]);
                }
            }
            for block in blocks {
                reaches[block as usize] = 0;
            }
        }
    }
    closest
}

/// The blocks that reach some of up to 64 latches without the header, it included. In `reaches`,
/// which is all zeros, each gets a bit for each of the latches that it reaches.
fn mark_leading_to(
    preds: &[Vec<u32>],
    header: u32,
    latches: &[u32],
    reaches: &mut [u64],
) -> Vec<u32> {
    let mut blocks = vec![header];
    reaches[header as usize] = u64::MAX >> (64 - latches.len());
    let mut work = Vec::new();
    for (bit, latch) in latches.iter().enumerate() {
        if *latch != header {
            reaches[*latch as usize] |= 1 << bit;
            blocks.push(*latch);
            work.push(*latch);
        }
    }
    while let Some(block) = work.pop() {
        for p in &preds[block as usize] {
            let before = reaches[*p as usize];
            let more = before | reaches[block as usize];
            if *p != header && more != before {
                if before == 0 {
                    blocks.push(*p);
                }
                reaches[*p as usize] = more;
                work.push(*p);
            }
        }
    }
    blocks
}
