//! Barriers of blocks that run without timing, and what is said where no thread can go on.

use super::{Machine, SimFault, StuckWarp};
use crate::state::{Barrier, Lanes, lanes_of};
use warpsim_ptx::isa::BoolOp;
use warpsim_ptx::kernel::{Pc, RegId};

/// A warp that waits at a barrier.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    warp: usize,
    lanes: u32,
    reduction: Option<(BoolOp, RegId)>,
}

/// A barrier of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    /// Warps that have arrived, waiting or not.
    arrived: u32,
    /// Threads expected; `None` for all.
    expected: Option<u32>,
    waiting: Vec<Waiting>,
    all: bool,
    any: bool,
    count: u32,
}

impl Machine<'_> {
    /// A warp has come to a barrier.
    pub(super) fn arrive(&mut self, warp: usize, pc: Pc, lanes: u32, barrier: &Barrier) {
        let slot = warp / self.warps;
        let set = self.barrier_set(warp);
        let gate = &mut self.gates[slot][16 * set + usize::from(barrier.id)];
        if gate.arrived == 0 {
            *gate = Gate {
                all: true,
                ..Gate::default()
            };
        }
        gate.arrived += 1;
        gate.expected = barrier.count.or(gate.expected);
        if let Some((_, yes, _)) = barrier.reduction {
            gate.all &= yes == lanes;
            gate.any |= yes != 0;
            gate.count += yes.count_ones();
        }
        if !barrier.arrive {
            let reduction = barrier.reduction.map(|(op, _, reg)| (op, reg));
            gate.waiting.push(Waiting {
                warp,
                lanes,
                reduction,
            });
            self.runners[warp].waiting = Some((barrier.id, pc));
        }
        self.release(slot, barrier.id);
    }

    /// Opens a barrier when all threads that it expects have arrived.
    pub(super) fn release(&mut self, slot: usize, id: u8) {
        if !self.virtual_run.blocks.is_empty() {
            for set in 0..2 {
                if let Some(takers) = self.virtual_takers(slot, set) {
                    self.open(slot, id, set, takers);
                }
            }
            return;
        }
        let live = self
            .block_warps(slot)
            .filter(|&w| !self.runners[w].stack.is_empty())
            .count() as u32;
        self.open(slot, id, 0, live);
    }

    /// Opens a barrier of a set if those have arrived that it expects, else so many warps.
    fn open(&mut self, slot: usize, id: u8, set: usize, live: u32) {
        let gate = &mut self.gates[slot][16 * set + usize::from(id)];
        let expected = gate.expected.map_or(live, |n| n / 32);
        if gate.arrived == 0 || gate.arrived < expected {
            return;
        }
        let gate = std::mem::take(gate);
        if let Some(races) = &mut self.races {
            races.barrier(self.numbers[slot]);
        }
        if let Some(steps) = &mut self.steps {
            steps.barrier(self.numbers[slot]);
        }
        for Waiting {
            warp,
            lanes,
            reduction,
        } in gate.waiting
        {
            self.runners[warp].waiting = None;
            if let Some((op, reg)) = reduction {
                let value = match op {
                    BoolOp::And => u64::from(gate.all),
                    BoolOp::Popc => u64::from(gate.count),
                    BoolOp::Or | BoolOp::Xor => u64::from(gate.any),
                };
                let home = Lanes::Static(warp as u16);
                for lane in lanes_of(lanes) {
                    self.code
                        .write_register(&home, reg, lane, value, &mut self.threads);
                }
            }
        }
    }

    /// Every warp waits: for what.
    pub(super) fn deadlock(&self) -> SimFault {
        let mut warps = Vec::new();
        for (w, runner) in self.runners.iter().enumerate() {
            let Some((id, pc)) = runner.waiting else {
                continue;
            };
            let slot = w / self.warps;
            let gate = &self.gates[slot][16 * self.barrier_set(w) + usize::from(id)];
            let expected = gate.expected.map_or_else(
                || "all warps of the block".to_string(),
                |n| format!("{} warps", n / 32),
            );
            warps.push(StuckWarp {
                block: self.threads.blocks[slot].ctaid,
                warp: self.threads.warps[w].index,
                pc,
                place: self.kernel.origin(pc).to_string(),
                waiting: format!(
                    "barrier {id}, where {} have arrived and {expected} are expected",
                    gate.arrived
                ),
            });
        }
        SimFault::Deadlock {
            kernel: self.kernel.name.clone(),
            warps,
        }
    }
}
