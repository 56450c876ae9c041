//! What every assembler does first: merges that merge nothing go, the same thing is computed
//! once, and what is never read is not computed.

use crate::analysis::registers::order::{dominates, dominators};
use crate::analysis::registers::word::{Code, Effect, Form, Memory, SmallMap, Value, number_of};
use std::ops::Range;

/// Registers for adding once for a whole warp: which threads take part, how many, and which one's turn it is.
const COUNTING: u32 = 3;

/// Runs until nothing changes.
pub fn simplify(code: &mut Code) {
    loop {
        let before = size(code);
        merge_phis(code);
        fold(code);
        share(code);
        drop_unused(code);
        if size(code) == before {
            return;
        }
    }
}

fn size(code: &Code) -> usize {
    let blocks = code.blocks.iter();
    blocks.map(|b| b.phis.len() + b.nodes.len()).sum()
}

/// Which value each one is replaced by.
struct Replaced(Vec<Value>);

impl Replaced {
    fn new(code: &Code) -> Self {
        Replaced((0..code.forms.len() as Value).collect())
    }
    fn of(&self, mut value: Value) -> Value {
        while self.0[value as usize] != value {
            value = self.0[value as usize];
        }
        value
    }
    fn apply(&self, code: &mut Code) {
        for block in &mut code.blocks {
            let args = block.phis.iter_mut().flat_map(|phi| &mut phi.args);
            let uses = block.nodes.iter_mut().flat_map(|node| &mut node.uses);
            for value in args.chain(uses) {
                *value = self.of(*value);
            }
        }
        for sum in code.sums.values_mut() {
            sum.high = sum.high.map(|v| self.of(v));
            sum.base = (self.of(sum.base.0), sum.base.1.map(|v| self.of(v)));
        }
    }
}

/// Phis that merge one value with each other only are that value. All are taken to be copies
/// until they are seen to merge two values, so that loops of them are found too.
fn merge_phis(code: &mut Code) {
    let mut copies: Vec<Option<Value>> = (0..code.forms.len() as Value).map(Some).collect();
    for phi in code.blocks.iter().flat_map(|b| &b.phis) {
        copies[phi.def as usize] = None;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for phi in code.blocks.iter().flat_map(|b| &b.phis) {
            let mut known = phi.args.iter().filter_map(|arg| copies[*arg as usize]);
            let first = known.next();
            let value = match first {
                Some(first) if known.all(|other| other == first) => Some(first),
                Some(_) => Some(phi.def),
                None => None,
            };
            let place = &mut copies[phi.def as usize];
            // What merges two values stays a value of its own.
            if *place != value && *place != Some(phi.def) {
                *place = value;
                changed = true;
            }
        }
    }
    let mut replaced = Replaced::new(code);
    for block in &mut code.blocks {
        block.phis.retain(|phi| match copies[phi.def as usize] {
            Some(value) if value != phi.def => {
                replaced.0[phi.def as usize] = value;
                false
            }
            _ => true,
        });
    }
    replaced.apply(code);
}

/// What is known before the kernel runs becomes an operand: results of numbers alone, and constants
/// loaded from a known address. Which numbers they are does not matter here.
fn fold(code: &mut Code) {
    let Code { blocks, forms, .. } = code;
    for block in blocks {
        block.nodes.retain(|node| {
            let all = |is: fn(Form) -> bool| node.uses.iter().all(|v| is(forms[*v as usize]));
            let known = match node.effect {
                Effect::Pure => {
                    let sources = !node.uses.is_empty() && !node.moves;
                    sources && all(|form| matches!(form, Form::Number(_)))
                }
                Effect::Load(_) => node.reads_bank && all(|f| f.is_constant()),
                _ => false,
            };
            let known = known && node.defs.iter().all(|v| forms[*v as usize].is_word());
            for (at, def) in node.defs.iter().enumerate().filter(|_| known) {
                let number = number_of(&(node.tag, &node.uses, at));
                forms[*def as usize] = Form::Bank(number as u32);
            }
            !known
        });
    }
}

/// Operations that have been seen, by the number of operation, time and sources. Lists of lists
/// would be most of the time that this takes.
struct Known {
    /// The first and the last of each number.
    of: SmallMap<u64, (usize, usize)>,
    all: Vec<Done>,
    defs: Vec<Value>,
}

/// An operation that has been seen.
struct Done {
    block: u32,
    /// Where its results are in the list of all.
    defs: Range<usize>,
    /// The next of the same number.
    next: Option<usize>,
}

