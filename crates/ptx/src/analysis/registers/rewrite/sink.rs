//! Computing things late: an address that is only stored through after a loop does not live
//! across the loop, where what it is computed from does anyway.

use crate::analysis::registers::live::edges;
use crate::analysis::registers::order::{common, dominators};
use crate::analysis::registers::word::{Code, Effect, Node};

/// Moves pure operations down to the block that needs them, where that shortens more lives than
/// it lengthens and the block is in no deeper loop.
pub fn sink(code: &mut Code) {
    let predecessors: Vec<Vec<u32>> = code.blocks.iter().map(|b| b.predecessors.clone()).collect();
    let idom = dominators(&predecessors);
    let live = edges(code);
    // The block that dominates all uses of each value.
    let mut needed: Vec<Option<u32>> = vec![None; code.forms.len()];
    let note = |needed: &mut Vec<Option<u32>>, value: u32, block: u32| {
        let place = &mut needed[value as usize];
        *place = Some(place.map_or(block, |at| common(&idom, at, block)));
    };
    for (index, block) in code.blocks.iter().enumerate() {
        for phi in &block.phis {
            for (from, arg) in block.predecessors.iter().zip(&phi.args) {
                note(&mut needed, *arg, *from);
            }
        }
        for node in block.nodes.iter().filter(|n| n.effect != Effect::Pure) {
            for value in &node.uses {
                note(&mut needed, *value, index as u32);
            }
        }
    }
    // Backwards: users have found their place before what they use looks for one.
    for index in (0..code.blocks.len()).rev() {
        let nodes = std::mem::take(&mut code.blocks[index].nodes);
        let mut kept: Vec<Node> = Vec::new();
        for node in nodes.into_iter().rev() {
            if node.effect != Effect::Pure {
                kept.push(node);
                continue;
            }
            let uses = node.defs.iter().filter_map(|def| needed[*def as usize]);
            let target = uses.reduce(|a, b| common(&idom, a, b));
            let here = index as u32;
            let mut place = target.unwrap_or(here);
            while place > here && code.blocks[place as usize].depth > code.blocks[index].depth {
                place = idom[place as usize];
            }
            let words = node.defs.iter().filter(|def| code.is_word(**def)).count();
            let longer = node
                .uses
                .iter()
                .filter(|v| code.is_word(**v) && !live.starts[place as usize].contains(**v));
            let moves = place > here && longer.count() < words.max(1);
            let place = if moves { place } else { here };
            for value in &node.uses {
                note(&mut needed, *value, place);
            }
            if place == here {
                kept.push(node);
            } else {
                code.blocks[place as usize].nodes.insert(0, node);
            }
        }
        kept.reverse();
        code.blocks[index].nodes = kept;
    }
}
