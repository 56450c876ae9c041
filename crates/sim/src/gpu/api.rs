//! What a host program asks of a GPU and what it gets back.

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Index of the kernel in its module's `Program::kernels`.
    pub kernel: usize,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as `Kernel::params` says.
    pub params: Vec<u8>,
    /// Registers a thread as NVIDIA's assembler reports them, when known; else the estimate
    /// from liveness decides occupancy.
    pub registers: Option<u32>,
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
