//! How far apart the warps of a block run: the divergence of the virtual-warps paper's table 1,
//! (max - min) / min over a block's warps, in instructions and in cycles.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::time::Cycle;

/// Means over the blocks of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean over blocks of (max - min) / min of instructions issued by their warps.
    pub instructions: f64,
    /// Mean over blocks of (max - min) / min of cycles from launch to their warps' last instructions.
    pub cycles: f64,
}

/// The observer's end of the count; [`Listener`] is the pipeline's.
#[derive(Clone, Default)]
pub struct WarpSpread(Rc<RefCell<Blocks>>);

impl WarpSpread {
    /// Who listens for it.
    pub fn listener(&self) -> Box<dyn Observer> {
        Box::new(Listener {
            blocks: self.0.clone(),
            warps: HashMap::new(),
        })
    }

    /// What was heard so far.
    pub fn result(&self) -> Spread {
        let blocks = self.0.borrow();
        let mean = |sum: f64| sum / blocks.finished.max(1) as f64;
        Spread {
            instructions: mean(blocks.instructions),
            cycles: mean(blocks.cycles),
        }
    }
}

#[derive(Default)]
struct Blocks {
    /// Blocks on an SM now, by SM and number.
    running: HashMap<(u16, u64), Block>,
    finished: u64,
    instructions: f64,
    cycles: f64,
}

struct Block {
    warps: u32,
    instructions: Range,
    cycles: Range,
}

#[derive(Clone, Copy)]
struct Range(u64, u64);

impl Range {
    const EMPTY: Range = Range(u64::MAX, 0);

    fn take(&mut self, value: u64) {
        *self = Range(self.0.min(value), self.1.max(value));
    }

    fn divergence(self) -> f64 {
        (self.1 - self.0) as f64 / self.0.max(1) as f64
    }
}

struct Warp {
    block: u64,
    since: Cycle,
    instructions: u64,
}

struct Listener {
    blocks: Rc<RefCell<Blocks>>,
    /// Warps that run, by SM and slot.
    warps: HashMap<(u16, u16), Warp>,
}

impl Observer for Listener {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        match event {
            WarpEvent::Launched { block, .. } => {
                let warp = Warp {
                    block,
                    since: cycle,
                    instructions: 0,
                };
                self.warps.insert((sm, slot), warp);
                let mut blocks = self.blocks.borrow_mut();
                let block = blocks.running.entry((sm, block)).or_insert(Block {
                    warps: 0,
                    instructions: Range::EMPTY,
                    cycles: Range::EMPTY,
                });
                block.warps += 1;
            }
            WarpEvent::Issued { .. } => {
                if let Some(warp) = self.warps.get_mut(&(sm, slot)) {
                    warp.instructions += 1;
                }
            }
            WarpEvent::Retired => {
                if let Some(warp) = self.warps.remove(&(sm, slot)) {
                    self.blocks.borrow_mut().retire(sm, cycle, &warp);
                }
            }
            _ => {}
        }
    }
}

impl Blocks {
    fn retire(&mut self, sm: u16, cycle: Cycle, warp: &Warp) {
        let key = (sm, warp.block);
        let Some(block) = self.running.get_mut(&key) else {
            return;
        };
        block.instructions.take(warp.instructions);
        block.cycles.take(cycle - warp.since);
        block.warps -= 1;
        if block.warps == 0 {
            self.finished += 1;
            self.instructions += block.instructions.divergence();
            self.cycles += block.cycles.divergence();
            self.running.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_two_warps() {
        let spread = WarpSpread::default();
        let mut listener = spread.listener();
        let issued = WarpEvent::Issued { pc: 0, lanes: 1 };
        for (slot, count, end) in [(0, 4, 140), (1, 6, 180)] {
            let launched = WarpEvent::Launched {
                block: 7,
                warp: slot,
            };
            listener.warp(Cycle::new(100), 2, slot, launched);
            for _ in 0..count {
                listener.warp(Cycle::new(120), 2, slot, issued);
            }
            if slot == 1 {
                listener.warp(Cycle::new(140), 2, 0, WarpEvent::Retired);
                assert_eq!(spread.result(), Spread::default());
                listener.warp(Cycle::new(end), 2, slot, WarpEvent::Retired);
            }
        }
        let expected = Spread {
            instructions: 0.5,
            cycles: 1.0,
        };
        assert_eq!(spread.result(), expected);
    }
}
