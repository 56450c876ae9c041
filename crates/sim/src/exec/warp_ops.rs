//! Operations among the threads of a warp: `shfl`, `vote`, `match`, `redux`, `activemask`.
//!
//! They act per home warp among the lanes issued together. A `.sync` form whose member mask
//! names live threads that are not here is a fault; exited threads are ignored.

use warpsim_ptx::isa::{AtomOp, Mode, Op, Type};
use warpsim_ptx::kernel::Instr;

use super::code::{Decoded, Plan, World};
use super::fault::{Fault, FaultKind};
use super::regs::{Regs, Value, Width, lanes_of};
use super::state::{LANES, Lanes};

pub(super) fn decode(i: &Instr) -> Option<Plan> {
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

/// Calls `f` with the lanes of each home warp among the executed ones.
fn each_home(lanes: &Lanes, mask: u32, mut f: impl FnMut(u16, u32)) {
    match lanes {
        Lanes::Static(home) => f(*home, mask),
        Lanes::Gathered(homes) => {
            let mut left = mask;
            while left != 0 {
                let home = homes[left.trailing_zeros() as usize];
                let group = lanes_of(left)
                    .filter(|&lane| homes[lane] == home)
                    .fold(0, |all, lane| all | 1u32 << lane);
                f(home, group);
                left &= !group;
            }
        }
    }
}

/// The groups that take part: lanes of one home warp, restricted to the members when the
/// instruction names them. `members` is the index of the member mask among the sources.
fn groups(
    d: &Decoded,
    r: &Regs<'_>,
    w: &World<'_, '_>,
    members: usize,
) -> Result<Vec<(u32, u32)>, Fault> {
    let instr = &w.cold.instr;
    let mut groups = Vec::new();
    let mut wrong = None;
    each_home(w.lanes, r.mask, |home, group| {
        if !instr.mods.sync || instr.src.len() <= members {
            groups.push((group, group));
            return;
        }
        // Different threads may name different sets, each of which is a group of its own.
        let mut left = group;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let named = r.lane::<u32>(d.src[members], lane);
            let together = lanes_of(left)
                .filter(|&l| r.lane::<u32>(d.src[members], l) == named)
                .fold(0, |all, l| all | 1u32 << l);
            let missing = named & w.threads.warps[usize::from(home)].live & !together;
            let outside = together & !named;
            if missing != 0 && wrong.is_none() {
                let kind = FaultKind::MissingMembers {
                    what: instr.op.text(),
                    members: named,
                    missing,
                };
                wrong = Some(Fault::new(kind, lane, home));
            } else if outside != 0 && wrong.is_none() {
                let lane = outside.trailing_zeros() as usize;
                let text = format!(
                    "{}: the executing thread is not in its own member mask {named:#010x}",
                    instr.op.text()
                );
                wrong = Some(Fault::new(FaultKind::Other(text), lane, home));
            }
            groups.push((together, named));
            left &= !together;
        }
    });
    match wrong {
        Some(fault) => Err(fault),
        None => Ok(groups),
    }
}

fn shfl(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mode = w.cold.instr.mods.mode.unwrap_or(Mode::Idx);
    let mut out = [0u32; LANES];
    let mut valid = 0;
    for (group, _) in groups(d, r, w, 3)? {
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
    for (group, _) in groups(d, r, w, 1)? {
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
    for (group, _) in groups(d, r, w, 1)? {
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
    for (group, _) in groups(d, r, w, 1)? {
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
    each_home(w.lanes, w.active, |_, group| {
        for lane in lanes_of(group) {
            out[lane] = group;
        }
    });
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}
