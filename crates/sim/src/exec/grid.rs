//! What all threads of a launch have in common.

use crate::gpu::api::Texture;

/// A launch as its threads see it.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// The parameter block.
    pub params: Vec<u8>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Static and dynamic shared memory in bytes.
    pub total_shared: u32,
    /// Number of the launch (`%gridid`).
    pub id: u64,
    /// SMs of the machine (`%nsmid`).
    pub sms: u32,
    /// Warps an SM holds at most (`%nwarpid`).
    pub warps_per_sm: u32,
    /// Textures by index of `Program::textures`; `None` where nothing is bound.
    pub texrefs: Vec<Option<Texture>>,
    /// Textures by 64-bit handle: handle `n + 1` is entry `n`.
    pub texture_objects: Vec<Option<Texture>>,
}

impl Grid {
    /// Threads a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Index of block number `n`, x fastest.
    pub fn block_index(&self, n: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
    }
}
