//! Threads coming to an SM.

use super::Code;
use super::grid::Grid;
use super::state::{LANES, Threads};

impl Threads {
    /// Makes the threads of block `number` of the grid: home warps from `first` on, the block's
    /// state in slot `block`. Registers, shared and local memory start as zeros.
    pub fn start_block(&mut self, block: u16, first: u16, number: u64, grid: &Grid, code: &Code) {
        let threads = grid.threads();
        let home = &mut self.blocks[block as usize];
        home.ctaid = grid.block_index(number);
        home.shared.clear();
        home.shared.resize(grid.total_shared as usize, 0);
        for index in 0..threads.div_ceil(LANES as u64) {
            let warp = &mut self.warps[first as usize + index as usize];
            warp.block = block;
            warp.index = index as u16;
            let left = threads - index * LANES as u64;
            warp.live = if left >= LANES as u64 { !0 } else { (1 << left) - 1 };
            warp.carry = 0;
            for (data, len) in [
                (&mut warp.rows, code.rows() as usize * LANES),
                (&mut warp.predicates, code.predicate_slots() as usize),
            ] {
                data.clear();
                data.resize(len, 0);
            }
            warp.local.clear();
            warp.local.resize(code.local_bytes() as usize * LANES, 0);
            let (x, y) = (grid.block[0] as u64, grid.block[1] as u64);
            for lane in 0..LANES as u64 {
                let id = index * LANES as u64 + lane;
                let tid = [id % x, id / x % y, id / x / y];
                for (d, t) in tid.into_iter().enumerate() {
                    warp.tid[d][lane as usize] = t as u32;
                }
            }
        }
    }
}
