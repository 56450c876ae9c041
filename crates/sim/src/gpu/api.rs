//! What a host program asks of a GPU and what it gets back.

pub use crate::exec::grid::{TexelKind, Texture};

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
