//! Short sides of branches become predicated instructions, and blocks that follow each other
//! become one.

use crate::analysis::registers::word::{Block, Code, Effect, Node, Value, Values};
use smallvec::smallvec;

/// Machine instructions of the longest side that is predicated.
const LONGEST: u32 = 8;

/// Runs until nothing changes.
pub fn predicate(code: &mut Code) {
    loop {
        let mut changed = false;
        for index in 0..code.blocks.len() as u32 {
            while skip(code, index) || join_next(code, index) || take_sides(code, index) {
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Who comes to a block that only goes on goes on at once.
fn skip(code: &mut Code, index: u32) -> bool {
    let block = &code.blocks[index as usize];
    let ([to], empty) = (&block.successors[..], block.nodes.iter().all(only_branch)) else {
        return false;
    };
    let to = *to;
    let target = &code.blocks[to as usize].predecessors;
    if index == 0 || to == index || !empty || !block.phis.is_empty() {
        return false;
    }
    let from = block.predecessors.clone();
    if from.is_empty() || from.iter().any(|p| target.contains(p) || *p == index) {
        return false;
    }
    for p in &from {
        for next in &mut code.blocks[*p as usize].successors {
            if *next == index {
                *next = to;
            }
        }
    }
    let Some(place) = code.blocks[to as usize]
        .predecessors
        .iter()
        .position(|p| *p == index)
    else {
        return false;
    };
    let block = &mut code.blocks[to as usize];
    block
        .predecessors
        .splice(place..=place, from.iter().copied());
    for phi in &mut block.phis {
        let arg = phi.args.remove(place);
        phi.args.insert_many(place, from.iter().map(|_| arg));
    }
    code.blocks[index as usize] = Block::default();
    true
}

fn only_branch(node: &Node) -> bool {
    node.effect == Effect::Branch && node.uses.is_empty()
}

/// A block whose only successor has no other predecessor takes it in.
fn join_next(code: &mut Code, index: u32) -> bool {
    let [next] = code.blocks[index as usize].successors[..] else {
        return false;
    };
    let sealed = code.blocks[index as usize].sealed;
    if sealed || next == index || code.blocks[next as usize].predecessors != [index] {
        return false;
    }
    // With one predecessor there is nothing to merge; left over until it is simplified.
    if next == 0 || !code.blocks[next as usize].phis.is_empty() {
        return false;
    }
    let Block {
        mut nodes,
        successors,
        sealed,
        ..
    } = std::mem::take(&mut code.blocks[next as usize]);
    for to in &successors {
        for from in &mut code.blocks[*to as usize].predecessors {
            if *from == next {
                *from = index;
            }
        }
    }
    let block = &mut code.blocks[index as usize];
    drop_branch(block);
    block.nodes.append(&mut nodes);
    block.successors = successors;
    block.sealed = sealed;
    true
}

fn drop_branch(block: &mut Block) -> Option<Node> {
    match block.nodes.last() {
        Some(last) if last.effect == Effect::Branch => block.nodes.pop(),
        _ => None,
    }
}

/// Takes in one or two short sides that meet again at once.
fn take_sides(code: &mut Code, index: u32) -> bool {
    let [a, b] = code.blocks[index as usize].successors[..] else {
        return false;
    };
    let is_side = |side: u32| {
        let block = &code.blocks[side as usize];
        side != index && block.predecessors == [index] && block.successors.len() == 1
    };
    let to = |side: u32| code.blocks[side as usize].successors[0];
    let (sides, meet) = match (is_side(a), is_side(b)) {
        (true, true) if to(a) == to(b) => (vec![a, b], to(a)),
        (true, _) if to(a) == b => (vec![a], b),
        (_, true) if to(b) == a => (vec![b], a),
        _ => return false,
    };
    let short = |side: &u32| {
        let nodes = &code.blocks[*side as usize].nodes;
        let length: u32 = nodes.iter().map(|n| n.length).sum();
        length <= LONGEST + 1 && nodes.iter().all(|n| n.effect != Effect::Ordered)
    };
    let flag = code.blocks[index as usize].nodes.last();
    let flag = flag.filter(|n| n.effect == Effect::Branch);
    let Some(flag) = flag.and_then(|n| n.uses.first().copied()) else {
        return false;
    };
    if sides.contains(&meet) || meet == index || !sides.iter().all(short) {
        return false;
    }
    drop_branch(&mut code.blocks[index as usize]);
    for side in &sides {
        let mut block = std::mem::take(&mut code.blocks[*side as usize]);
        drop_branch(&mut block);
        for node in &mut block.nodes {
            if matches!(node.effect, Effect::Store(_)) {
                node.uses.push(flag);
            }
        }
        code.blocks[index as usize].nodes.append(&mut block.nodes);
    }
    merge_at(code, index, &sides, meet, flag);
    code.blocks[index as usize].successors = vec![meet];
    true
}

/// Replaces the arguments that came over the sides by one that was chosen before.
fn merge_at(code: &mut Code, index: u32, sides: &[u32], meet: u32, flag: Value) {
    let old = code.blocks[meet as usize].predecessors.clone();
    let gone = |p: u32| p == index || sides.contains(&p);
    let mut phis = std::mem::take(&mut code.blocks[meet as usize].phis);
    let alone = old.iter().all(|p| gone(*p));
    for phi in &mut phis {
        let (mut kept, mut merged) = (Values::new(), Values::new());
        for (from, arg) in old.iter().zip(&phi.args) {
            if gone(*from) {
                merged.push(*arg);
            } else {
                kept.push(*arg);
            }
        }
        let chosen = match alone {
            true => phi.def,
            false => code.value(code.form(phi.def)),
        };
        let mut uses: Values = smallvec![flag];
        uses.extend(merged);
        let node = Node::plain(uses, smallvec![chosen]);
        code.blocks[index as usize].nodes.push(node);
        kept.push(chosen);
        phi.args = kept;
    }
    if alone {
        phis.clear();
    }
    let block = &mut code.blocks[meet as usize];
    block.phis = phis;
    block.predecessors.retain(|p| !gone(*p));
    block.predecessors.push(index);
}
