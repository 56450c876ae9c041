//! What each warp is doing and waiting for, in words: for runs that cannot go on.

use super::{Launched, Sm};
use crate::divergence::GroupState;
use crate::divergence::pool::{Parked, Waits};
use crate::exec::state::LANES;
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
        if self.pools {
            return self.stuck_pool(launched);
        }
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
                let waits_for = match barrier {
                    Some(b) => barrier_words(b.id, b.arrived, b.expected),
                    None => self.waits_for(slot, launched),
                };
                warps.push(self.stuck_warp(slot, home, pc, waits_for, launched));
            }
        }
        warps
    }

    /// Every warp of a pool, and the threads that wait outside.
    fn stuck_pool(&self, launched: &Launched) -> Vec<StuckWarp> {
        let mut warps = Vec::new();
        for slot in 0..self.slots.len() as u16 {
            let group = self.groups.get(slot);
            if matches!(group.state, GroupState::Free | GroupState::Held) {
                continue; // the model lists those that are held
            }
            let home = group
                .lanes
                .home(group.mask.trailing_zeros() as usize % LANES);
            let waits_for = self.waits_for(slot, launched);
            warps.push(self.stuck_warp(slot, home, group.pc, waits_for, launched));
        }
        for parked in self.model.parked(&self.groups) {
            let Parked {
                home, lanes, pc, ..
            } = parked;
            let waits_for = match parked.waits {
                Waits::Barrier(id) => self.barrier_of(home, id),
                Waits::Members => self
                    .awaited_by(home, lanes, launched)
                    .unwrap_or_else(|| "threads of its warp".into()),
                Waits::Reconvergence => {
                    format!("the rest of its static warp to come here; threads {lanes:#010x} have")
                }
                Waits::Slot => "a slot".into(),
            };
            warps.push(self.stuck_warp(u16::MAX, home, pc, waits_for, launched));
        }
        warps
    }

    fn stuck_warp(
        &self,
        slot: u16,
        home: u16,
        pc: Pc,
        waits_for: String,
        launched: &Launched,
    ) -> StuckWarp {
        let warp = &self.threads.warps[home as usize];
        let block = self.blocks[warp.block as usize].as_ref();
        let instr = launched.kernel.code.get(pc as usize);
        StuckWarp {
            sm: self.id,
            slot,
            block: launched.grid.block_index(block.map_or(0, |b| b.number)),
            warp: warp.index,
            pc,
            line: instr.map_or(0, |i| i.line),
            source: instr.and_then(|i| i.source),
            waits_for,
        }
    }

    /// The barrier at which a thread of a pool waits, in words.
    fn barrier_of(&self, home: u16, id: u8) -> String {
        let block = self.threads.warps[home as usize].block as usize;
        let Some(block) = &self.blocks[block] else {
            return "a barrier".into();
        };
        let (arrived, expected) = block.arrivals(id, &self.threads);
        barrier_words(id as usize, arrived, expected)
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
        if is(d.members) || self.pools && is(d.stopped) {
            let group = self.groups.get(slot);
            let home = group
                .lanes
                .home(group.mask.trailing_zeros() as usize % LANES);
            if let Some(awaited) = self.awaited_by(home, group.mask, launched) {
                return awaited;
            }
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

fn barrier_words(id: usize, arrived: u32, expected: u32) -> String {
    format!("barrier {id}: {arrived} of {expected} threads have arrived")
}
