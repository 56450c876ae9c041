//! What is kept for an observer that wants details: the paths of each warp as it was last told of them, and the
//! warps whose paths may be others since.

use crate::observe::{Path, PathKind, WarpEvent};
use crate::time::Cycle;
use std::ops::Range;
use warpsim_ptx::kernel::{Pc, RegId};

/// What an observer will be told of a warp.
#[derive(Clone, Debug)]
pub enum Told {
    /// What every observer hears.
    Warp(WarpEvent),
    /// These lanes alone execute what it issues.
    Executed(u32),
    /// A register has its value.
    Written(RegId),
    /// The paths of the warp, as a range of those that are [kept](Details::paths).
    Paths(Range<u32>),
}

/// What is kept.
#[derive(Debug, Default)]
pub struct Details {
    /// The paths of each warp as they were told, the running one where it has come to since.
    known: Vec<Option<Vec<Path>>>,
    /// The cycle in which each warp came.
    came: Vec<Cycle>,
    /// Paths that are to be told.
    paths: Vec<Path>,
    /// Warps that have issued, and warps that the divergence model has changed.
    issued: Vec<u16>,
    changed: Vec<u16>,
    /// Reused for what a model holds.
    found: Vec<Path>,
}

impl Details {
    /// Nothing has been told of so many warps.
    pub fn new(slots: usize) -> Details {
        Details {
            known: vec![None; slots],
            came: vec![Cycle::ZERO; slots],
            ..Details::default()
        }
    }

    /// Paths that are to be told.
    pub fn paths(&self, range: Range<u32>) -> &[Path] {
        &self.paths[range.start as usize..range.end as usize]
    }

    /// All has been told.
    pub fn forget_told(&mut self) {
        self.paths.clear();
    }

    /// A warp has come to a slot in this cycle.
    pub fn is_new(&mut self, slot: u16, cycle: Cycle) {
        self.known[slot as usize] = None;
        self.came[slot as usize] = cycle;
        self.changed.push(slot);
    }

    /// The cycle in which the warp of a slot came, which may be the next one.
    pub fn came(&self, slot: u16) -> Cycle {
        self.came[slot as usize]
    }

    /// A warp has issued: as far as the observer knows it goes straight on.
    pub fn issued(&mut self, slot: u16, pc: Pc) {
        if let Some([first, ..]) = self.known[slot as usize].as_deref_mut()
            && first.kind == PathKind::Runs
        {
            first.pc = pc + 1;
        }
        self.issued.push(slot);
    }

    /// The divergence model has changed a warp, and may have changed those of its block.
    pub fn changed(&mut self, slot: u16) {
        self.changed.push(slot);
    }

    /// Warps that have issued, and warps that the divergence model has changed, since this was asked last.
    pub fn take_stale(&mut self) -> (Vec<u16>, Vec<u16>) {
        let Details {
            issued, changed, ..
        } = self;
        (std::mem::take(issued), std::mem::take(changed))
    }

    /// Looks at the paths of a warp, which `look` adds to a list: what the observer is to be told, if anything.
    pub fn news(&mut self, slot: u16, look: impl FnOnce(&mut Vec<Path>)) -> Option<Told> {
        let found = &mut self.found;
        found.clear();
        look(found);
        let known = &mut self.known[slot as usize];
        if known.as_ref() == Some(found) {
            return None;
        }
        *known = Some(found.clone());
        let from = self.paths.len() as u32;
        self.paths.append(found);
        Some(Told::Paths(from..self.paths.len() as u32))
    }
}
