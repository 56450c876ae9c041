//! What instructions do: functional, warp-wide, no notion of time.
//!
//! [`code::Code`] decodes a kernel once; its `step` ([`step`]) executes one instruction for a
//! group of lanes. Semantics live in one file a family. A family's `decode` returns a plan
//! for the opcodes that are its own, so a new opcode is an entry in the instruction table and
//! one match arm next to its semantics.

mod access;
pub mod atomic;
mod bits;
mod carry;
pub mod code;
mod compare;
mod control;
mod convert;
mod decode;
pub mod fault;
mod float32;
mod float64;
#[cfg(test)]
mod forms_test;
pub mod functional;
pub mod grid;
mod half_arith;
mod int_arith;
pub mod launch;
mod moves;
mod printf;
mod regs;
mod residency;
mod softfloat;
mod special;
pub mod state;
mod step;
mod temps;
#[cfg(test)]
pub(crate) mod testing;
mod texture;
mod texture_filter;
mod texture_weigh;
mod transcendental;
mod warp_ops;
mod whole;

use code::Plan;
use warpsim_ptx::kernel::Instr;

/// Every family's decoder; the first that knows an instruction has it.
fn families() -> &'static [fn(&Instr) -> Option<Plan>] {
    &[
        carry::decode,
        int_arith::decode,
        bits::decode,
        compare::decode,
        float32::decode,
        float64::decode,
        half_arith::decode,
        transcendental::decode,
        convert::decode,
        moves::decode,
        access::decode,
        atomic::decode,
        texture::decode,
        warp_ops::decode,
        control::decode,
        printf::decode,
    ]
}
