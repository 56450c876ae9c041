//! Setting up the threads of a block.

use super::code::Code;
use super::grid::Grid;
use super::state::{HomeBlock, HomeWarp, LANES, Threads};

/// Warps per block has.
pub fn warps_per_block(grid: &Grid) -> u32 {
    grid.threads().div_ceil(LANES as u64) as u32
}

impl HomeWarp {
    /// Makes this the `index`-th warp of the block in slot `block`: registers and local memory
    /// zeroed, threads alive as far as the block reaches.
    pub fn reset(&mut self, code: &Code, grid: &Grid, block: u16, index: u16) {
        self.block = block;
        self.index = index;
        self.runs_as = index;
        self.done = 0;
        self.carry = 0;
        self.rows.reset(code.rows() as usize);
        self.predicates.clear();
        self.predicates.resize(code.predicate_slots() as usize, 0);
        self.local.reset(code.local_bytes() as usize);
        let [nx, ny, _] = grid.block.map(|n| n.max(1));
        let first = u64::from(index) * LANES as u64;
        let there = grid.threads().saturating_sub(first).min(LANES as u64);
        self.live = ((1u64 << there) - 1) as u32;
        self.tid = [[0; LANES]; 3];
        // The first thread's place in the block, then the next one's from each.
        let x = (first % u64::from(nx)) as u32;
        let row = first / u64::from(nx);
        let mut at = [
            x,
            (row % u64::from(ny)) as u32,
            (row / u64::from(ny)) as u32,
        ];
        let [xs, ys, zs] = &mut self.tid;
        for lane in 0..LANES.min(there as usize) {
            [xs[lane], ys[lane], zs[lane]] = at;
            at[0] += 1;
            if at[0] == nx {
                at[0] = 0;
                at[1] += 1;
            }
            if at[1] == ny {
                at[1] = 0;
                at[2] += 1;
            }
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

impl Threads {
    /// Makes the threads of block `number` of the grid: home warps from `first` on, the block's
    /// state in slot `block`. Registers, shared and local memory start as zeros.
    pub fn start_block(&mut self, block: u16, first: u16, number: u64, grid: &Grid, code: &Code) {
        self.blocks[block as usize].reset(grid, number);
        for index in 0..warps_per_block(grid) as u16 {
            self.warps[(first + index) as usize].reset(code, grid, block, index);
        }
    }
}
