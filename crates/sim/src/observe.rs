//! Observers listen to what the pipeline does; the pipeline does not know who listens, and
//! pays a test of a null pointer when no one does.

use warpsim_ptx::kernel::Pc;

/// Something a hardware warp did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpEvent {
    /// Came with its block.
    Launched {
        /// Number of the block in the grid.
        block: u64,
    },
    /// Issued an instruction.
    Issued {
        /// The instruction.
        pc: Pc,
        /// Active lanes.
        lanes: u32,
    },
    /// Arrived at a barrier.
    Barrier {
        /// Its number.
        id: u8,
    },
    /// The barrier opened.
    Released,
    /// Finished and left.
    Retired,
}

/// Somebody who listens.
pub trait Observer {
    /// `slot` of `sm` did something in `cycle`.
    fn warp(&mut self, cycle: u64, sm: u16, slot: u16, event: WarpEvent);
}
