//! Machine code (SASS) of NVIDIA GPUs, executed without timing.
//!
//! Every module uses only those above it in this list:
//!
//! 1. [`program`]: machine code as data: kernels, instructions, operands, control bits.
//! 2. [`front`]: where it comes from: cubins, the user's tools, listings.
//! 3. [`op`]: what opcodes do, a family a file.
//! 4. [`run`]: a kernel decoded, warps whose threads diverge and meet, blocks, launches.
//! 5. [`inspect`]: machine code for a reader.

pub mod front;
pub mod inspect;
pub mod op;
pub mod program;
pub mod run;
