//! Names to values. A name is half of a register; every block where ways meet gets a phi for
//! each name that is live there, and those that merge nothing are taken out afterwards
//! ([`super::rewrite`]). Registers that are written in one place, as compilers write most, are
//! what was written there wherever that comes first: so what is constant is known in loops too.

use super::order::dominates;
use super::word::{Code, Form, Phi, SmallMap, Value, Values};

/// Half of a register: its number and which half.
pub type Name = (u16, u8);

/// What the names stand for, block by block in reverse post-order.
pub struct Names {
    /// At the place that is being read.
    current: SmallMap<Name, Value>,
    /// At the end of blocks that have been read.
    ends: Vec<SmallMap<Name, Value>>,
    /// The name of every phi, by block.
    merged: Vec<Vec<Name>>,
    /// Registers that are written in one place.
    once: Vec<bool>,
    /// What was written into them, and in which block.
    only: SmallMap<Name, (u32, Value)>,
    /// Immediate dominators of the blocks.
    idom: Vec<u32>,
    block: u32,
    undefined: Value,
}

impl Names {
    /// For code with blocks of these dominators, and registers that are written `once`.
    pub fn new(code: &mut Code, idom: Vec<u32>, once: Vec<bool>) -> Self {
        let blocks = idom.len();
        Names {
            once,
            only: SmallMap::default(),
            idom,
            block: 0,
            current: SmallMap::default(),
            ends: vec![SmallMap::default(); blocks],
            merged: vec![Vec::new(); blocks],
            undefined: code.value(Form::Undefined),
        }
    }

    /// Begins a block where these names are live, each with the form it has in a phi.
    pub fn begin(&mut self, code: &mut Code, block: u32, live: impl Iterator<Item = (Name, Form)>) {
        self.block = block;
        let preds = &code.blocks[block as usize].predecessors;
        match preds[..] {
            [] => self.current.clear(),
            [only] if only < block => {
                let end = &self.ends[only as usize];
                let kept = live.map(|(name, _)| (name, end.get(&name).copied()));
                self.current = kept.filter_map(|(n, v)| Some((n, v?))).collect();
            }
            _ => {
                self.current.clear();
                for (name, form) in live {
                    if let Some((at, value)) = self.only.get(&name)
                        && dominates(&self.idom, *at, block)
                    {
                        self.current.insert(name, *value);
                        continue;
                    }
                    let def = code.value(form);
                    self.current.insert(name, def);
                    self.merged[block as usize].push(name);
                    let args = Values::new();
                    code.blocks[block as usize].phis.push(Phi { def, args });
                }
            }
        }
    }

    /// From here on the name stands for `value`.
    pub fn write(&mut self, name: Name, value: Value) {
        if self.once[usize::from(name.0)] {
            self.only.insert(name, (self.block, value));
        }
        self.current.insert(name, value);
    }

    /// What the name stands for here.
    pub fn read(&self, name: Name) -> Value {
        *self.current.get(&name).unwrap_or(&self.undefined)
    }

    /// Was it ever written on the way here?
    pub fn is_undefined(&self, value: Value) -> bool {
        value == self.undefined
    }

    /// Ends a block.
    pub fn end(&mut self, block: u32) {
        self.ends[block as usize] = std::mem::take(&mut self.current);
    }

    /// Fills in what the phis merge, once all blocks have been read.
    pub fn finish(self, code: &mut Code) {
        for (block, names) in self.merged.iter().enumerate() {
            let preds = code.blocks[block].predecessors.clone();
            for (phi, name) in code.blocks[block].phis.iter_mut().zip(names) {
                let at_end = |p: &u32| self.ends[*p as usize].get(name).copied();
                phi.args = (preds.iter())
                    .map(|p| at_end(p).unwrap_or(self.undefined))
                    .collect();
            }
        }
    }
}
