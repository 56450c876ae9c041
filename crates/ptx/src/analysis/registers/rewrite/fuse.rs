//! A product of constants that only an addition reads is computed by that addition: the step of a
//! loop over a grid (blocks times threads) takes no register while the loop runs.

use crate::analysis::registers::word::{Code, Effect, Node, Role, Value, ValueMap, Values};

/// Moves such products into their additions.
pub fn fuse(code: &mut Code) {
    let mut readers = vec![0u32; code.forms.len()];
    let mut additions: Vec<Value> = Vec::new();
    for block in &code.blocks {
        for value in block.phis.iter().flat_map(|phi| &phi.args) {
            readers[*value as usize] += 1;
        }
        for node in &block.nodes {
            for value in &node.uses {
                readers[*value as usize] += 1;
            }
            if node.role == Role::Addition {
                additions.extend(&node.uses);
            }
        }
    }
    additions.retain(|value| readers[*value as usize] == 1);
    additions.sort_unstable();
    let constant = |node: &Node, code: &Code| {
        node.effect == Effect::Pure
            && node.role == Role::Product
            && node.uses.iter().all(|v| code.form(*v).is_constant())
            && additions.binary_search(&node.defs[0]).is_ok()
    };
    let mut products: ValueMap<Values> = ValueMap::default();
    for index in 0..code.blocks.len() {
        let nodes = std::mem::take(&mut code.blocks[index].nodes);
        let (taken, kept): (Vec<Node>, Vec<Node>) =
            nodes.into_iter().partition(|node| constant(node, code));
        code.blocks[index].nodes = kept;
        products.extend(taken.into_iter().map(|node| (node.defs[0], node.uses)));
    }
    let nodes = code.blocks.iter_mut().flat_map(|b| &mut b.nodes);
    for node in nodes.filter(|node| node.role == Role::Addition) {
        for at in 0..node.uses.len() {
            if let Some(factors) = products.get(&node.uses[at]) {
                node.uses.remove(at);
                node.uses.insert_many(at, factors.iter().copied());
                // One of the factors is moved into a register for the moment.
                node.scratch = node.scratch.max(1);
                node.role = Role::Other;
                break;
            }
        }
    }
}
