//! `mov` with packing and unpacking.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;

use crate::fault::Fault;
use crate::op::{Decoded, Plan, Regs, Value, Width, World, dispatch};
use crate::state::LANES;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    match i.op {
        Op::Mov => mov(i),
        _ => None,
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
pub(crate) fn copy(w: Width) -> Plan {
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
    r.commit_bits(d.dst[0], &out, bytes == 8);
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
        r.commit_bits(d.dst[k], &out, false);
    }
    Ok(())
}
