//! What semantics are written with: registers as rows of 32 lanes, a decoded instruction, and
//! the plan that a family makes for one. Knows no family and no kernel.

mod instruction;
mod lanewise;
mod regs;
mod special;
mod temps;

pub(crate) use instruction::{
    Action, AllLanesFn, AluFn, Cold, Decoded, Plan, RESULTS, Reach, SOURCES, World,
};
pub(crate) use lanewise::{by_type, dispatch, host_has_avx2_fma, op1, op2, op3};
pub(crate) use regs::{Dst, NO_SLOT, PredSrc, Regs, Src, TRUE, Value, Width, width};
pub(crate) use temps::{Drain, Fill, FillFrom};
