//! `mov` with packing and unpacking, and what addresses of one space are in another.

use warpsim_ptx::isa::{Op, Space, Type};
use warpsim_ptx::kernel::{Instr, window};

use super::code::{Decoded, Plan, World};
use super::fault::Fault;
use super::regs::{Regs, Value, Width, dispatch, lanes_of};
use super::state::LANES;

pub(super) fn decode(i: &Instr) -> Option<Plan> {
    match i.op {
        Op::Mov => mov(i),
        // Global and constant addresses are generic ones.
        Op::Cvta if window_of(i.mods.space) == 0 => Some(copy(address_width(i))),
        Op::Cvta => Some(Plan::full(cvta, &[address_width(i)], &[address_width(i)])),
        Op::Isspacep => Some(Plan::full(isspacep, &[Width::Wide], &[Width::Predicate])),
        _ => None,
    }
}

fn address_width(i: &Instr) -> Width {
    if i.mods.types[0] == Some(Type::U32) {
        Width::Narrow
    } else {
        Width::Wide
    }
}

fn mov(i: &Instr) -> Option<Plan> {
    let ty = i.mods.types[0]?;
    if ty == Type::Pred {
        fn run(d: &Decoded, r: &mut Regs<'_>) {
            r.set_predicate(d.pdst[0], r.predicate(d.preds[0]));
        }
        return Some(Plan::alu(run, &[Width::Predicate], &[Width::Predicate]));
    }
    let w = if ty.bytes() == 8 {
        Width::Wide
    } else {
        Width::Narrow
    };
    // A vector of n parts makes up the type: each part is an n-th of it.
    let part = |n: usize| {
        if ty.bytes() as usize / n == 8 {
            Width::Wide
        } else {
            Width::Narrow
        }
    };
    Some(match (i.dst.len(), i.src.len()) {
        (1, 1) => copy(w),
        (1, n @ (2 | 4)) => Plan::full(pack, &[part(n); 4][..n], &[w]),
        (n @ (2 | 4), 1) => Plan::full(unpack, &[w], &[part(n); 4][..n]),
        _ => return None,
    })
}

/// The result is the source.
fn copy(w: Width) -> Plan {
    let run = if w == Width::Wide {
        dispatch!(d, r, r.map1::<u64, u64>(d, |a| a))
    } else {
        dispatch!(d, r, r.map1::<u32, u32>(d, |a| a))
    };
    Plan::alu(run, &[w], &[w])
}

fn pack(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let n = w.cold.instr.src.len();
    let bytes = w.cold.instr.mods.types[0].map_or(8, Type::bytes);
    let bits = bytes * 8 / n as u32;
    let part = u64::MAX >> (64 - bits);
    let mut out = u64::ZERO;
    for lane in 0..LANES {
        let value = (0..n).fold(0, |all, k| {
            all | (u64::from(r.lane::<u32>(d.src[k], lane)) & part) << (bits * k as u32)
        });
        u64::put(&mut out, lane, value);
    }
    store(d, r, 0, &out, bytes == 8);
    Ok(())
}

fn unpack(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let n = w.cold.instr.dst.len();
    let bytes = w.cold.instr.mods.types[0].map_or(8, Type::bytes);
    let bits = bytes * 8 / n as u32;
    let part = u64::MAX >> (64 - bits);
    // Read everything first: a destination may be the source.
    let mut values = [0u64; LANES];
    for (lane, value) in values.iter_mut().enumerate() {
        *value = if bytes == 8 {
            r.lane::<u64>(d.src[0], lane)
        } else {
            u64::from(r.lane::<u32>(d.src[0], lane))
        };
    }
    for k in 0..n {
        let mut out = u64::ZERO;
        for (lane, value) in values.iter().enumerate() {
            u64::put(&mut out, lane, value >> (bits * k as u32) & part);
        }
        store(d, r, k, &out, false);
    }
    Ok(())
}

/// Commits 64-bit lanes to a destination of either width.
pub(super) fn store(
    d: &Decoded,
    r: &mut Regs<'_>,
    k: usize,
    out: &<u64 as Value>::Row,
    wide: bool,
) {
    if wide {
        r.commit::<u64>(d.dst[k], out);
    } else {
        let narrow: [u32; LANES] = std::array::from_fn(|lane| u64::get(out, lane) as u32);
        r.commit::<u32>(d.dst[k], &narrow);
    }
}

/// Start of a space's window of generic addresses; global and constant addresses are generic.
pub(super) fn window_of(space: Option<Space>) -> u64 {
    match space {
        Some(Space::Shared) => window::SHARED,
        Some(Space::Local) => window::LOCAL,
        Some(Space::Param) => window::PARAM,
        _ => 0,
    }
}

fn cvta(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let m = &w.cold.instr.mods;
    let base = window_of(m.space);
    let wide = m.types[0] != Some(Type::U32);
    let mut out = u64::ZERO;
    for lane in lanes_of(r.mask) {
        let a = if wide {
            r.lane::<u64>(d.src[0], lane)
        } else {
            u64::from(r.lane::<u32>(d.src[0], lane))
        };
        let v = if m.to {
            a.wrapping_sub(base)
        } else {
            a.wrapping_add(base)
        };
        u64::put(&mut out, lane, v);
    }
    store(d, r, 0, &out, wide);
    Ok(())
}

fn isspacep(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let space = w.cold.instr.mods.space;
    let mut bits = 0;
    for lane in lanes_of(r.mask) {
        let a = r.lane::<u64>(d.src[0], lane);
        let inside = |start: u64| a.wrapping_sub(start) < window::SIZE;
        let yes = match space {
            Some(Space::Shared) => inside(window::SHARED),
            Some(Space::Local) => inside(window::LOCAL),
            Some(Space::Param) => inside(window::PARAM),
            // Constants live in global memory here, and a pointer to one says so.
            Some(Space::Const) => false,
            _ => !(inside(window::SHARED) || inside(window::LOCAL) || inside(window::PARAM)),
        };
        bits |= u32::from(yes) << lane;
    }
    r.set_predicate(d.pdst[0], bits);
    Ok(())
}
