//! Loop unrolling: an assembler writes small innermost loops out a few times, which is where
//! many of a short kernel's registers come from.

use super::word::{Code, Effect, Form, Node, Value};
use std::collections::HashMap;

/// How often a loop whose number of rounds is not known is written out.
const COPIES: u32 = 4;
/// Machine instructions that the written-out loop may have.
const LONGEST: u32 = 300;

/// Unrolls loops of one block that count.
pub fn unroll(code: &mut Code) {
    for index in 0..code.blocks.len() {
        let block = &code.blocks[index];
        let own = index as u32;
        if block.rolled || !block.successors.contains(&own) || !counts(code, index) {
            continue;
        }
        let length: u32 = block.nodes.iter().map(|n| n.length).sum();
        let ordered = |n: &Node| n.effect == Effect::Ordered;
        if length * COPIES > LONGEST || block.nodes.iter().any(ordered) {
            continue;
        }
        write_out(code, index);
    }
}

/// Does the loop's branch depend on a value that goes up or down by a number, compared with
/// something that does not change in the loop?
fn counts(code: &Code, index: usize) -> bool {
    let block = &code.blocks[index];
    let by_def = |value: Value| block.nodes.iter().find(|n| n.defs.contains(&value));
    let Some(branch) = block.nodes.last().filter(|n| n.effect == Effect::Branch) else {
        return false;
    };
    let Some(test) = branch.uses.first().and_then(|flag| by_def(*flag)) else {
        return false;
    };
    let changing: Vec<Value> = (test.uses.iter())
        .copied()
        .filter(|v| by_def(*v).is_some() || block.phis.iter().any(|phi| phi.def == *v))
        .collect();
    let [counter] = changing[..] else {
        return false;
    };
    let is_phi = |v: &Value| block.phis.iter().any(|phi| phi.def == *v);
    match by_def(counter) {
        None => true,
        Some(step) => {
            step.effect == Effect::Pure
                && step.uses.iter().any(is_phi)
                && step
                    .uses
                    .iter()
                    .all(|v| is_phi(v) || matches!(code.form(*v), Form::Number(_)))
        }
    }
}

fn write_out(code: &mut Code, index: usize) {
    let own = index as u32;
    let block = code.blocks[index].clone();
    let Some(back) = block.predecessors.iter().position(|p| *p == own) else {
        return;
    };
    let mut nodes: Vec<Node> = Vec::new();
    // What the loop's values are called in the copy before.
    let mut names: HashMap<Value, Value> = HashMap::new();
    for copy in 0..COPIES {
        let last = copy + 1 == COPIES;
        let mut new = HashMap::new();
        for phi in &block.phis {
            let from = phi.args[back];
            let value = match copy {
                0 => phi.def,
                _ => *names.get(&from).unwrap_or(&from),
            };
            new.insert(phi.def, value);
        }
        for node in &block.nodes {
            if node.effect == Effect::Branch && !last {
                continue;
            }
            let mut node = node.clone();
            for value in &mut node.uses {
                *value = *new.get(value).unwrap_or(value);
            }
            // The last copy keeps the names that the rest of the code knows.
            if !last {
                for def in &mut node.defs {
                    let form = code.form(*def);
                    let fresh = code.value(form);
                    new.insert(*def, fresh);
                    *def = fresh;
                }
            }
            nodes.push(node);
        }
        names = new;
    }
    code.blocks[index].nodes = nodes;
}
