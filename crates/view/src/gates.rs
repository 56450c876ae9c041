//! The gates of a pipe's lanes over time.

use crate::format::Lanes;
use crate::window::Window;
use warpsim_sim::GatedPipe;
use warpsim_sim::observe::Gate;

/// What became of the gates of a pipe: cycle, gate and its code. Each gate's are in order.
#[derive(Debug, Default)]
pub struct Gates(Vec<(u64, u16, i64)>);

impl Gates {
    /// A gate is another from this cycle on. What comes behind the window is left out; what was before it and is over is
    /// forgotten. Says how many bytes the page takes more for it, about.
    pub fn note(&mut self, window: Window, cycle: u64, number: u16, gate: Gate) -> usize {
        if cycle >= window.to {
            return 0;
        }
        let code = match gate {
            Gate::On => 0,
            Gate::Off(_) => 1,
            Gate::Waking(_) => 2,
        };
        if cycle < window.from {
            self.0.retain(|(_, other, _)| *other != number);
        }
        self.0.push((cycle.max(window.from), number, code));
        8
    }

    /// For the page, which begins with cycle `from` and ends before `to`.
    pub fn lanes(&self, pipe: &GatedPipe, [from, to]: [u64; 2]) -> Lanes {
        let mut all = self.0.clone();
        all.retain(|(cycle, ..)| *cycle < to);
        all.sort_by_key(|(cycle, ..)| *cycle);
        let mut last = from;
        let mut changes = Vec::with_capacity(3 * all.len());
        for (cycle, number, code) in all {
            changes.extend([(cycle - last) as i64, i64::from(number), code]);
            last = cycle;
        }
        Lanes {
            pipe: pipe.name.clone(),
            gates: pipe.gates,
            changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_sim::time::Cycle;

    #[test]
    fn gates_are_sorted_and_begin_with_the_window() {
        let window = Window { from: 10, to: 50 };
        let mut gates = Gates::default();
        let off = Gate::Off(Cycle::new(2));
        for (cycle, number, gate) in [
            (2, 0, off),
            (5, 0, Gate::On),
            (20, 0, off),
            (6, 1, off),
            (60, 1, Gate::On),
        ] {
            gates.note(window, cycle, number, gate);
        }
        let pipe = GatedPipe {
            name: "sp 0 int".into(),
            lanes: 16,
            gates: 2,
        };
        let lanes = gates.lanes(&pipe, [10, 40]);
        assert_eq!(lanes.changes, [0, 0, 0, 0, 1, 1, 10, 0, 1]);
        assert_eq!(lanes.gates, 2);
    }
}
