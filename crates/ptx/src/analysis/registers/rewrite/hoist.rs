//! Constants that accesses in a loop need in registers are moved there before the loop.

use crate::analysis::registers::order::dominators;
use crate::analysis::registers::word::{Code, Effect, Form, Node};

/// Takes operations without variable sources out of loops.
pub fn hoist(code: &mut Code) {
    let predecessors: Vec<Vec<u32>> = code.blocks.iter().map(|b| b.predecessors.clone()).collect();
    let idom = dominators(&predecessors);
    for index in 0..code.blocks.len() {
        if code.blocks[index].depth == 0 {
            continue;
        }
        let mut place = index as u32;
        while code.blocks[place as usize].depth > 0 && place > 0 {
            place = idom[place as usize];
        }
        // A kernel that begins with a loop has no place before it.
        if code.blocks[place as usize].depth > 0 {
            continue;
        }
        let constant = |node: &Node| {
            node.effect == Effect::Pure
                && node.uses.len() == 1
                && matches!(code.form(node.uses[0]), Form::Bank(_))
        };
        let (moved, kept) = (code.blocks[index].nodes.iter().cloned()).partition(constant);
        let moved: Vec<Node> = moved;
        code.blocks[index].nodes = kept;
        let nodes = &mut code.blocks[place as usize].nodes;
        let branch = nodes.last().is_some_and(|n| n.effect == Effect::Branch);
        let end = nodes.len() - usize::from(branch);
        nodes.splice(end..end, moved);
    }
}
