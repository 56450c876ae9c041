//! What an SM is given to run: the kernel, the quantum, memory as its threads see it.

use super::facts::OpFacts;
use crate::exec::code::Code;
use crate::exec::fault::Fault;
use crate::exec::grid::Grid;
use crate::exec::memory::image::GlobalMemory;
use crate::exec::memory::store_buffer::{GlobalView, StoreBuffer};
use crate::exec::state::{Effect, LANES, Lanes, Moment, Threads};
use crate::memory::network::inbox::Inbox;
use crate::time::Cycle;
use std::sync::Arc;
use warpsim_ptx::kernel::{Kernel, Pc};

/// A kernel being launched, as every SM sees it.
pub struct Launched {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Decoded for execution.
    pub code: Arc<Code>,
    /// Timing facts of its instructions.
    pub facts: Arc<[OpFacts]>,
    /// The launch.
    pub grid: Grid,
    /// Where its code lies in instruction memory.
    pub code_base: u64,
    /// Where its parameters lie, for the constant cache.
    pub param_base: u64,
    /// Blocks an SM holds at once.
    pub blocks_per_sm: u32,
}

impl Launched {
    /// Home warps a block takes.
    pub fn warps_per_block(&self) -> u32 {
        (self.grid.threads() as u32).div_ceil(LANES as u32)
    }
}

/// A thread of the simulated program has failed.
#[derive(Debug)]
pub struct SmFault {
    /// What happened. Boxed: a result that is passed through every cycle should be small.
    pub fault: Box<Fault>,
    /// Instruction.
    pub pc: Pc,
}

impl SmFault {
    pub(super) fn new(fault: Fault, pc: Pc) -> SmFault {
        let fault = Box::new(fault);
        SmFault { fault, pc }
    }
}

/// What an SM sees of the world in a quantum, or several in a row.
pub struct Quantum<'a> {
    /// The kernel.
    pub launched: &'a Launched,
    /// Global memory as of the period's start.
    pub image: &'a GlobalMemory,
    /// Replies that have come for this SM.
    pub inbox: &'a mut Inbox,
    /// An observer listens, and will hear of it by [`Sm::tell`](super::Sm::tell).
    pub observed: bool,
    /// It wants details.
    pub details: bool,
    /// Skip cycles in which nothing happens.
    pub skip: bool,
    /// Cycles per quantum, which is what an SM runs, or several in a row.
    pub cycles: u64,
}

/// What the threads of an SM leave behind for the rest of the machine.
#[derive(Debug)]
pub struct Leavings {
    /// Stores.
    pub stores: StoreBuffer,
    /// What was printed.
    pub prints: Vec<u8>,
}

/// Memory and surroundings as the threads of an SM see them while they execute.
pub struct View<'a> {
    /// The kernel.
    pub launched: &'a Launched,
    /// Global memory as of the period's start.
    pub image: &'a GlobalMemory,
    /// What this SM has stored and printed since.
    pub leavings: &'a mut Leavings,
    /// Number of the SM, and its clock.
    pub sm: u16,
    #[allow(missing_docs)]
    pub core_mhz: u32,
}

impl View<'_> {
    /// Global memory with this SM's stores.
    #[inline]
    pub fn global(&mut self) -> GlobalView<'_> {
        GlobalView::buffered(
            self.image,
            &mut self.leavings.stores,
            &mut self.leavings.prints,
        )
    }

    /// What time and place it is.
    #[inline]
    pub fn moment(&self, now: Cycle) -> Moment {
        Moment {
            cycle: now.get(),
            core_mhz: self.core_mhz,
            sm: self.sm as u32,
        }
    }

    /// Executes an instruction for the threads of `mask` on `lanes`.
    pub fn step(
        &mut self,
        pc: Pc,
        lanes: &Lanes,
        mask: u32,
        threads: &mut Threads,
        now: Cycle,
        effect: &mut Effect,
    ) -> Result<(), SmFault> {
        let (launched, moment) = (self.launched, self.moment(now));
        let code = &launched.code;
        let grid = &launched.grid;
        code.step(
            pc,
            lanes,
            mask,
            threads,
            grid,
            &mut self.global(),
            moment,
            effect,
        )
        .map_err(|fault| SmFault::new(fault, pc))
    }
}
