//! Natural loops and how they lie in each other.
//!
//! Two loops with different headers have no block in common or one holds the other, so the loops
//! around a block are a chain, and all of them are a forest.

use super::dominators::{Ancestry, NO_BLOCK, immediate_dominators};
use super::graph::predecessors;

/// A natural loop: entered through its header only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The only block through which it is entered.
    pub header: u32,
    /// The blocks with an edge back to the header, in order.
    pub latches: Vec<u32>,
    /// The smallest loop around it.
    pub parent: Option<u32>,
    /// How many loops it is in, itself included.
    pub depth: u32,
}

/// Every loop of a graph. A cycle with several entries is none: it has no place where it starts
/// over.
#[derive(Clone, Debug)]
pub struct Loops {
    /// In the order of their headers.
    pub all: Vec<Loop>,
    /// For each block the smallest loop that it is in.
    pub innermost: Vec<Option<u32>>,
}

impl Loops {
    /// The loops that block 0 leads to.
    pub fn of(successors: &[Vec<u32>]) -> Loops {
        let preds = predecessors(successors);
        let mut loops = Loops {
            all: Vec::new(),
            innermost: vec![None; successors.len()],
        };
        if successors.is_empty() {
            return loops;
        }
        let idom = immediate_dominators(successors, &preds, 0);
        let reachable = |block: u32| idom[block as usize] != NO_BLOCK;
        let tree = Ancestry::new((0..).zip(&idom).map(|(b, d)| reachable(b).then_some(*d)));
        for header in (0..successors.len() as u32).filter(|b| reachable(*b)) {
            let back = preds[header as usize].iter().copied();
            let mut latches: Vec<u32> = back
                .filter(|latch| reachable(*latch) && tree.is_above(header, *latch))
                .collect();
            latches.sort_unstable();
            latches.dedup();
            if !latches.is_empty() {
                loops.all.push(Loop {
                    header,
                    latches,
                    parent: None,
                    depth: 0,
                });
            }
        }
        let order = loops.inner_first(&tree);
        loops.gather(&order, &preds, &reachable);
        for &at in order.iter().rev() {
            let around = loops.all[at as usize].parent;
            let depth = around.map_or(0, |p| loops.all[p as usize].depth);
            loops.all[at as usize].depth = depth + 1;
        }
        loops
    }

    /// The loops, each before those around it.
    fn inner_first(&self, tree: &Ancestry) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        let place = |at: &u32| tree.place(self.all[*at as usize].header);
        order.sort_unstable_by_key(|at| std::cmp::Reverse(place(at)));
        order
    }

    /// Finds the blocks of the loops, inner loops first. A loop whose blocks are known is then one
    /// block to those around it: its header.
    fn gather(&mut self, order: &[u32], preds: &[Vec<u32>], reachable: &dyn Fn(u32) -> bool) {
        let mut merged: Vec<u32> = (0..preds.len() as u32).collect();
        let mut inner: Vec<Option<u32>> = vec![None; preds.len()];
        for &at in order {
            let header = self.all[at as usize].header;
            let mut work = self.all[at as usize].latches.clone();
            while let Some(block) = work.pop() {
                let block = representative(&mut merged, block);
                if block == header || !reachable(block) {
                    continue;
                }
                match inner[block as usize] {
                    Some(within) => self.all[within as usize].parent = Some(at),
                    None => self.innermost[block as usize] = Some(at),
                }
                merged[block as usize] = header;
                work.extend(&preds[block as usize]);
            }
            self.innermost[header as usize] = Some(at);
            inner[header as usize] = Some(at);
        }
    }

    /// How many loops a block is in.
    pub fn depth(&self, block: u32) -> u32 {
        self.innermost[block as usize].map_or(0, |l| self.all[l as usize].depth)
    }

    /// Whether a block is in a loop.
    pub fn holds(&self, index: u32, block: u32) -> bool {
        let mut at = self.innermost[block as usize];
        while let Some(inside) = at {
            if inside == index {
                return true;
            }
            at = self.all[inside as usize].parent;
        }
        false
    }
}

/// Who stands for a block: the header of the largest loop around it that is known so far.
fn representative(merged: &mut [u32], block: u32) -> u32 {
    let mut root = block;
    while merged[root as usize] != root {
        root = merged[root as usize];
    }
    let mut at = block;
    while merged[at as usize] != root {
        at = std::mem::replace(&mut merged[at as usize], root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::graph::random::random_graph;
    use proptest::prelude::*;

    fn loops(edges: &[&[u32]]) -> Vec<(Vec<u32>, u32, Vec<u32>)> {
        let edges: Vec<Vec<u32>> = edges.iter().map(|e| e.to_vec()).collect();
        let found = Loops::of(&edges);
        let members = |at: u32| {
            (0..edges.len() as u32)
                .filter(|b| found.holds(at, *b))
                .collect()
        };
        (0..)
            .zip(&found.all)
            .map(|(at, l)| (l.latches.clone(), l.header, members(at)))
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

    proptest! {
        /// The blocks of a loop are those from which a latch can be reached without the header.
        #[test]
        fn a_loop_holds_what_leads_to_its_latches(
            graph in random_graph(14, 3)
        ) {
            let count = graph.len() as u32;
            let preds = predecessors(&graph);
            let idom = immediate_dominators(&graph, &preds, 0);
            let loops = Loops::of(&graph);
            for (at, found) in (0..).zip(&loops.all) {
                let mut body = vec![false; graph.len()];
                body[found.header as usize] = true;
                let mut work = found.latches.clone();
                while let Some(b) = work.pop() {
                    if !std::mem::replace(&mut body[b as usize], true) {
                        work.extend(&preds[b as usize]);
                    }
                }
                for block in (0..count).filter(|b| idom[*b as usize] != NO_BLOCK) {
                    prop_assert_eq!(loops.holds(at, block), body[block as usize], "{}", block);
                }
                let around = (0..loops.all.len() as u32).filter(|l| loops.holds(*l, found.header));
                prop_assert_eq!(around.count() as u32, found.depth);
            }
        }
    }
}
