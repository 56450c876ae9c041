//! Loop unrolling: an assembler writes small innermost loops out several times, which is where
//! many of a short kernel's registers come from. The rules and numbers are what NVIDIA's
//! assembler (11.8) was seen to do with loops made for the purpose.

use crate::analysis::registers::word::{Code, Effect, Form, Memory, Node, Sum, Value, ValueMap};
use crate::isa::Cmp;
use smallvec::smallvec;

/// How often a loop whose number of rounds is not known is written out.
const COPIES: u32 = 4;
/// Machine instructions of the longest such loop without loads from far away …
const SHORT: u32 = 21;
/// … of which a load from shared memory buys so many more …
const FOR_NEAR_LOAD: u32 = 4;
/// … and with loads from far away.
const LONG: u32 = 45;
/// A loop with a known number of rounds is written out completely up to so many instructions …
const COMPLETE: u32 = 1100;
/// … and otherwise as often as it fits in so many.
const PARTLY: u32 = 350;

/// How a loop goes on.
enum Rounds {
    /// So many times.
    Known(u32),
    /// Until the counter passes the value that stands at this place among the test's sources.
    Unknown { test: usize, bound: usize },
}

/// Unrolls loops of one block that count.
pub fn unroll(code: &mut Code) {
    for index in 0..code.blocks.len() {
        let block = &code.blocks[index];
        if block.rolled || !block.successors.contains(&(index as u32)) {
            continue;
        }
        let Some(rounds) = rounds(code, index) else {
            continue;
        };
        let length: u32 = block.nodes.iter().map(|n| n.length).sum();
        let loads = |memory: Memory| {
            let is = |n: &&Node| n.effect == Effect::Load(memory);
            block.nodes.iter().filter(is).count() as u32
        };
        let copies = match rounds {
            Rounds::Known(times) if times.saturating_mul(length) <= COMPLETE => times,
            Rounds::Known(_) if PARTLY / length.max(1) >= COPIES => PARTLY / length.max(1),
            Rounds::Known(_) => 1,
            Rounds::Unknown { .. } if loads(Memory::Far) > 0 && length <= LONG => COPIES,
            Rounds::Unknown { .. } if length <= SHORT + FOR_NEAR_LOAD * loads(Memory::Near) => {
                COPIES
            }
            Rounds::Unknown { .. } => 1,
        };
        if copies < 2 {
            continue;
        }
        if let Rounds::Unknown { test, bound } = rounds {
            keep_bound(code, index, test, bound);
        }
        write_out(code, index, copies);
    }
}

/// Looks for a counter that goes by a number and a bound that does not change in the loop.
fn rounds(code: &Code, index: usize) -> Option<Rounds> {
    let block = &code.blocks[index];
    let at_def = |value: Value| block.nodes.iter().position(|n| n.defs.contains(&value));
    let phi_of = |value: Value| block.phis.iter().find(|phi| phi.def == value);
    let branch = block.nodes.last().filter(|n| n.effect == Effect::Branch)?;
    let test = at_def(*branch.uses.first()?)?;
    let cmp = block.nodes[test].compares?;
    let uses = &block.nodes[test].uses;
    let changes = |v: &Value| at_def(*v).is_some() || phi_of(*v).is_some();
    let counter = uses.iter().copied().find(changes)?;
    let bound = uses.iter().position(|v| !changes(v))?;
    // Either the new value of the counter is compared, or the old one.
    let (old, new) = match code.sums.get(&counter) {
        Some(sum) if phi_of(sum.base.0).is_some() => (sum.base.0, counter),
        _ => {
            let back = block
                .predecessors
                .iter()
                .position(|p| *p as usize == index)?;
            (counter, phi_of(counter)?.args[back])
        }
    };
    let step = code.sums.get(&new).filter(|sum| sum.base.0 == old)?.offset;
    let start = block
        .predecessors
        .iter()
        .position(|p| *p as usize != index)?;
    let start = phi_of(old)?.args[start];
    let number = |value: Value| match code.form(value) {
        Form::Number(n) => Some(i64::from(n as i32)),
        _ => None,
    };
    match (number(start), number(uses[bound])) {
        (Some(first), Some(last)) => {
            let way = (last - first).abs() + i64::from(counter == old) * step.abs();
            let closed = matches!(cmp, Cmp::Le | Cmp::Ge | Cmp::Ls | Cmp::Hs);
            let times = (way + i64::from(closed)).checked_add(step.abs() - 1)? / step.abs().max(1);
            Some(Rounds::Known(u32::try_from(times.max(1)).ok()?))
        }
        _ if counter == new => Some(Rounds::Unknown { test, bound }),
        _ => None,
    }
}

