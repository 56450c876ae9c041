//! How many warps are in gangs of each size, over time, in as many steps as a picture can show.

use std::collections::HashMap;

/// Warps of an original gang at most.
pub const MOST: usize = 8;

/// Twice as many steps as this are never kept: then two become one.
const STEPS: usize = 160;

/// Warp-cycles by the size of gangs, less one.
type Spent = [u64; MOST];

/// Sizes of gangs over time.
#[derive(Debug)]
pub struct Sizes {
    /// Cycles of a step.
    width: u64,
    steps: Vec<Spent>,
    sms: HashMap<u16, Sm>,
    /// Cycles that have passed.
    end: u64,
}

/// The warps of an SM now.
#[derive(Debug, Default)]
struct Sm {
    /// By slot: the size of its gang.
    size: HashMap<u16, u8>,
    /// By size, less one: warps.
    warps: [u64; MOST],
    /// Counted up to this cycle.
    counted: u64,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            width: 1,
            steps: Vec::new(),
            sms: HashMap::new(),
            end: 0,
        }
    }
}

impl Sizes {
    /// From `cycle` on the warp in a slot of an SM is in a gang of so many warps, or gone.
    pub fn set(&mut self, cycle: u64, sm: u16, slot: u16, size: u8) {
        self.count(cycle, sm);
        let sm = self.sms.entry(sm).or_default();
        let old = match size {
            0 => sm.size.remove(&slot),
            _ => sm.size.insert(slot, size),
        };
        if let Some(old) = old {
            sm.warps[old as usize - 1] -= 1;
        }
        if size != 0 {
            sm.warps[size as usize - 1] += 1;
        }
    }

    /// A launch has ended before this cycle.
    pub fn finish(&mut self, cycle: u64) {
        let sms: Vec<u16> = self.sms.keys().copied().collect();
        for sm in sms {
            self.count(cycle, sm);
        }
        self.end = self.end.max(cycle);
    }

    /// Counts what an SM's warps have spent before `cycle`.
    fn count(&mut self, cycle: u64, sm: u16) {
        let sm = self.sms.entry(sm).or_default();
        let (mut from, warps) = (sm.counted, sm.warps);
        sm.counted = cycle.max(from);
        if warps == [0; MOST] {
            return;
        }
        while from < cycle {
            let step = (from / self.width) as usize;
            if step >= 2 * STEPS {
                self.coarsen();
                continue;
            }
            if step >= self.steps.len() {
                self.steps.resize(step + 1, Spent::default());
            }
            let to = cycle.min((step as u64 + 1) * self.width);
            for (spent, warps) in self.steps[step].iter_mut().zip(warps) {
                *spent += warps * (to - from);
            }
            from = to;
        }
    }

    /// Steps twice as wide.
    fn coarsen(&mut self) {
        self.width *= 2;
        let pair = |pair: &[Spent]| {
            let sum = |size: usize| pair.iter().map(|spent| spent[size]).sum();
            std::array::from_fn(sum)
        };
        self.steps = self.steps.chunks(2).map(pair).collect();
    }

    /// Cycles of a step.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// By step: its first cycle, and the average number of warps in gangs of each size, less one.
    pub fn averages(&self) -> Vec<(u64, [f64; MOST])> {
        let steps = self.steps.iter().enumerate();
        steps
            .map(|(i, spent)| {
                let from = i as u64 * self.width;
                let cycles = self.width.min(self.end.saturating_sub(from)).max(1);
                (from, spent.map(|s| s as f64 / cycles as f64))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_averages_and_grow_wider() {
        let mut sizes = Sizes::default();
        for slot in 0..8 {
            sizes.set(0, 0, slot, 8);
        }
        for slot in 0..8 {
            sizes.set(4096, 0, slot, if slot < 4 { 4 } else { 1 });
        }
        for slot in 4..8 {
            sizes.set(6144, 0, slot, 0);
        }
        sizes.finish(8192);
        assert_eq!(sizes.width(), 32);
        let averages = sizes.averages();
        assert_eq!(averages.len(), 256);
        assert_eq!(averages[0], (0, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0]));
        let at = |cycle: usize| averages[cycle / 32].1;
        assert_eq!(at(4096)[..4], [4.0, 0.0, 0.0, 4.0]);
        assert_eq!(at(6144)[..4], [0.0, 0.0, 0.0, 4.0]);
        // Another SM may be behind.
        sizes.set(96, 1, 0, 2);
        sizes.finish(8192);
        assert_eq!(sizes.averages()[200 / 32].1[1], 1.0);
    }
}
