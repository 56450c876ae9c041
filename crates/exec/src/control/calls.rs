//! What can go wrong in calls of functions that are not inlined.

use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Instr, Intrinsic};
use warpsim_ptx::lower::STACK_BYTES;

use crate::fault::{Fault, FaultKind};
use crate::op::{Decoded, Plan, Regs, Width, World};
use crate::state::lanes_of;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if i.op != Op::Call {
        return None;
    }
    let n = Width::Narrow;
    Some(match i.intrinsic? {
        Intrinsic::StackCheck => Plan::full(stack_check, &[n, n, n], &[]),
        Intrinsic::NoSuchFunction => Plan::full(no_such_function, &[Width::Wide], &[]),
        _ => return None,
    })
}

fn stack_check(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    for lane in lanes_of(r.mask) {
        let [top, end, size] = [0, 1, 2].map(|k| r.lane::<u32>(d.src[k], lane));
        if top > end {
            let text = format!(
                "recursion is too deep: the stack of {STACK_BYTES} bytes has no room for another {size} bytes"
            );
            return Err(Fault::new(FaultKind::Other(text), lane, w.lanes.home(lane)));
        }
    }
    Ok(())
}

fn no_such_function(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let lane = r.mask.trailing_zeros() as usize % crate::state::LANES;
    let address = r.lane::<u64>(d.src[0], lane);
    let text = format!(
        "a call of {address:#x}, which is not the address of a function with these parameters"
    );
    Err(Fault::new(FaultKind::Other(text), lane, w.lanes.home(lane)))
}
