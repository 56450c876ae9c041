//! How far launch bounds let loads be started early.
//!
//! An assembler trades registers for latency as long as enough threads fit. The machine it
//! reckons with is the one it was asked for (sm_35: 65,536 registers, 2,048 threads and 16 blocks
//! per multiprocessor), not the simulated one; the rules are what NVIDIA's assembler (11.8) was
//! seen to do with a kernel of many independent loads under various bounds.

use crate::kernel::Kernel;

const REGISTERS: u32 = 65_536;
const THREADS: u32 = 2_048;
const BLOCKS: u32 = 16;
/// Registers are given in steps of so many.
const STEP: u32 = 8;
/// Registers a thread can have.
const MOST: u32 = 255;
/// Registers left free when loads are started early.
const SPARE: u32 = 2;
/// However much room there is, so many loads are under way at most: where a number of blocks or
/// of registers is promised, and where the size of a block alone is known.
const LOADS_WITH_PROMISE: u32 = 36;
const LOADS_WITH_SIZE: u32 = 46;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// Registers up to which loads are started early.
    pub registers: u32,
    /// Loads under way at most.
    pub loads: u32,
}

/// How far the kernel's bounds let loads be started early.
pub fn early(kernel: &Kernel) -> Early {
    let size = kernel.req_ntid.or(kernel.max_ntid);
    let size = size.map(|dims| dims.iter().fold(1u32, |a, b| a.saturating_mul(*b)));
    let whole = |threads: u32| threads.max(1).div_ceil(32).saturating_mul(32);
    let share = |threads: u32| (REGISTERS / threads.max(1) / STEP * STEP).min(MOST);
    let (room, loads) = match (kernel.max_nreg, size, kernel.min_ctas) {
        (Some(most), ..) => (most, LOADS_WITH_PROMISE),
        (None, Some(size), Some(blocks)) => {
            let resident = whole(size).saturating_mul(blocks.max(1));
            (share(resident), LOADS_WITH_PROMISE)
        }
        (None, Some(size), None) => {
            let resident = whole(size).saturating_mul(BLOCKS).min(THREADS);
            (share(resident), LOADS_WITH_SIZE)
        }
        (None, None, _) => (share(THREADS), LOADS_WITH_PROMISE),
    };
    Early {
        registers: room.saturating_sub(SPARE),
        loads,
    }
}
