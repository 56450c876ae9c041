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
pub const SPARE: u32 = 2;

/// How far a kernel without bounds of its own may be over and is still made to fit; one that is
/// further over keeps what it takes.
const SLIGHTLY: u32 = STEP / 2;

/// The registers that the assembler aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// So many.
    pub registers: u32,
    /// It has to keep to them: the kernel says so.
    bound: bool,
}

impl Room {
    /// Is a kernel that takes so many tried again with fewer loads under way?
    pub fn asks_for_less(self, taken: u32) -> bool {
        let over = taken.saturating_sub(self.registers);
        over > 0 && (self.bound || over <= SLIGHTLY)
    }
}

/// Registers that a kernel takes to have its loads early.
pub fn room(kernel: &Kernel) -> Room {
    let bounds = &kernel.bounds;
    let size = bounds.threads();
    let whole = |threads: u32| threads.max(1).div_ceil(32).saturating_mul(32);
    let share = |threads: u32| (REGISTERS / threads.max(1) / STEP * STEP).min(MOST);
    let registers = match (bounds.max_nreg, size, bounds.min_ctas) {
        (Some(most), ..) => most,
        (None, Some(size), Some(blocks)) => share(whole(size).saturating_mul(blocks.max(1))),
        (None, Some(size), None) => share(whole(size).saturating_mul(BLOCKS).min(THREADS)),
        (None, None, _) => share(THREADS),
    };
    let bound = bounds.max_nreg.is_some() || (size.is_some() && bounds.min_ctas.is_some());
    Room { registers, bound }
}
