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

/// Registers up to which loads are started early.
pub fn early(kernel: &Kernel) -> u32 {
    let size = kernel.req_ntid.or(kernel.max_ntid);
    let size = size.map(|dims| dims.iter().fold(1u32, |a, b| a.saturating_mul(*b)));
    let whole = |threads: u32| threads.max(1).div_ceil(32).saturating_mul(32);
    let share = |threads: u32| (REGISTERS / threads.max(1) / STEP * STEP).min(MOST);
    let room = match (kernel.max_nreg, size, kernel.min_ctas) {
        (Some(most), ..) => most,
        (None, Some(size), Some(blocks)) => share(whole(size).saturating_mul(blocks.max(1))),
        (None, Some(size), None) => share(whole(size).saturating_mul(BLOCKS).min(THREADS)),
        (None, None, _) => share(THREADS),
    };
    room.saturating_sub(SPARE)
}
