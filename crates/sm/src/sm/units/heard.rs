//! What an observer that wants details hears of the pipes.

use super::Units;
use crate::observe::Detail;
use crate::power::lanes::Gate;
use crate::time::Cycle;

/// An instruction that entered in two halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    /// In this cycle.
    pub entered: Cycle,
    /// When it was issued.
    pub issued: Cycle,
    /// Cycles that it keeps the entry.
    pub cycles: u16,
}

impl Units {
    /// An observer that wants details listens, or none does.
    pub fn watch(&mut self, on: bool) {
        if on != self.folded.is_some() {
            self.folded = on.then(Vec::new);
            if let Some(power) = &mut self.power {
                power.watch(on);
            }
        }
    }

    /// Instructions that have been folded since this was asked last: cycle, warp, and what is told.
    pub fn take_folded(&mut self) -> impl Iterator<Item = (Cycle, u16, Detail<'static>)> + '_ {
        let folds = self.folded.iter_mut().flat_map(|list| list.drain(..));
        folds.map(|(slot, folded)| {
            let Folded { issued, cycles, .. } = folded;
            (folded.entered, slot, Detail::Folded { issued, cycles })
        })
    }

    /// Gates that have become known to be others since this was asked last: cycle, pipe, number, and what they are.
    pub fn take_gate_changes(&mut self) -> Vec<(Cycle, u16, u16, Gate)> {
        let power = self.power.as_mut();
        power.map_or(Vec::new(), |power| power.take_changes())
    }
}
