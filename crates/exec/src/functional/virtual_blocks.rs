//! Virtual blocks in a functional run: logical blocks are handed out at once.

use super::{Machine, Runner};
use crate::iterations::{Iterations, Results, may_access_shared};

/// What a functional run keeps for virtual blocks.
#[derive(Debug, Default)]
pub(super) struct VirtualRun {
    /// By slot; empty where blocks are not virtual.
    pub blocks: Vec<Iterations>,
    /// By instruction, whether it may access shared memory.
    shared: Vec<bool>,
    /// Logical blocks handed out.
    next: u64,
}

impl Machine<'_> {
    /// Gets ready for virtual blocks in so many slots, if they are.
    pub(super) fn prepare_virtual(&mut self, slots: usize) {
        let Some(virtual_blocks) = self.grid.virtual_blocks else {
            return;
        };
        let fresh = Iterations::new(self.grid.threads() as u32, virtual_blocks.next_tid);
        self.virtual_run = VirtualRun {
            blocks: vec![fresh; slots],
            shared: (self.kernel.code.iter())
                .map(|instr| may_access_shared(instr, self.kernel))
                .collect(),
            next: self.grid.blocks(),
        };
    }

    /// A block begins in a slot.
    pub(super) fn begin_virtual(&mut self, slot: usize) {
        if let (Some(turns), Some(v)) = (
            self.virtual_run.blocks.get_mut(slot),
            self.grid.virtual_blocks,
        ) {
            *turns = Iterations::new(self.grid.threads() as u32, v.next_tid);
        }
    }

    /// Whether a warp waits for siblings: for its next block, or because it may not access shared
    /// memory yet.
    pub(super) fn waits_for_siblings(&self, warp: usize, pc: u32) -> bool {
        let Some(turns) = self.virtual_run.blocks.get(warp / self.warps) else {
            return false;
        };
        let index = (warp % self.warps) as u16;
        turns.waits(index) || turns.is_ahead(index) && self.virtual_run.shared[pc as usize]
    }

    /// Warps that a barrier of a slot is for, by set: those in the iteration that the set belongs
    /// to. `None` while siblings are in the iteration before that.
    pub(super) fn virtual_takers(&self, slot: usize, set: usize) -> Option<u32> {
        let turns = &self.virtual_run.blocks[slot];
        let lowest = turns.lowest();
        if lowest % 2 != set as u64 {
            return None;
        }
        let runs = |w: &usize| turns.runs_in((w % self.warps) as u16, lowest);
        let lives = |w: &usize| !self.runners[*w].stack.is_empty();
        Some(
            self.block_warps(slot)
                .filter(|w| runs(w) && lives(w))
                .count() as u32,
        )
    }

    /// The set of barriers that a warp uses now.
    pub(super) fn barrier_set(&self, warp: usize) -> usize {
        let turns = self.virtual_run.blocks.get(warp / self.warps);
        turns.map_or(0, |t| {
            (t.iteration((warp % self.warps) as u16) % 2) as usize
        })
    }

    /// A warp has come to `vtw.next_tb`.
    pub(super) fn next_block(&mut self, warp: usize, results: Results) {
        let Some(virtual_blocks) = self.grid.virtual_blocks else {
            return;
        };
        let slot = warp / self.warps;
        let first = slot * self.warps;
        let run = &mut self.virtual_run;
        let turns = &mut run.blocks[slot];
        let mut asks = turns.finish(
            (warp - first) as u16,
            results,
            &progress(&self.runners[first..]),
        );
        loop {
            if asks {
                let number = (run.next < virtual_blocks.logical).then_some(run.next);
                run.next += u64::from(number.is_some());
                turns.answered(number);
            }
            while let Some(gone) = turns.next_gone() {
                let home = first + usize::from(gone.warp);
                let state = &mut self.threads.warps[home];
                state.runs_as = gone.index;
                let live = state.live;
                self.runners[home].instructions = 0;
                let threads = &mut self.threads;
                self.code
                    .answer_block(home as u16, live, gone.results, gone.block, threads);
            }
            if !turns.close() {
                break;
            }
            asks = turns.ask_again(&progress(&self.runners[first..]));
            if !asks {
                break;
            }
        }
        for id in 0..16 {
            self.release(slot, id);
        }
    }
}

fn progress(runners: &[Runner]) -> impl Fn(u16) -> u64 + '_ {
    |warp| runners[usize::from(warp)].instructions
}
