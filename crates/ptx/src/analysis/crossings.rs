//! Control flow between the bodies of functions that are not inlined.
//!
//! One body serves many calls, so that a way leads from each call through the body to every place that
//! some call returns to. No thread takes any of these ways but those of its own call. Where the sides of
//! a branch meet is therefore found for each body by itself.

use super::immediate_post_dominators;
use crate::kernel::{BasicBlock, Crossings, Pc};

impl Crossings {
    /// The crossings when instructions have moved: by old place, the new one.
    pub fn moved(&self, moved: &[Pc]) -> Crossings {
        let places = |list: &[Pc]| list.iter().map(|pc| moved[*pc as usize]).collect();
        Crossings {
            calls: places(&self.calls),
            returns: places(&self.returns),
        }
    }

    /// The edges of blocks without those between bodies: from a call control goes on behind it, and a
    /// return is an end.
    pub fn cut(&self, blocks: &[BasicBlock]) -> Vec<Vec<u32>> {
        let mut edges: Vec<Vec<u32>> = blocks.iter().map(|b| b.successors.clone()).collect();
        let ending_at = |pc: Pc| blocks.binary_search_by_key(&(pc + 1), |b| b.end).ok();
        for block in self.calls.iter().filter_map(|pc| ending_at(*pc)) {
            edges[block] = vec![block as u32 + 1];
        }
        for block in self.returns.iter().filter_map(|pc| ending_at(*pc)) {
            edges[block].clear();
        }
        edges
    }

    /// The immediate post-dominators of blocks with such edges, each among those of its own body.
    pub fn post_dominators(&self, edges: &[Vec<u32>]) -> Vec<Option<u32>> {
        if *self == Crossings::default() {
            return immediate_post_dominators(edges);
        }
        let mut found = vec![None; edges.len()];
        let mut number = vec![0u32; edges.len()];
        for body in bodies(edges) {
            for (at, block) in (0..).zip(&body) {
                number[*block as usize] = at;
            }
            let inside: Vec<Vec<u32>> = (body.iter())
                .map(|block| {
                    let edges = edges[*block as usize].iter();
                    edges.map(|to| number[*to as usize]).collect()
                })
                .collect();
            for (block, meet) in body.iter().zip(immediate_post_dominators(&inside)) {
                found[*block as usize] = meet.map(|meet| body[meet as usize]);
            }
        }
        found
    }
}

/// The blocks that hang together, each group in order.
fn bodies(edges: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut both: Vec<Vec<u32>> = edges.to_vec();
    for (from, list) in (0..).zip(edges) {
        for to in list {
            both[*to as usize].push(from);
        }
    }
    let mut seen = vec![false; edges.len()];
    let mut bodies = Vec::new();
    for first in 0..edges.len() as u32 {
        let mut body = Vec::new();
        let mut work = vec![first];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut seen[block as usize], true) {
                body.push(block);
                work.extend(&both[block as usize]);
            }
        }
        if !body.is_empty() {
            body.sort_unstable();
            bodies.push(body);
        }
    }
    bodies
}
