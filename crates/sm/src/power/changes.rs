//! What gates of lanes have done, for an observer: written down as it becomes known.

use super::lanes::Gate;
use crate::time::Cycle;

/// Changes of the gates of one side of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Cycle, lanes and what their gates are from then on; nothing where no observer wants to know.
    list: Option<Vec<(Cycle, u32, Gate)>>,
}

impl Changes {
    /// An observer listens, or none does.
    pub fn watch(&mut self, on: bool) {
        if on != self.list.is_some() {
            self.list = on.then(Vec::new);
        }
    }

    /// The gates of these lanes are another in this cycle.
    #[inline]
    pub fn note(&mut self, at: Cycle, lanes: u32, gate: Gate) {
        if let Some(list) = &mut self.list {
            list.push((at, lanes, gate));
        }
    }

    /// Changes since this was asked last: cycle, number of the gate, what it is. Those of a gate are in order.
    pub fn take(&mut self, by_lane: bool) -> Vec<(Cycle, u16, Gate)> {
        let mut all = Vec::new();
        for (at, lanes, gate) in self.list.iter_mut().flat_map(|list| list.drain(..)) {
            match by_lane {
                true => {
                    let numbers = (0..32).filter(|lane| lanes >> lane & 1 != 0);
                    all.extend(numbers.map(|number| (at, number, gate)));
                }
                false => all.push((at, 0, gate)),
            }
        }
        all
    }
}