/// The loop compares with its bound less a few rounds, which has to be computed before it and
/// kept.
fn keep_bound(code: &mut Code, index: usize, test: usize, bound: usize) {
    let old = code.blocks[index].nodes[test].uses[bound];
    if matches!(code.form(old), Form::Number(_)) {
        return;
    }
    let before = code.blocks[index].predecessors.iter();
    let Some(before) = before.copied().find(|p| *p as usize != index) else {
        return;
    };
    let less = code.value(Form::Word);
    let mut node = Node::plain(smallvec![old], smallvec![less]);
    node.tag = u64::from(less);
    let nodes = &mut code.blocks[before as usize].nodes;
    let end = nodes.len() - usize::from(nodes.last().is_some_and(|n| n.effect == Effect::Branch));
    nodes.insert(end, node);
    code.blocks[index].nodes[test].uses[bound] = less;
}

fn write_out(code: &mut Code, index: usize, copies: u32) {
    let own = index as u32;
    let block = code.blocks[index].clone();
    let Some(back) = block.predecessors.iter().position(|p| *p == own) else {
        return;
    };
    let mut nodes: Vec<Node> = Vec::new();
    // What the loop's values are called in the copy before.
    let mut names: ValueMap<Value> = ValueMap::default();
    for copy in 0..copies {
        let last = copy + 1 == copies;
        let mut new = ValueMap::default();
        for phi in &block.phis {
            let from = phi.args[back];
            let value = match copy {
                0 => phi.def,
                _ => *names.get(&from).unwrap_or(&from),
            };
            new.insert(phi.def, value);
        }
        for original in &block.nodes {
            if original.effect == Effect::Branch && !last {
                continue;
            }
            let mut node = original.clone();
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
        // Sums of this copy, named as in this copy.
        let name = |v: Value| *new.get(&v).unwrap_or(&v);
        let defined = block.nodes.iter().flat_map(|n| &n.defs);
        for def in defined {
            if let Some(sum) = code.sums.get(def).copied()
                && (!last || copy > 0)
            {
                let renamed = Sum {
                    high: sum.high.map(name),
                    base: (name(sum.base.0), sum.base.1.map(name)),
                    offset: sum.offset,
                };
                code.sums.insert(name(*def), renamed);
            }
        }
        names = new;
    }
    fold(code, &mut nodes);
    code.blocks[index].nodes = nodes;
}

/// Counters and pointers of later copies are those of the first plus a number, which accesses
/// carry themselves.
fn fold(code: &mut Code, nodes: &mut [Node]) {
    let defined = nodes.iter().flat_map(|node| &node.defs);
    let highs: ValueMap<Value> = defined
        .filter_map(|low| Some((code.sums.get(low)?.high?, *low)))
        .collect();
    for node in nodes {
        if node.address > 0 {
            let high = (node.address == 2).then(|| node.uses[1]);
            let ((low, high), offset) = code.root(node.uses[0], high);
            if offset != 0 {
                node.uses[0] = low;
                if let Some(high) = high {
                    node.uses[1] = high;
                }
                node.tag = node.tag.wrapping_mul(31).wrapping_add(offset as u64);
            }
            continue;
        }
        // The sum itself, in one step.
        let Some(def) = node.defs.first() else {
            continue;
        };
        if let Some(sum) = code.sums.get(def).copied() {
            let (root, offset) = code.root(*def, sum.high);
            if root.0 != sum.base.0 {
                node.uses[0] = root.0;
                node.tag = node.tag.wrapping_mul(31).wrapping_add(offset as u64);
            }
        } else if let Some(low) = highs.get(def)
            && let Some(sum) = code.sums.get(low).copied()
            && let ((_, Some(high)), _) = code.root(*low, sum.high)
        {
            node.uses[0] = high;
        }
    }
}
