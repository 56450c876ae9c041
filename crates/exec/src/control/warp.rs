//! Operations among the threads of a warp: `shfl`, `vote`, `match`, `redux`, `activemask`,
//! `bar.warp`.
//!
//! They act per home warp among the lanes issued together. A `.sync` form whose member mask
//! names live threads that are not here does nothing but say so ([`EffectKind::Awaits`]):
//! the caller, which runs the warp, knows whether they can still come. Exited threads are ignored.

use warpsim_ptx::isa::{AtomOp, Mode, Op, Type};
use warpsim_ptx::kernel::Instr;

use crate::fault::{Fault, FaultKind};
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::{EffectKind, LANES, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let (n, p) = (Width::Narrow, Width::Predicate);
    let m = &i.mods;
    let value = if m.types[0].is_some_and(|t| t.bytes() == 8) {
        Width::Wide
    } else {
        n
    };
    Some(match i.op {
        Op::Shfl => Plan::full(shfl, &[n; 4], &[n, p]),
        Op::Vote if m.mode? == Mode::Ballot => Plan::full(vote, &[p, n], &[n]),
        Op::Vote => Plan::full(vote, &[p, n], &[p]),
        Op::Match => Plan::full(matching, &[value, n], &[n, p]),
        Op::Redux => Plan::full(redux, &[n, n], &[n]),
        Op::Activemask => Plan::full(activemask, &[], &[n]),
        _ => return None,
    })
}

/// The lanes that take part together, in sets: lanes of one home warp, with the same member
/// mask where the instruction names one. `members` is the index of the mask among the sources.
/// `None` if threads are named that are not here.
fn sets(
    d: &Decoded,
    r: &Regs<'_>,
    w: &mut World<'_, '_>,
    members: usize,
) -> Result<Option<Vec<u32>>, Fault> {
    let instr = &w.cold.instr;
    let named_by = |lane: usize| r.lane::<u32>(d.src[members], lane);
    let mut sets = Vec::new();
    let mut wrong = None;
    let mut all_here = true;
    w.lanes.each_home(r.mask, |home, lanes| {
        if !instr.mods.sync || instr.src.len() <= members {
            sets.push(lanes);
            return;
        }
        // Different threads may name different sets, each of which is one of its own.
        let mut left = lanes;
        while left != 0 {
            let named = named_by(left.trailing_zeros() as usize);
            let together = lanes_of(left)
                .filter(|&l| named_by(l) == named)
                .fold(0, |all, l| all | 1u32 << l);
            let missing = named & w.threads.warps[usize::from(home)].awaited() & !together;
            all_here &= missing == 0;
            let outside = together & !named;
            if outside != 0 && wrong.is_none() {
                let lane = outside.trailing_zeros() as usize;
                let text = format!(
                    "{}: the executing thread is not in its own member mask {named:#010x}",
                    instr.op.text()
                );
                wrong = Some(Fault::new(FaultKind::Other(text), lane, home));
            }
            sets.push(together);
            left &= !together;
        }
    });
    if let Some(fault) = wrong {
        return Err(fault);
    }
    if all_here {
        return Ok(Some(sets));
    }
    for lane in lanes_of(r.mask) {
        w.effect.operands[0][lane] = u64::from(named_by(lane));
    }
    w.effect.kind = EffectKind::Awaits;
    Ok(None)
}

/// `bar.warp.sync`: nothing but being there.
pub(crate) fn barrier(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    sets(d, r, w, 0).map(drop)
}

