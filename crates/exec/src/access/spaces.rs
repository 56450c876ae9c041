//! State spaces: which one an address lies in, and what it is in another.

use warpsim_ptx::isa::{Op, Space, Type};
use warpsim_ptx::kernel::{Instr, window};

use crate::arith::mov;
use crate::fault::{Fault, FaultKind};
use crate::memory::image::AccessError;
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::lanes_of;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    match i.op {
        // Global and constant addresses are generic ones.
        Op::Cvta if window_of(i.mods.space) == 0 => Some(mov::copy(address_width(i))),
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

/// Start of a space's window of generic addresses; global and constant addresses are generic.
pub(crate) fn window_of(space: Option<Space>) -> u64 {
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
    r.commit_bits(d.dst[0], &out, wide);
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

/// Which lanes go to shared, global, local and parameter memory.
pub(crate) struct Split {
    pub shared: u32,
    pub global: u32,
    pub local: u32,
    pub param: u32,
}

/// Resolves the addresses of the executed lanes into `effect.address` and splits the lanes by
/// space.
pub(crate) fn resolve(d: &Decoded, r: &Regs<'_>, w: &mut World<'_, '_>) -> Split {
    let mask = r.mask;
    let space = d.space;
    let address = &mut w.effect.address;
    if d.wide_address {
        let row = r.row::<u64>(d.src[0]);
        for (lane, a) in address.iter_mut().enumerate() {
            *a = u64::get(row, lane).wrapping_add_signed(d.offset);
        }
    } else {
        let row = r.row::<u32>(d.src[0]);
        for (lane, a) in address.iter_mut().enumerate() {
            *a = u64::from(row[lane].wrapping_add(d.offset as u32));
        }
    }
    let mut split = Split {
        shared: 0,
        global: 0,
        local: 0,
        param: 0,
    };
    match space {
        Space::Shared => split.shared = mask,
        Space::Local => split.local = mask,
        Space::Param => split.param = mask,
        Space::Generic => {
            for lane in lanes_of(mask) {
                let a = &mut address[lane];
                let bit = 1 << lane;
                if *a < window::SHARED {
                    split.global |= bit;
                } else if *a - window::SHARED < window::SIZE {
                    *a -= window::SHARED;
                    split.shared |= bit;
                } else if *a - window::LOCAL < window::SIZE {
                    *a -= window::LOCAL;
                    split.local |= bit;
                } else if *a - window::PARAM < window::SIZE {
                    *a -= window::PARAM;
                    split.param |= bit;
                } else {
                    split.global |= bit;
                }
            }
            return split;
        }
        _ => split.global = mask,
    }
    // A space's own addresses may also be given as they appear in the generic window.
    let start = window_of(Some(space));
    if start != 0 {
        for a in address.iter_mut() {
            if a.wrapping_sub(start) < window::SIZE {
                *a -= start;
            }
        }
    }
    split
}

/// A fault of the access on `lane`.
pub(crate) fn fault(
    w: &World<'_, '_>,
    lane: usize,
    space: Space,
    bytes: usize,
    store: bool,
    cause: AccessError,
) -> Fault {
    Fault::new(
        FaultKind::Memory {
            space,
            address: w.effect.address[lane],
            bytes: bytes as u32,
            store,
            cause,
        },
        lane,
        w.lanes.home(lane),
    )
}

/// The bytes of a space of known size.
pub(crate) fn within(
    address: u64,
    bytes: usize,
    size: usize,
) -> Result<std::ops::Range<usize>, AccessError> {
    if !address.is_multiple_of(bytes as u64) {
        return Err(AccessError::Misaligned);
    }
    match address.checked_add(bytes as u64) {
        Some(end) if end <= size as u64 => Ok(address as usize..end as usize),
        _ => Err(AccessError::BeyondSpace { size: size as u64 }),
    }
}
