//! Setting up the threads of a block.

use super::code::Code;
use super::grid::Grid;
use super::state::{HomeBlock, HomeWarp, LANES};

/// Warps a block has.
pub fn warps_per_block(grid: &Grid) -> u32 {
    grid.threads().div_ceil(LANES as u64) as u32
}

impl HomeWarp {
    /// Makes this the `index`-th warp of the block in slot `block`: registers and local memory
    /// zeroed, threads alive as far as the block reaches.
    pub fn reset(&mut self, code: &Code, grid: &Grid, block: u16, index: u16) {
        self.block = block;
        self.index = index;
        self.carry = 0;
        self.live = 0;
        self.rows.clear();
        self.rows.resize(code.rows() as usize * LANES, 0);
        self.predicates.clear();
        self.predicates.resize(code.predicate_slots() as usize, 0);
        self.local.clear();
        self.local.resize(code.local_bytes() as usize * LANES, 0);
        let [nx, ny, _] = grid.block.map(|n| u64::from(n.max(1)));
        for lane in 0..LANES {
            let thread = u64::from(index) * LANES as u64 + lane as u64;
            let there = thread < grid.threads();
            self.live |= u32::from(there) << lane;
            let at = if there { thread } else { 0 };
            self.tid[0][lane] = (at % nx) as u32;
            self.tid[1][lane] = (at / nx % ny) as u32;
            self.tid[2][lane] = (at / nx / ny) as u32;
        }
    }
}

impl HomeBlock {
    /// Makes this block number `number` of the grid with zeroed shared memory.
    pub fn reset(&mut self, grid: &Grid, number: u64) {
        self.ctaid = grid.block_index(number);
        self.shared.clear();
        self.shared.resize(grid.total_shared as usize, 0);
    }
}
