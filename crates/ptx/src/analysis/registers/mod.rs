//! How many registers an assembler gives a kernel.
//!
//! The lowered kernel is taken through what assemblers do with PTX: it is read as operations on
//! 32-bit words ([`word`], [`read`]), simplified, small loops are unrolled, computations sink to
//! where they are needed, and the operations of every block are put into an order that starts
//! loads early ([`schedule`]). The estimate is the largest number of words alive at once, and
//! the register that the calling convention keeps.

mod allocate;
mod bounds;
mod expand;
mod hoist;
mod live;
mod order;
mod predicate;
mod read;
mod schedule;
mod simplify;
mod sink;
mod ssa;
mod unroll;
mod word;

use crate::kernel::Kernel;
use bounds::Early;

/// The stack pointer, which kernels have even when they do not use it.
const RESERVED_REGISTER: usize = 1;
/// What the assembler is expected to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Registers per thread.
    pub registers: u32,
    /// The fewest with which nothing is spilled.
    pub fewest: u32,
    /// x
    pub peak: u32,
}

/// Estimates the registers of a kernel.
pub fn estimate(kernel: &Kernel) -> Estimate {
    let mut code = read::read(kernel);
    hoist::hoist(&mut code);
    simplify::simplify(&mut code);
    predicate::predicate(&mut code);
    simplify::simplify(&mut code);
    unroll::unroll(&mut code);
    simplify::simplify(&mut code);
    sink::sink(&mut code);
    let edges = live::edges(&code);
    let with = |early: Early| {
        let mut orders = Vec::new();
        let mut most = 0;
        for (index, block) in code.blocks.iter().enumerate() {
            let (start, end) = (&edges.starts[index], &edges.ends[index]);
            let moved = edges.moved[index];
            let (order, peak) = schedule::order(&code, block, start, end, moved, early);
            most = most.max(peak + 1);
            orders.push(order);
        }
        let taken = allocate::allocate(&code, &edges, &orders, early.registers.min(20) + 2);
        (most.max(2), taken.max(2))
    };
    let early = bounds::early(kernel);
    let (peak, registers) = with(early);
    Estimate {
        registers,
        fewest: with(Early { registers: 0, loads: 0 }).0,
        peak,
    }
}
