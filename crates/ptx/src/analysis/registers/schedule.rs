//! The order of operations within a block, as far as registers depend on it: an assembler starts
//! loads early so that their latency passes behind other work, as long as registers last, and
//! otherwise keeps values short-lived.

use super::bounds::Early;
use super::live::Set;
use super::word::{Block, Code, Effect, Memory, Value};
use std::collections::HashMap;

/// Who waits for whom in a block.
struct Graph {
    /// Operations that must come later, with the cycles between.
    after: Vec<Vec<(u32, u32)>>,
    /// How many must come first.
    before: Vec<u32>,
    /// Leads to a load.
    feeds_load: Vec<bool>,
}

fn graph(block: &Block) -> Graph {
    let count = block.nodes.len();
    let mut after: Vec<Vec<(u32, u32)>> = vec![Vec::new(); count];
    let mut before = vec![0; count];
    let mut made: HashMap<Value, u32> = HashMap::new();
    let mut stores: HashMap<Memory, u32> = HashMap::new();
    let mut loads: HashMap<Memory, Vec<u32>> = HashMap::new();
    let mut fence: Option<u32> = None;
    let mut since_fence: Vec<u32> = Vec::new();
    let mut join = |from: u32, to: u32, latency: u32| {
        after[from as usize].push((to, latency));
        before[to as usize] += 1;
    };
    for (at, node) in block.nodes.iter().enumerate() {
        let at = at as u32;
        for value in &node.uses {
            if let Some(from) = made.get(value) {
                join(*from, at, block.nodes[*from as usize].latency);
            }
        }
        for def in &node.defs {
            made.insert(*def, at);
        }
        match node.effect {
            Effect::Pure => {}
            Effect::Load(Memory::Fixed | Memory::Texture) => {}
            Effect::Load(memory) => {
                if let Some(store) = stores.get(&memory) {
                    join(*store, at, 1);
                }
                loads.entry(memory).or_default().push(at);
            }
            Effect::Store(memory) => {
                if let Some(store) = stores.insert(memory, at) {
                    join(store, at, 1);
                }
                for load in loads.remove(&memory).unwrap_or_default() {
                    join(load, at, 1);
                }
            }
            Effect::Ordered | Effect::Branch => {
                for earlier in since_fence.drain(..) {
                    join(earlier, at, 1);
                }
                stores.clear();
                loads.clear();
            }
        }
        if let Effect::Load(_) | Effect::Store(_) | Effect::Ordered = node.effect {
            if let Some(fence) = fence {
                join(fence, at, 1);
            }
            if node.effect == Effect::Ordered {
                fence = Some(at);
            }
            since_fence.push(at);
        }
    }
    let mut feeds_load = vec![false; count];
    for at in (0..count).rev() {
        let far = matches!(block.nodes[at].effect, Effect::Load(_)) && block.nodes[at].latency > 20;
        feeds_load[at] = far || after[at].iter().any(|(to, _)| feeds_load[*to as usize] && *to as usize > at && !matches!(block.nodes[at].effect, Effect::Load(_)| Effect::Ordered | Effect::Store(_)));
    }
    Graph {
        after,
        before,
        feeds_load,
    }
}

/// The order of a block's operations when loads may be started early up to `limit` registers, and
/// the registers it needs. `start` and `end` are the words that live into it and out of it.
pub fn order(
    code: &Code,
    block: &Block,
    start: &Set,
    end: &Set,
    moved: u32,
    early: Early,
) -> (Vec<u32>, u32) {
    let mut order = Vec::new();
    let graph = graph(block);
    let count = block.nodes.len();
    // How many operations have yet to read each word; one more where it lives on.
    let mut readers: HashMap<Value, u32> = HashMap::new();
    let words = |values: &[Value]| -> Vec<Value> {
        let mut list: Vec<Value> = values.iter().copied().filter(|v| code.is_word(*v)).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    for node in &block.nodes {
        for value in words(&node.uses) {
            *readers.entry(value).or_default() += 1;
        }
    }
    let mut live = start.len();
    let mut most = live.max(end.len() + moved);
    let mut before = graph.before.clone();
    let mut ready_at = vec![0u32; count];
    let mut open: Vec<u32> = (0..count as u32).filter(|n| before[*n as usize] == 0).collect();
    let mut now = 0u32;
    // Loads whose results nobody has read yet, by one of their words.
    let mut under_way: Vec<Value> = Vec::new();
    while !open.is_empty() {
        let change = |at: u32| -> (i32, u32) {
            let node = &block.nodes[at as usize];
            let dying = words(&node.uses)
                .iter()
                .filter(|v| readers.get(v) == Some(&1) && !end.contains(**v))
                .count() as i32;
            let born = words(&node.defs)
                .iter()
                .filter(|v| readers.contains_key(v) || end.contains(**v))
                .count() as i32;
            (born - dying, words(&node.defs).len() as u32)
        };
        let pick = open
            .iter()
            .enumerate()
            .map(|(place, at)| {
                let (delta, _) = change(*at);
                let waits = ready_at[*at as usize].saturating_sub(now);
                let is_load = matches!(block.nodes[*at as usize].effect, Effect::Load(_));
                let room = !(is_load && under_way.len() as u32 >= early.loads)
                    && live as i32 + delta <= early.registers as i32;
                let node = &block.nodes[*at as usize];
                let rank = if waits == 0 && delta <= 0 && node.effect != Effect::Branch {
                    (0, 0)
                } else if graph.feeds_load[*at as usize] && room && waits == 0 {
                    (1, 0)
                } else if delta <= 0 || (graph.feeds_load[*at as usize] && room) {
                    (2, waits)
                } else {
                    (3, waits)
                };
                let delta = if rank.0 == 3 { delta } else { 0 };
                ((rank, delta, *at), place)
            })
            .min();
        let Some((_, place)) = pick else { break };
        let at = open.swap_remove(place);
        order.push(at);
        now = now.max(ready_at[at as usize]) + 1;
        let node = &block.nodes[at as usize];
        // Sources that die here make room for results, not for what is needed meanwhile.
        let uses = words(&node.uses);
        under_way.retain(|word| !uses.contains(word));
        if matches!(node.effect, Effect::Load(_)) {
            under_way.extend(words(&node.defs).first());
        }
        let before_op = live;
        for value in &uses {
            if let Some(left) = readers.get_mut(value) {
                *left -= 1;
                if *left == 0 && !end.contains(*value) {
                    live -= 1;
                }
            }
        }
        let defs = words(&node.defs);
        let kept = defs
            .iter()
            .filter(|v| readers.contains_key(v) || end.contains(**v))
            .count() as u32;
        most = most
            .max(before_op + node.scratch)
            .max(live + defs.len() as u32);
        live += kept;
        for (to, latency) in &graph.after[at as usize] {
            let to = *to as usize;
            ready_at[to] = ready_at[to].max(now - 1 + latency);
            before[to] -= 1;
            if before[to] == 0 {
                open.push(to as u32);
            }
        }
    }
    (order, most)
}
