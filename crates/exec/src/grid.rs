//! What all threads of a launch have in common.

use super::iterations::NextTid;

/// A launch as its threads see it.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// The parameter block.
    pub params: Vec<u8>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Static and dynamic shared memory in bytes.
    pub total_shared: u32,
    /// Memory for barriers of the whole grid; its address is in `%envreg1` and `%envreg2`, where cooperative groups read it. 0: none.
    pub workspace: u64,
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
    /// Its blocks are virtual ones, to which the hardware hands out logical blocks.
    pub virtual_blocks: Option<VirtualBlocks>,
}

/// What virtual blocks run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualBlocks {
    /// Logical blocks in all. Virtual block v begins with logical block v.
    pub logical: u64,
    /// Which thread indices a warp takes in its next iteration.
    pub next_tid: NextTid,
}

impl Grid {
    /// Threads per block.
    #[inline]
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Blocks of the grid.
    #[inline]
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Index of block number `n`, x fastest.
    pub fn block_index(&self, n: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
    }
}

/// How a launched kernel sees a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Address of the first texel.
    pub address: u64,
    /// Texels in x, y, z (1 for dimensions it has not).
    pub size: [u32; 3],
    /// Dimensions: 1, 2 or 3.
    pub dimensions: u8,
    /// Components of a texel: 1, 2 or 4.
    pub channels: u8,
    /// Bits of a component: 8, 16 or 32.
    pub bits: u8,
    /// Kind of component.
    pub kind: TexelKind,
    /// 1-D texture bound to plain memory: integer coordinates, no filtering.
    pub linear_memory: bool,
    /// Linear filtering (else nearest).
    pub filter_linear: bool,
    /// Wrap (else clamp).
    pub wrap: bool,
    /// Coordinates from 0 to 1.
    pub normalized: bool,
    /// Integer texels read as floats from 0 to 1 (or -1 to 1).
    pub read_normalized: bool,
}

/// Kind of a texel's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TexelKind {
    Unsigned,
    Signed,
    Float,
}
