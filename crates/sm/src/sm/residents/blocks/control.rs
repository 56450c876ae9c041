//! Block control: which warps take part in a block's barriers, and when the block is done. Blocks that
//! run once are one way to do it, virtual blocks another (their iterations are in `iterate`).

use super::block::ResidentBlock;
use crate::exec::grid::Grid;
use crate::exec::iterations::Iterations;
use crate::exec::state::Threads;

/// What decides about the blocks of an SM.
///
/// # Contract
///
/// A block comes with all its threads and stays until [`is_done`](BlockControl::is_done); it is
/// asked whenever a member of the block (a warp, or a thread where warps do not belong to blocks)
/// has left. Whenever threads arrive at a barrier or exit, the SM asks how many threads the
/// block's barriers wait for and opens those where as many have arrived. Barriers come in two
/// sets: one that counts iterations uses one set for each of the two that can be under way, and
/// answers for the iteration that the set belongs to.
pub trait BlockControl: Send {
    /// A block has come.
    fn started(&self, block: &mut ResidentBlock);

    /// The set of barriers that a warp (by its number in the block) arrives at.
    fn barrier_set(&self, block: &ResidentBlock, warp: u16) -> usize;

    /// How many threads a barrier of the block waits for that does not say so itself; `None`
    /// while barriers of this set may not open. `model` is what the divergence model thinks,
    /// where it has an opinion.
    fn barrier_takers(
        &self,
        block: &ResidentBlock,
        set: usize,
        model: Option<u32>,
        threads: &Threads,
    ) -> Option<u32>;

    /// Whether the block leaves the SM.
    fn is_done(&mut self, block: &ResidentBlock) -> bool;
}

/// The kind of control that a launch needs.
pub fn of(grid: &Grid) -> Box<dyn BlockControl> {
    match grid.virtual_blocks {
        None => Box::new(RunOnce),
        Some(v) => Box::new(Iterate {
            fresh: Iterations::new(grid.threads() as u32, v.next_tid),
        }),
    }
}

/// Every block runs once, and a barrier is for all of its threads that live.
#[derive(Debug, Default)]
pub struct RunOnce;

impl BlockControl for RunOnce {
    fn started(&self, _: &mut ResidentBlock) {}

    #[inline]
    fn barrier_set(&self, _: &ResidentBlock, _: u16) -> usize {
        0
    }

    #[inline]
    fn barrier_takers(
        &self,
        block: &ResidentBlock,
        _: usize,
        model: Option<u32>,
        threads: &Threads,
    ) -> Option<u32> {
        Some(model.unwrap_or_else(|| block.live_threads(threads)))
    }

    fn is_done(&mut self, block: &ResidentBlock) -> bool {
        block.is_empty()
    }
}

/// Virtual blocks: a barrier is for the warps that are still in its iteration, and none of the
/// next opens while one is left there.
#[derive(Debug)]
pub struct Iterate {
    fresh: Iterations,
}

impl BlockControl for Iterate {
    fn started(&self, block: &mut ResidentBlock) {
        block.iterations = Some(Box::new(self.fresh.clone()));
    }

    fn barrier_set(&self, block: &ResidentBlock, warp: u16) -> usize {
        let turns = block.iterations.as_ref();
        turns.map_or(0, |t| (t.iteration(warp) % 2) as usize)
    }

    fn barrier_takers(
        &self,
        block: &ResidentBlock,
        set: usize,
        _: Option<u32>,
        threads: &Threads,
    ) -> Option<u32> {
        let turns = block.iterations.as_ref()?;
        let lowest = turns.lowest();
        if lowest % 2 != set as u64 {
            return None;
        }
        let homes = block.arrival.homes.clone();
        let takes = homes
            .enumerate()
            .filter(|(at, _)| turns.runs_in(*at as u16, lowest));
        let live = takes.map(|(_, home)| threads.warps[home as usize].live.count_ones());
        Some(live.sum())
    }

    fn is_done(&mut self, block: &ResidentBlock) -> bool {
        block.is_empty()
    }
}
