//! Branches, exits, barriers, fences, traps.

use warpsim_ptx::isa::{BoolOp, Mode, Op};
use warpsim_ptx::kernel::{Instr, Operand};

use crate::fault::{Fault, FaultKind};
use crate::op::{Decoded, Plan, Regs, Width, World};
use crate::state::{Barrier, EffectKind, LANES, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let n = Width::Narrow;
    Some(match i.op {
        Op::Bra => Plan::branch(),
        Op::Exit | Op::Ret => Plan::full(exit, &[], &[]),
        Op::Bar if i.mods.warp => Plan::full(super::warp::barrier, &[n], &[]),
        Op::Bar | Op::Barrier => {
            let red = i.mods.mode == Some(Mode::Red);
            let p = Width::Predicate;
            let src: &[Width] = match (red, i.src.len()) {
                (true, 2) => &[n, p],
                (true, 3) => &[n, n, p],
                (false, 0) => &[],
                (false, 1) => &[n],
                (false, 2) => &[n, n],
                _ => return None,
            };
            let dst = if i.mods.boolop == Some(BoolOp::Popc) {
                n
            } else {
                p
            };
            Plan::full(
                barrier,
                src,
                if red { std::slice::from_ref(&dst) } else { &[] },
            )
        }
        Op::Membar | Op::Fence => Plan::full(
            |_, _, w| {
                w.effect.kind = EffectKind::Fence;
                Ok(())
            },
            &[],
            &[],
        ),
        Op::VtwNextTb => Plan::full(next_block, &[], &[n, Width::Predicate]),
        Op::VtwNextTid => Plan::full(next_thread, &[], &[n]),
        Op::Nanosleep => Plan::full(nanosleep, &[n], &[]),
        Op::Trap if i.src.len() == 2 => Plan::full(no_such_target, &[n, n], &[]),
        Op::Trap => Plan::full(|_, r, w| stop(r, w, FaultKind::Trap), &[], &[]),
        Op::Brkpt => Plan::full(|_, r, w| stop(r, w, FaultKind::Breakpoint), &[], &[]),
        // No performance monitor listens to the event.
        Op::Pmevent => Plan::full(|_, _, _| Ok(()), &[n], &[]),
        _ => return None,
    })
}

fn exit(_: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    w.lanes.each_home(r.mask, |home, lanes| {
        w.threads.warps[usize::from(home)].live &= !lanes;
    });
    w.effect.kind = EffectKind::Exit;
    Ok(())
}

fn barrier(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let lane = r.mask.trailing_zeros() as usize;
    let home = w.lanes.home(lane);
    let wrong = |text: String| Fault::new(FaultKind::Other(text), lane, home);
    let red = instr.mods.mode == Some(Mode::Red);
    let id = if instr.src.is_empty() {
        0
    } else {
        r.lane::<u32>(d.src[0], lane)
    };
    if id > 15 {
        return Err(wrong(format!("barrier {id} does not exist: there are 16")));
    }
    let counted = instr.src.len() == if red { 3 } else { 2 };
    let count = counted.then(|| r.lane::<u32>(d.src[1], lane));
    if let Some(n) = count
        && (n == 0 || !n.is_multiple_of(32))
    {
        return Err(wrong(format!(
            "barrier {id} expects {n} threads, which is not a positive multiple of the warp size"
        )));
    }
    let reduction = match (red, instr.dst.first()) {
        (true, Some(Operand::Reg(reg))) => {
            let op = instr.mods.boolop.unwrap_or(BoolOp::Or);
            Some((op, r.predicate(d.preds[0]) & r.mask, *reg))
        }
        _ => None,
    };
    w.effect.kind = EffectKind::Barrier(Barrier {
        id: id as u8,
        count,
        arrive: instr.mods.mode == Some(Mode::Arrive),
        reduction,
    });
    Ok(())
}

/// For the whole warp: its threads have come together at the loop's tail.
fn next_block(_: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let lane = r.mask.trailing_zeros() as usize;
    let home = w.lanes.home(lane);
    let wrong = |text: &str| Err(Fault::new(FaultKind::Other(text.into()), lane, home));
    if w.grid.virtual_blocks.is_none() {
        return wrong("vtw.next_tb: this launch has no virtual blocks");
    }
    if r.mask != w.threads.warps[usize::from(home)].live {
        return wrong("vtw.next_tb: only some threads of the warp have come");
    }
    let register = |at: usize| match w.cold.instr.dst.get(at) {
        Some(Operand::Reg(register)) => Some(*register),
        _ => None,
    };
    w.effect.kind = EffectKind::NextBlock([register(0), register(1)]);
    Ok(())
}

fn next_thread(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let homes = w.lanes.homes();
    let index = |lane: usize| {
        let runs_as = w.threads.warps[usize::from(homes[lane])].runs_as;
        u32::from(runs_as) * LANES as u32 + lane as u32
    };
    let row: [u32; LANES] = std::array::from_fn(index);
    r.commit::<u32>(d.dst[0], &row);
    Ok(())
}

/// Behind the last of the branches that an indexed branch is: none of them was taken.
fn no_such_target(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let lane = r.mask.trailing_zeros() as usize % LANES;
    let [index, targets] = [0, 1].map(|k| r.lane::<u32>(d.src[k], lane));
    let text = format!("brx.idx with index {index}: there are {targets} targets, from 0");
    stop(r, w, FaultKind::Other(text))
}

/// Longest that a thread sleeps, by the PTX manual: 1 millisecond, whatever it asks for.
const LONGEST_SLEEP: u32 = 1_000_000;

fn nanosleep(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let nanoseconds = lanes_of(r.mask)
        .map(|lane| r.lane::<u32>(d.src[0], lane))
        .max()
        .unwrap_or(0)
        .min(LONGEST_SLEEP);
    w.effect.kind = EffectKind::Sleep { nanoseconds };
    Ok(())
}

fn stop(r: &Regs<'_>, w: &World<'_, '_>, kind: FaultKind) -> Result<(), Fault> {
    let lane = r.mask.trailing_zeros() as usize;
    Err(Fault::new(kind, lane, w.lanes.home(lane)))
}
