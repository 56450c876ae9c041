//! Block control: who takes part in a block's barriers, and when the block is done. Blocks that
//! run once are one way to do it.

use super::block::ResidentBlock;
use crate::exec::state::Threads;

/// What decides about the blocks of an SM.
///
/// # Contract
///
/// A block comes with all its threads and stays until [`is_done`](BlockControl::is_done); it is
/// asked whenever a member of the block (a warp, or a thread where warps do not belong to blocks)
/// has left. Whenever threads arrive at a barrier or exit, the SM asks how many threads the
/// block's barriers wait for and opens those where as many have arrived: an implementation that
/// counts iterations answers for the iteration that the barrier belongs to.
pub trait BlockControl: Send {
    /// How many threads a barrier of the block waits for that does not say so itself. `model` is
    /// what the divergence model thinks, where it has an opinion.
    fn barrier_takers(&self, block: &ResidentBlock, model: Option<u32>, threads: &Threads) -> u32;

    /// Whether the block leaves the SM.
    fn is_done(&mut self, block: &ResidentBlock) -> bool;
}

/// Every block runs once, and a barrier is for all of its threads that live.
#[derive(Debug, Default)]
pub struct RunOnce;

impl BlockControl for RunOnce {
    #[inline]
    fn barrier_takers(&self, block: &ResidentBlock, model: Option<u32>, threads: &Threads) -> u32 {
        model.unwrap_or_else(|| block.live_threads(threads))
    }

    fn is_done(&mut self, block: &ResidentBlock) -> bool {
        block.is_empty()
    }
}