fn shfl(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mode = w.cold.instr.mods.mode.unwrap_or(Mode::Idx);
    let mut out = [0u32; LANES];
    let mut valid = 0;
    let Some(sets) = sets(d, r, w, 3)? else {
        return Ok(());
    };
    for group in sets {
        for lane in lanes_of(group) {
            let me = lane as i32;
            let b = (r.lane::<u32>(d.src[1], lane) & 31) as i32;
            let c = r.lane::<u32>(d.src[2], lane);
            let (clamp, segment) = ((c & 31) as i32, (c >> 8 & 31) as i32);
            let first = me & segment;
            let last = first | clamp & !segment;
            let (from, inside) = match mode {
                Mode::Up => (me - b, me - b >= last),
                Mode::Down => (me + b, me + b <= last),
                Mode::Bfly => (me ^ b, me ^ b <= last),
                _ => {
                    let j = first | b & !segment;
                    (j, j <= last)
                }
            };
            valid |= u32::from(inside) << lane;
            // Reading a thread that does not take part is undefined: one's own value.
            let from = if inside && (0..32).contains(&from) && group >> from & 1 != 0 {
                from as usize
            } else {
                lane
            };
            out[lane] = r.lane::<u32>(d.src[0], from);
        }
    }
    r.commit::<u32>(d.dst[0], &out);
    r.set_predicate(d.pdst[0], valid);
    Ok(())
}

fn vote(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mode = w.cold.instr.mods.mode.unwrap_or(Mode::Ballot);
    let p = r.predicate(d.preds[0]);
    let mut out = [0u32; LANES];
    let mut bits = 0;
    let Some(sets) = sets(d, r, w, 1)? else {
        return Ok(());
    };
    for group in sets {
        let votes = p & group;
        let yes = match mode {
            Mode::All => votes == group,
            Mode::Any => votes != 0,
            Mode::Uni => votes == 0 || votes == group,
            _ => {
                for lane in lanes_of(group) {
                    out[lane] = votes;
                }
                continue;
            }
        };
        if yes {
            bits |= group;
        }
    }
    if mode == Mode::Ballot {
        r.commit::<u32>(d.dst[0], &out);
    } else {
        r.set_predicate(d.pdst[0], bits);
    }
    Ok(())
}

fn matching(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let m = &w.cold.instr.mods;
    let wide = m.types[0].is_some_and(|t| t.bytes() == 8);
    let all = m.mode == Some(Mode::All);
    let value = |r: &Regs<'_>, lane| {
        if wide {
            r.lane::<u64>(d.src[0], lane)
        } else {
            u64::from(r.lane::<u32>(d.src[0], lane))
        }
    };
    let mut out = [0u32; LANES];
    let mut bits = 0;
    let Some(sets) = sets(d, r, w, 1)? else {
        return Ok(());
    };
    for group in sets {
        for lane in lanes_of(group) {
            let mine = value(r, lane);
            let same = lanes_of(group)
                .filter(|&other| value(r, other) == mine)
                .fold(0, |all, other| all | 1u32 << other);
            if all {
                if same == group {
                    out[lane] = group;
                    bits |= 1 << lane;
                }
            } else {
                out[lane] = same;
            }
        }
    }
    r.commit::<u32>(d.dst[0], &out);
    r.set_predicate(d.pdst[0], bits);
    Ok(())
}

fn redux(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let m = &w.cold.instr.mods;
    let signed = m.types[0] == Some(Type::S32);
    let op = m.atom.unwrap_or(AtomOp::Add);
    let mut out = u32::ZERO;
    let Some(sets) = sets(d, r, w, 1)? else {
        return Ok(());
    };
    for group in sets {
        let total = lanes_of(group)
            .map(|lane| r.lane::<u32>(d.src[0], lane))
            .reduce(|a, b| match op {
                AtomOp::And => a & b,
                AtomOp::Or => a | b,
                AtomOp::Xor => a ^ b,
                AtomOp::Min if signed => (a as i32).min(b as i32) as u32,
                AtomOp::Max if signed => (a as i32).max(b as i32) as u32,
                AtomOp::Min => a.min(b),
                AtomOp::Max => a.max(b),
                _ => a.wrapping_add(b),
            })
            .unwrap_or(0);
        for lane in lanes_of(group) {
            out[lane] = total;
        }
    }
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}

fn activemask(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mut out = u32::ZERO;
    w.lanes.each_home(w.active, |_, group| {
        for lane in lanes_of(group) {
            out[lane] = group;
        }
    });
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}
