//! Threads coming to an SM.

use super::code::Code;
use super::grid::Grid;
use super::launch::warps_per_block;
use super::state::Threads;

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