impl Known {
    fn of(operations: usize) -> Known {
        Known {
            of: SmallMap::with_capacity_and_hasher(operations, Default::default()),
            all: Vec::with_capacity(operations),
            defs: Vec::with_capacity(operations),
        }
    }

    /// The results of the first of a number that is usable.
    fn find(&self, number: u64, usable: impl Fn(&Done) -> bool) -> Option<&[Value]> {
        let mut at = self.of.get(&number).map(|(first, _)| *first);
        while let Some(done) = at.map(|at| &self.all[at]) {
            if usable(done) {
                return Some(&self.defs[done.defs.clone()]);
            }
            at = done.next;
        }
        None
    }

    fn add(&mut self, number: u64, block: u32, defs: &[Value]) {
        let (at, start) = (self.all.len(), self.defs.len());
        self.defs.extend_from_slice(defs);
        self.all.push(Done {
            block,
            defs: start..self.defs.len(),
            next: None,
        });
        let (_, last) = self.of.entry(number).or_insert((at, at));
        let before = std::mem::replace(last, at);
        if before != at {
            self.all[before].next = Some(at);
        }
    }
}

/// Operations with the same sources as one that dominates them are that one; loads only
/// when nothing was stored between.
fn share(code: &mut Code) {
    let predecessors: Vec<Vec<u32>> = code.blocks.iter().map(|b| b.predecessors.clone()).collect();
    let idom = dominators(&predecessors);
    let mut replaced = Replaced::new(code);
    let mut known = Known::of(size(code));
    let mut stores = 0u64;
    for index in 0..code.blocks.len() as u32 {
        let mut nodes = std::mem::take(&mut code.blocks[index as usize].nodes);
        nodes.retain_mut(|node| {
            for value in &mut node.uses {
                *value = replaced.of(*value);
            }
            // What loads find changes with every store, and from block to block; each such time
            // has a number.
            let time = match node.effect {
                Effect::Pure | Effect::Load(Memory::Fixed | Memory::Texture) => 0,
                Effect::Load(_) => 1 + u64::from(index) + stores,
                _ => {
                    stores += 1;
                    return true;
                }
            };
            let number = number_of(&(node.tag, time, &node.uses));
            let count = node.defs.len();
            let usable =
                |known: &Done| dominates(&idom, known.block, index) && known.defs.len() == count;
            match known.find(number, usable) {
                Some(defs) => {
                    for (mine, theirs) in node.defs.iter().zip(defs) {
                        replaced.0[*mine as usize] = *theirs;
                    }
                    false
                }
                None => {
                    known.add(number, index, &node.defs);
                    true
                }
            }
        });
        code.blocks[index as usize].nodes = nodes;
    }
    replaced.apply(code);
}

/// Keeps what has an effect, and what that needs.
fn drop_unused(code: &mut Code) {
    let mut needed = vec![false; code.forms.len()];
    let mut source: Vec<Option<(u32, usize, bool)>> = vec![None; code.forms.len()];
    let mut work = Vec::<Value>::new();
    for (index, block) in code.blocks.iter().enumerate() {
        for (at, phi) in block.phis.iter().enumerate() {
            source[phi.def as usize] = Some((index as u32, at, true));
        }
        for (at, node) in block.nodes.iter().enumerate() {
            for def in &node.defs {
                source[*def as usize] = Some((index as u32, at, false));
            }
            if !droppable(node.effect) {
                work.extend(&node.uses);
            }
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut needed[value as usize], true) {
            continue;
        }
        match source[value as usize] {
            Some((block, at, true)) => work.extend(&code.blocks[block as usize].phis[at].args),
            Some((block, at, false)) => work.extend(&code.blocks[block as usize].nodes[at].uses),
            None => {}
        }
    }
    for block in &mut code.blocks {
        block.phis.retain(|phi| needed[phi.def as usize]);
        block.nodes.retain(|node| {
            !droppable(node.effect) || node.defs.iter().any(|def| needed[*def as usize])
        });
        for node in &mut block.nodes {
            if node.adds_number && !node.defs.iter().any(|def| needed[*def as usize]) {
                node.scratch = COUNTING;
            }
            // An atomic without result, and texture components that are masked out.
            let partial = matches!(node.effect, Effect::Load(Memory::Texture) | Effect::Ordered);
            if partial && node.defs.iter().any(|def| !needed[*def as usize]) {
                node.defs.retain(|def| needed[*def as usize]);
                node.wide_defs.clear();
            }
        }
    }
}

fn droppable(effect: Effect) -> bool {
    matches!(effect, Effect::Pure | Effect::Load(_))
}
