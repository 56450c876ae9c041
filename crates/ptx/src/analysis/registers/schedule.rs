//! The order of operations within a block, as far as registers depend on it: an assembler starts
//! loads early so that their latency passes behind other work, as long as registers last, and
//! otherwise keeps values short-lived.

use super::live::Set;
use super::word::{Block, Code, Effect, Memory, SmallMap, Value, ValueMap, Values};
use smallvec::SmallVec;

/// Operations among which the next one is chosen: those that could come soonest. Blocks with more
/// that could are long, and looking at all of them every time would take too long.
const WINDOW: usize = 128;

/// Operations that must come before one, with the cycles between: most often two at most.
type Waits = SmallVec<[(u32, u32); 2]>;

/// What is to be ordered in a block, whatever the registers it may take.
pub struct Graph {
    /// Operations that must come before each, with the cycles between.
    before: Vec<Waits>,
    /// How many must come after it.
    after: Vec<u32>,
    /// Cycles from the block's start until everything before it can be done.
    depth: Vec<u32>,
    /// Words that it reads and writes, each once.
    uses: Vec<Values>,
    defs: Vec<Values>,
}

/// Which instruction waits for which in a block.
pub fn graph(code: &Code, block: &Block) -> Graph {
    let count = block.nodes.len();
    let mut before: Vec<Waits> = vec![Waits::new(); count];
    let mut after = vec![0; count];
    let mut made: ValueMap<u32> = ValueMap::default();
    let mut stores: SmallMap<Memory, u32> = SmallMap::default();
    let mut loads: SmallMap<Memory, Vec<u32>> = SmallMap::default();
    let mut fence: Option<u32> = None;
    let mut since_fence: Vec<u32> = Vec::new();
    let mut join = |from: u32, to: u32, latency: u32| {
        before[to as usize].push((from, latency));
        after[from as usize] += 1;
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
    let mut depth: Vec<u32> = vec![0; count];
    for at in 0..count {
        before[at].sort_unstable();
        let ready = |(from, latency): &(u32, u32)| depth[*from as usize] + latency;
        depth[at] = before[at].iter().map(ready).max().unwrap_or(0);
    }
    Graph {
        before,
        after,
        depth,
        uses: block.nodes.iter().map(|n| words(code, &n.uses)).collect(),
        defs: block.nodes.iter().map(|n| words(code, &n.defs)).collect(),
    }
}

/// The order of a block's operations when latencies are hidden up to so many registers, and the
/// registers it needs. `start` and `end` are the words that live into it and out of it.
///
/// Operations are placed from the end: each as late as its results' latency allows, so a load
/// stands as far ahead of its first reader as its latency; where registers run out, whatever
/// keeps the fewest alive comes next instead.
pub fn order(
    block: &Block,
    graph: &Graph,
    start: &Set,
    end: &Set,
    moved: u32,
    early: u32,
) -> (Vec<u32>, u32) {
    let mut order = backwards(block, graph, end, early);
    order.reverse();
    let most = peak(block, graph, &order, start, end, moved);
    (order, most)
}

fn words(code: &Code, values: &[Value]) -> Values {
    let mut list: Values = (values.iter().copied())
        .filter(|v| code.is_word(*v))
        .collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn backwards(block: &Block, graph: &Graph, end: &Set, early: u32) -> Vec<u32> {
    let Graph { uses, defs, .. } = graph;
    let count = block.nodes.len();
    let mut order = Vec::with_capacity(count);
    let mut live = end.clone();
    let mut left = graph.after.clone();
    let mut ready = vec![0u32; count];
    let mut open: Vec<u32> = (0..count as u32)
        .filter(|at| left[*at as usize] == 0)
        .collect();
    let mut alive = live.len() as i32;
    let mut now = 0u32;
    while !open.is_empty() {
        let window = open.len().saturating_sub(WINDOW);
        let pick = (open.iter().enumerate().skip(window))
            .map(|(place, at)| {
                let node = &block.nodes[*at as usize];
                let new = uses[*at as usize].iter().filter(|v| !live.contains(**v));
                let gone = defs[*at as usize].iter().filter(|v| live.contains(**v));
                let delta = new.count() as i32 - gone.count() as i32;
                let wait = ready[*at as usize].saturating_sub(now);
                let room = delta <= 0 || alive + delta <= early as i32;
                let later = u32::MAX - graph.depth[*at as usize];
                let last = count as u32 - at;
                let rank = match (node.effect == Effect::Branch, room) {
                    (true, _) => (0, 0, 0, last),
                    (false, true) => (1, wait, later, last),
                    (false, false) => (2, (delta + 1000) as u32, 0, last),
                };
                (rank, place)
            })
            .min();
        let Some((_, place)) = pick else { break };
        let at = open.swap_remove(place);
        let node = &block.nodes[at as usize];
        order.push(at);
        now = now.max(ready[at as usize]) + node.length.min(4);
        for value in &defs[at as usize] {
            alive -= i32::from(live.remove(*value));
        }
        for value in &uses[at as usize] {
            alive += i32::from(live.insert(*value));
        }
        for (from, latency) in &graph.before[at as usize] {
            let from = *from as usize;
            ready[from] = ready[from].max(now - 1 + latency);
            left[from] -= 1;
            if left[from] == 0 {
                open.push(from as u32);
            }
        }
    }
    order
}

/// The most words alive at once when a block is run in this order.
fn peak(block: &Block, graph: &Graph, order: &[u32], start: &Set, end: &Set, moved: u32) -> u32 {
    let mut live = end.clone();
    let mut alive = live.len();
    let mut most = start.len().max(alive + moved);
    for at in order.iter().rev() {
        let node = &block.nodes[*at as usize];
        let defs = &graph.defs[*at as usize];
        // A result that is never read has a register for a moment.
        let unread = defs.iter().filter(|v| !live.contains(**v)).count() as u32;
        most = most.max(alive + unread);
        for value in defs {
            alive -= u32::from(live.remove(*value));
        }
        for value in &graph.uses[*at as usize] {
            alive += u32::from(live.insert(*value));
        }
        most = most.max(alive + node.scratch);
    }
    most
}
