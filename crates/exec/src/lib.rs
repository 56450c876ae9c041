//! What instructions do: functional, warp-wide, no notion of time.
//!
//! Every module uses only those above it in this list (`tests/layers.rs` holds them to it):
//!
//! 1. `memory`, [`iterations`], `rows`, `state`, [`grid`], `fault`: the data of a program, the rules of
//!    virtual blocks, where registers lie, its threads, what all threads of a launch share, what can go wrong.
//! 2. `op`: what semantics are written with: rows of registers, a decoded instruction, its plan.
//! 3. `float`, `arith`, `access`, `texture`, `control`, `matrix`: the families, one file each. A family's
//!    `decode` returns a plan for the opcodes that are its own, so a new opcode is an entry in the
//!    instruction table and one match arm next to its semantics.
//! 4. `decode`: knows all families and turns one lowered instruction into a decoded one.
//! 5. [`code::Code`], a kernel decoded once, whose `step` executes one instruction for a group of
//!    lanes; `launch`, which sets up threads for it.
//! 6. [`machine_code`]: what machine code does in the same way as PTX, for the crate that executes it.
//! 7. [`functional`]: runs whole kernels without timing (`virtual_blocks`: those that run again and again).

pub mod access;
mod arith;
pub mod code;
mod control;
mod decode;
pub mod fault;
mod float;
#[cfg(test)]
mod forms_test;
pub mod functional;
pub mod grid;
pub mod iterations;
pub(crate) mod launch;
pub mod machine_code;
mod matrix;
pub mod memory;
mod op;
pub(crate) mod rows;
pub mod state;
mod step;
#[cfg(test)]
pub(crate) mod testing;
mod texture;
