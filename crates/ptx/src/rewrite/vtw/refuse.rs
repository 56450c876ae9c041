//! Kernels that cannot be rewritten.

use super::functions::Needs;
use super::walk::{instructions, names};
use crate::ast::{Function, Statement};
use crate::isa::{Op, Special};
use crate::kernel::{Kernel, Operand};

/// Why a kernel cannot be rewritten, if it cannot. What is called is looked at in the lowered
/// code, into which it was inlined.
pub fn reason(function: &Function, lowered: &Kernel, needs: &Needs) -> Option<String> {
    for instr in &lowered.code {
        for operand in &instr.src {
            let Operand::Special(special) = operand else {
                continue;
            };
            let why = match special {
                Special::Warpid => {
                    "reads %warpid: the hardware's number of a warp says nothing about the \
                     threads that it runs for"
                }
                Special::Smid => {
                    "reads %smid: where a virtual block runs is not where its logical blocks would"
                }
                Special::Envreg(_) => {
                    "reads %envreg, as grid-wide barriers do: blocks that wait for all others \
                     cannot take turns in one virtual block"
                }
                _ => continue,
            };
            return Some(why.into());
        }
        if matches!(instr.op, Op::VtwNextTb | Op::VtwNextTid) {
            return Some("is a rewritten kernel already".into());
        }
    }
    if let Some(line) = super::barriers::comes_in_parts(lowered) {
        return Some(format!(
            "lets threads return from inside a branch whose sides meet again, ahead of a barrier or an \
             operation of a whole warp (PTX line {line}): those that stay would come to it in parts"
        ));
    }
    let body = function.body.as_deref().unwrap_or_default();
    if needs.exits_in_callee(body) {
        return Some(
            "calls a function that ends threads with `exit`: a jump to the loop's tail cannot \
             leave a function"
                .into(),
        );
    }
    if mentions_ours(body) {
        return Some("has names that begin with %vtw_ or $VTW_, which the rewrite uses".into());
    }
    None
}

fn mentions_ours(body: &[Statement]) -> bool {
    let mut found = false;
    instructions(body, &mut |instruction| {
        for operand in &instruction.operands {
            names(operand, &mut |id| {
                found |= id.name.starts_with("%vtw_") || id.name.starts_with("$VTW_");
            });
        }
    });
    found
}
