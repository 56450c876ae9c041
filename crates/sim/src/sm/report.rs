//! What each warp is doing and waiting for, in words: for runs that cannot go on.

use super::{Launched, Sm};
use crate::divergence::GroupState;
use crate::schedule::Place;
use warpsim_ptx::kernel::Pc;

/// A warp of a run that does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckWarp {
    /// SM.
    pub sm: u16,
    /// Hardware warp.
    pub slot: u16,
    /// Block in the grid.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u16,
    /// The instruction it is at.
    pub pc: Pc,
    /// Line in the PTX.
    pub line: u32,
    /// File number and line of the source.
    pub source: Option<(u32, u32)>,
    /// What it waits for.
    pub waits_for: String,
}

impl Sm {
    /// Every warp that has not finished.
    pub fn stuck_warps(&self, launched: &Launched) -> Vec<StuckWarp> {
        let mut warps = Vec::new();
        for block in self.blocks.iter().flatten() {
            for (slot, _, _) in block.arrival.slots() {
                let group = self.groups.get(slot);
                let gone = matches!(group.state, GroupState::Finished | GroupState::Free);
                if gone || group.mask == 0 {
                    continue;
                }
                // Of a formed warp, the static warp of its first thread.
                let home = group.lanes.home(group.mask.trailing_zeros() as usize);
                // A warp at a barrier has its next instruction before it already.
                let barrier = block.waits_at(
                    slot,
                    self.model.barrier_takers(block.arrival.block),
                    &self.threads,
                );
                let pc = barrier.as_ref().map_or(group.pc, |b| b.pc);
                let instr = launched.kernel.code.get(pc as usize);
                warps.push(StuckWarp {
                    sm: self.id,
                    slot,
                    block: launched.grid.block_index(block.number),
                    warp: self.threads.warps[home as usize].index,
                    pc,
                    line: instr.map_or(0, |i| i.line),
                    source: instr.and_then(|i| i.source),
                    waits_for: barrier.map_or_else(
                        || self.waits_for(slot, launched),
                        |b| {
                            format!(
                                "barrier {}: {} of {} threads have arrived",
                                b.id, b.arrived, b.expected
                            )
                        },
                    ),
                });
            }
        }
        warps
    }

    fn waits_for(&self, slot: u16, launched: &Launched) -> String {
        let Place { domain, index } = self.place(slot);
        let d = &self.domains[domain as usize];
        let is = |set: u64| set >> index & 1 != 0;
        if is(d.fence) {
            return format!(
                "a fence, {} stores not acknowledged",
                self.slots[slot as usize].stores
            );
        }
        if is(d.atomic) {
            return "an atomic to return".into();
        }
        if is(d.asleep) {
            return "the end of its nanosleep".into();
        }
        if is(d.stopped) {
            return "its siblings, held by the divergence model".into();
        }
        if is(d.missing) {
            return "an instruction-cache miss".into();
        }
        if is(d.head) && !is(d.clear) {
            let what = if is(d.wait_memory) {
                "memory"
            } else {
                "an ALU or SFU"
            };
            let pc = self.slots[slot as usize].buffer.head().unwrap_or(0);
            let registers: Vec<&str> = self
                .scoreboard
                .owed(slot, &launched.infos[pc as usize])
                .map(|r| launched.kernel.registers[r].name.as_str())
                .collect();
            return format!(
                "{} owed by {what}; {}",
                registers.join(", "),
                self.ldst.describe()
            );
        }
        "its turn (running)".into()
    }
}
