//! Virtual blocks: a warp that finishes an iteration waits for its next logical block, and goes on when it comes.
//!
//! A warp that is ahead of siblings may not access shared memory yet. To the scoreboard that is a register more, which
//! instructions that access shared memory read.

use super::Sm;
use crate::exec::iterations::{Gone, Iterations, Results};
use crate::sm::launch::Launched;
use crate::sm::residents::Request;
use crate::time::Cycle;

impl Sm {
    /// A warp has come to the end of its iteration.
    pub(super) fn finish_iteration(
        &mut self,
        slot: u16,
        results: Results,
        now: Cycle,
        launched: &Launched,
    ) {
        let number = self.warps[usize::from(slot)].block;
        let warp = self.number_in_block(slot, number);
        self.warps[usize::from(slot)].finished_at = now;
        let asked = self.with_iterations(number, |turns, progress| {
            (turns.finish(warp, results, progress), turns.is_ahead(warp))
        });
        let Some((asks, ahead)) = asked else { return };
        let waits = &mut self.warps[usize::from(slot)].waits;
        match ahead {
            true => waits.siblings = true,
            false => waits.next_block = true,
        }
        if asks {
            self.requests.push(Request {
                at: now,
                block: number,
            });
        }
        self.let_finishers_go(number, now, launched);
        self.recheck_barriers(number, now, launched);
    }

    /// The logical block that a virtual block asked for, if one was left.
    pub(super) fn answer_block(
        &mut self,
        block: u16,
        number: Option<u64>,
        now: Cycle,
        launched: &Launched,
    ) {
        if self
            .with_iterations(block, |turns, _| turns.answered(number))
            .is_some()
        {
            self.let_finishers_go(block, now, launched);
            self.recheck_barriers(block, now, launched);
        }
    }

    /// Lets every warp of a block go on that may.
    fn let_finishers_go(&mut self, block: u16, now: Cycle, launched: &Launched) {
        loop {
            while let Some(Some(gone)) = self.with_iterations(block, |turns, _| turns.next_gone()) {
                self.go_on_to_block(block, gone, now, launched);
            }
            let closed = self.with_iterations(block, |turns, progress| {
                turns.close().then(|| turns.ask_again(progress))
            });
            let Some(Some(asks)) = closed else { return };
            self.catch_up(block, launched);
            if asks {
                self.requests.push(Request { at: now, block });
            }
        }
    }

    /// A warp goes on to its next logical block, or leaves the loop.
    fn go_on_to_block(&mut self, block: u16, gone: Gone, now: Cycle, launched: &Launched) {
        let Some(resident) = &self.blocks[usize::from(block)] else {
            return;
        };
        let home = resident.arrival.homes.start + gone.warp;
        let slot = self.layout.slot_of(home, 0);
        let state = &mut self.threads.warps[usize::from(home)];
        state.runs_as = gone.index;
        let live = state.live;
        launched
            .code
            .answer_block(home, live, gone.results, gone.block, &mut self.threads);
        let warp = &mut self.warps[usize::from(slot)];
        self.stats.counters.next_tb_wait += now - warp.finished_at;
        warp.iteration_began = warp.instructions;
        if gone.block.is_some() {
            self.stats.counters.next_blocks += u64::from(!gone.ahead);
            self.policy.iterated(warp.place, block);
        }
        warp.waits.next_block = false;
        self.settle(slot);
        if gone.ahead && gone.block.is_some() {
            self.set_ahead(slot, true, launched);
        }
    }

    /// No warp of a block is left in the iteration before: all may access shared memory, and those that wait for siblings
    /// wait for their next block instead.
    fn catch_up(&mut self, block: u16, launched: &Launched) {
        let Some(resident) = &self.blocks[usize::from(block)] else {
            return;
        };
        let slots: Vec<u16> = resident.arrival.slots().map(|(slot, _, _)| slot).collect();
        for slot in slots {
            self.set_ahead(slot, false, launched);
            let warp = self.number_in_block(slot, block);
            if self.with_iterations(block, |turns, _| turns.waits(warp)) == Some(true) {
                let waits = &mut self.warps[usize::from(slot)].waits;
                (waits.siblings, waits.next_block) = (false, true);
            }
        }
    }

    fn set_ahead(&mut self, slot: u16, ahead: bool, launched: &Launched) {
        let warp = &mut self.warps[usize::from(slot)];
        if warp.ahead != ahead {
            warp.ahead = ahead;
            warp.scoreboard
                .owe(launched.kernel.registers.len() as u32, ahead);
        }
    }

    fn number_in_block(&self, slot: u16, block: u16) -> u16 {
        let first = self.blocks[usize::from(block)]
            .as_ref()
            .map_or(0, |block| block.arrival.homes.start);
        self.groups.get(slot).lanes.home(0) - first
    }

    /// Does something with the iterations of a block, which is told the progress of its warps.
    fn with_iterations<T>(
        &mut self,
        block: u16,
        act: impl FnOnce(&mut Iterations, &dyn Fn(u16) -> u64) -> T,
    ) -> Option<T> {
        let Sm {
            warps,
            layout,
            blocks,
            ..
        } = self;
        let block = blocks[usize::from(block)].as_mut()?;
        let first = block.arrival.homes.start;
        let progress = |warp: u16| warps[usize::from(layout.slot_of(first + warp, 0))].progress();
        Some(act(block.iterations.as_deref_mut()?, &progress))
    }
}
