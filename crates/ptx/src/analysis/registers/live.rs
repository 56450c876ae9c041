//! Which values are live at the edges of blocks.

use super::word::{Code, Form, Value};

/// A set of values, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(Vec<u64>);

impl Set {
    pub fn new(count: usize) -> Self {
        Set(vec![0; count.div_ceil(64)])
    }
    pub fn insert(&mut self, value: Value) -> bool {
        let (word, bit) = (value as usize / 64, 1u64 << (value % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
    pub fn remove(&mut self, value: Value) -> bool {
        let (word, bit) = (value as usize / 64, 1u64 << (value % 64));
        let there = self.0[word] & bit != 0;
        self.0[word] &= !bit;
        there
    }
    pub fn contains(&self, value: Value) -> bool {
        self.0[value as usize / 64] & (1u64 << (value % 64)) != 0
    }
    pub fn union(&mut self, other: &Set) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= *b;
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    word as u32 * 64 + bit
                })
            })
        })
    }
    pub fn len(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }
}

/// Words that are live at the edges of every block.
pub struct Edges {
    /// On entry, merged values included.
    pub starts: Vec<Set>,
    /// At the end: what successors need, with what their phis read on this way.
    pub ends: Vec<Set>,
    /// Constants that have to be in registers at the end because a phi reads them there.
    pub moved: Vec<u32>,
}

/// Finds them by iterating backwards to a fixed point.
pub fn edges(code: &Code) -> Edges {
    let count = code.forms.len();
    let blocks = code.blocks.len();
    let mut starts = vec![Set::new(count); blocks];
    let mut ends = vec![Set::new(count); blocks];
    let mut moved = vec![0; blocks];
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..blocks).rev() {
            let block = &code.blocks[index];
            let mut live = Set::new(count);
            let mut constants = 0;
            for next in &block.successors {
                let to = &code.blocks[*next as usize];
                let mut needed = starts[*next as usize].clone();
                for phi in &to.phis {
                    needed.remove(phi.def);
                }
                live.union(&needed);
                let mut here = 0;
                let way = to.predecessors.iter().position(|p| *p as usize == index);
                for phi in to.phis.iter().filter(|phi| code.is_word(phi.def)) {
                    let Some(arg) = way.map(|way| phi.args[way]) else {
                        continue;
                    };
                    match code.form(arg) {
                        Form::Word => {
                            live.insert(arg);
                        }
                        Form::Undefined | Form::Flag => {}
                        Form::Number(_) | Form::Bank(_) => here += 1,
                    }
                }
                constants = constants.max(here);
            }
            moved[index] = constants;
            if ends[index] != live {
                ends[index] = live.clone();
                changed = true;
            }
            for node in block.nodes.iter().rev() {
                for def in &node.defs {
                    live.remove(*def);
                }
                for value in node.uses.iter().filter(|v| code.is_word(**v)) {
                    live.insert(*value);
                }
            }
            for phi in block.phis.iter().filter(|phi| code.is_word(phi.def)) {
                live.insert(phi.def);
            }
            if starts[index] != live {
                starts[index] = live;
                changed = true;
            }
        }
    }
    Edges {
        starts,
        ends,
        moved,
    }
}
