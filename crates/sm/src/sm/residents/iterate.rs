//! Virtual blocks: warps that finish an iteration wait for their next logical block, and go on
//! when it comes.
//!
//! A warp that is ahead of siblings may not access shared memory yet. To the scoreboard that is a
//! register more, which shared-memory instructions read and which `vtw.next_tb` owes to a warp
//! until the last of its siblings has finished the iteration before.

use super::Residents;
use crate::exec::iterations::{Gone, Results};
use crate::observe::WarpEvent;
use crate::sm::launch::Launched;
use crate::sm::warps::Hold;
use crate::time::Cycle;

/// A logical block is wanted for the virtual block in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it was asked for.
    pub at: Cycle,
    /// For the block in this slot.
    pub block: u16,
}

impl Residents {
    /// A warp has come to the end of its iteration.
    pub(super) fn finish_iteration(
        &mut self,
        slot: u16,
        results: Results,
        now: Cycle,
        launched: &Launched,
    ) {
        let block = self.warps.warp(slot).block;
        let warp = self.number_of(slot, block);
        self.warps.touch_all(&mut self.books); // the policy may see its warps in another order now
        self.warps.warp_mut(slot).finished_at = now;
        let asks = self.with_iterations(block, |turns, progress| {
            (turns.finish(warp, results, progress), turns.is_ahead(warp))
        });
        let Some((asks, ahead)) = asks else { return };
        let hold = if ahead {
            Hold::Siblings
        } else {
            Hold::NextBlock
        };
        self.hold(slot, hold);
        if asks {
            self.blocks.requests.push(Request { at: now, block });
        }
        self.let_finishers_go(block, now, launched);
        self.recheck_barriers(block, now, launched);
    }

    /// The logical block that a virtual block asked for, if there was one left.
    pub(super) fn answer_block(
        &mut self,
        block: u16,
        number: Option<u64>,
        now: Cycle,
        launched: &Launched,
    ) {
        let answered = self.with_iterations(block, |turns, _| turns.answered(number));
        if answered.is_some() {
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
            let asks = self.with_iterations(block, |turns, progress| {
                turns.close().then(|| turns.ask_again(progress))
            });
            let Some(Some(asks)) = asks else { return };
            self.catch_up(block, launched);
            if asks {
                self.blocks.requests.push(Request { at: now, block });
            }
        }
    }

    /// A warp goes on to its next logical block, or leaves the loop.
    fn go_on_to_block(&mut self, block: u16, gone: Gone, now: Cycle, launched: &Launched) {
        let Some(resident) = self.blocks.get(block) else {
            return;
        };
        let home = resident.arrival.homes.start + gone.warp;
        let slot = resident.arrival.layout.slot_of(home, 0);
        let state = &mut self.threads.warps[home as usize];
        state.runs_as = gone.index;
        let live = state.live;
        let (results, number) = (gone.results, gone.block);
        let threads = &mut self.threads;
        launched
            .code
            .answer_block(home, live, results, number, threads);
        let waited = now - self.warps.warp(slot).finished_at;
        self.books.stats.counters.next_tb_wait += waited;
        self.warps.warp_mut(slot).begin_iteration();
        if let Some(number) = number {
            self.books.stats.counters.next_blocks += u64::from(!gone.ahead);
            self.books.policy.iterated(self.warps.place(slot), block);
            let event = WarpEvent::NextBlock {
                block: number,
                warp: gone.index,
            };
            self.books.watch.tell(now, slot, event);
        }
        self.let_go(Hold::NextBlock, slot);
        if gone.ahead && number.is_some() {
            self.set_ahead(slot, true, launched);
        }
    }

    /// No warp of a block is left in the iteration before: all may access shared memory, and
    /// those that wait for their siblings wait for their next block instead.
    fn catch_up(&mut self, block: u16, launched: &Launched) {
        let Some(resident) = self.blocks.get(block) else {
            return;
        };
        let slots: Vec<u16> = resident.arrival.slots().map(|(slot, _, _)| slot).collect();
        for slot in slots {
            self.set_ahead(slot, false, launched);
            let warp = self.number_of(slot, block);
            let waits = self.with_iterations(block, |turns, _| turns.waits(warp));
            if waits == Some(true) {
                let mut edit = self.warps.edit(slot, &mut self.books);
                edit.hold(Hold::Siblings, false);
                edit.hold(Hold::NextBlock, true);
            }
        }
    }

    fn set_ahead(&mut self, slot: u16, ahead: bool, launched: &Launched) {
        let token = launched.kernel.registers.len();
        self.warps
            .set_ahead(slot, ahead, token, &launched.facts, &mut self.books);
    }

    /// The number of a warp in its block.
    fn number_of(&self, slot: u16, block: u16) -> u16 {
        let first = self.blocks.get(block).map_or(0, |b| b.arrival.homes.start);
        self.groups.get(slot).lanes.home(0) - first
    }

    /// Does something with the iterations of a block, which is told the progress of its warps.
    fn with_iterations<T>(
        &mut self,
        block: u16,
        f: impl FnOnce(&mut crate::exec::iterations::Iterations, &dyn Fn(u16) -> u64) -> T,
    ) -> Option<T> {
        let warps = &self.warps;
        let resident = self.blocks.slots[block as usize].as_mut()?;
        let (first, layout) = (resident.arrival.homes.start, resident.arrival.layout);
        let turns = resident.iterations.as_deref_mut()?;
        let progress = |warp: u16| warps.warp(layout.slot_of(first + warp, 0)).progress();
        Some(f(turns, &progress))
    }
}
