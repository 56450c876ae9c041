//! How many registers an assembler gives a kernel.
//!
//! The lowered kernel is taken through what NVIDIA's assembler does with PTX, as far as it shows in
//! the number of registers. The parts, in order:
//!
//! 1. `read`: operations on 32-bit words in static single assignment (`word`, `ssa`), parameters
//!    and constants as operands that need no register, offsets folded into accesses, what the
//!    machine has no instruction for as sequences with their own needs (`expand`);
//! 2. `rewrite`: constants before loops, nothing twice and nothing unused, short branches as
//!    predicated instructions, small loops written out, and more, a file for each;
//! 3. `schedule`: every block's order, loads as far ahead of their readers as their latency, up to
//!    the registers that launch bounds leave (`bounds`);
//! 4. `allocate`: registers in aligned groups, the stack pointer's left out.
//!
//! Constants in these files are either properties of the machine that the assembler was asked for
//! (sm_35) or were measured by giving NVIDIA's assembler kernels made for the purpose; nothing is
//! there for the sake of one kernel. `tests/registers.rs` compares, also on kernels that the model
//! was not made with.
//!
//! [`spill`] rewrites a kernel that has to do with fewer.

mod allocate;
mod bounds;
mod expand;
mod live;
mod order;
mod read;
mod rewrite;
mod schedule;
pub mod spill;
mod ssa;
mod word;

use crate::kernel::Kernel;

/// The stack pointer, which kernels have even when they do not use it.
const RESERVED_REGISTER: usize = 1;
/// No kernel has fewer: the stack pointer and one to work with.
const FEWEST: u32 = 2;
/// Instructions of the longest kernel that is looked at this closely; whatever is longer is taken
/// to need what is live at once.
const LONGEST: usize = 10_000;

/// How often a kernel that takes more registers than it should is tried with fewer.
const ATTEMPTS: u32 = 3;

/// What the assembler is expected to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Registers per thread.
    pub registers: u32,
    /// The fewest with which nothing is spilled.
    pub fewest: u32,
}

/// Estimates the registers of a kernel.
pub fn estimate(kernel: &Kernel) -> Estimate {
    if kernel.code.len() > LONGEST {
        let live = super::peak(kernel, &super::liveness(kernel)) + 1;
        return Estimate {
            registers: live.max(FEWEST),
            fewest: live.max(FEWEST),
        };
    }
    let mut code = read::read(kernel);
    rewrite::rewrite(&mut code);
    let edges = live::edges(&code);
    let blocks = code.blocks.iter();
    let graphs: Vec<_> = blocks.map(|b| schedule::graph(&code, b)).collect();
    // The order of every block, and the most words alive at once.
    let schedule = |early: u32| {
        let mut most = 0;
        let mut orders = Vec::new();
        for (index, block) in code.blocks.iter().enumerate() {
            let (start, end) = (&edges.starts[index], &edges.ends[index]);
            let moved = edges.moved[index];
            let graph = &graphs[index];
            let (order, peak) = schedule::order(block, graph, start, end, moved, early);
            most = most.max(peak);
            orders.push(order);
        }
        (orders, most + 1)
    };
    let room = bounds::room(kernel);
    let mut early = room.registers.saturating_sub(bounds::SPARE);
    let (orders, peak) = schedule(early);
    let mut taken = allocate::allocate(&code, &edges, &orders).max(peak);
    // What does not fit is tried again with fewer loads under way.
    let mut tried = taken;
    for _ in 0..ATTEMPTS {
        if !room.asks_for_less(tried) {
            break;
        }
        early = early.saturating_sub(tried - room.registers);
        let (orders, peak) = schedule(early);
        tried = allocate::allocate(&code, &edges, &orders).max(peak);
    }
    if !room.asks_for_less(tried) {
        taken = taken.min(tried);
    }
    let (_, fewest) = schedule(0);
    let registers = taken.max(FEWEST);
    Estimate {
        registers,
        fewest: fewest.max(FEWEST).min(registers),
    }
}
