//! Loads and stores in all spaces.
//!
//! Within one instruction all lanes read, or all lanes write in lane order. This is the long
//! way, lane by lane; most take the short one ([`all_lanes`]).

use warpsim_ptx::isa::{Op, Space, Type};
use warpsim_ptx::kernel::Instr;

use super::all_lanes;
use super::spaces::{Split, fault, resolve, within};
use crate::fault::{Fault, FaultKind};
use crate::memory::image::AccessError;
use crate::op::{Action, AllLanesFn, Decoded, Plan, Regs, Value, Width, World};
use crate::state::{Access, EffectKind, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let ty = i.mods.types[0];
    let value = |ty: Type| {
        if ty.bytes() == 8 {
            Width::Wide
        } else {
            Width::Narrow
        }
    };
    match i.op {
        Op::Ld | Op::Ldu => {
            let w = value(ty?);
            if ty?.bytes() > 8 || !matches!(i.dst.len(), 1 | 2 | 4) {
                return None;
            }
            let action = match load_all_lanes(ty?, i.dst.len()) {
                Some(all_lanes) => Action::Access {
                    all_lanes,
                    by_lane: load,
                },
                None => Action::Full(load),
            };
            Some(Plan::new(action, &[Width::None], &[w; 4]))
        }
        Op::St => {
            let w = value(ty?);
            if ty?.bytes() > 8 || !matches!(i.src.len(), 2 | 3 | 5) {
                return None;
            }
            let action = match (i.src.len(), store_all_lanes(ty?)) {
                (2, Some(all_lanes)) => Action::Access {
                    all_lanes,
                    by_lane: store,
                },
                _ => Action::Full(store),
            };
            Some(Plan::new(action, &[Width::None, w, w, w, w], &[]))
        }
        Op::Prefetch | Op::Prefetchu => Some(Plan::full(prefetch, &[Width::None], &[])),
        _ => None,
    }
}

/// The short way of a load of so many values.
fn load_all_lanes(ty: Type, count: usize) -> Option<AllLanesFn> {
    use all_lanes::load_vector as vector;
    Some(match (ty.bytes(), count) {
        (_, 1) => return load_one_all_lanes(ty),
        (4, 2) => |d, r, reach| vector::<_, 4, 8>(d, r, reach, u32::from_le_bytes),
        (4, 4) => |d, r, reach| vector::<_, 4, 16>(d, r, reach, u32::from_le_bytes),
        (8, 2) => |d, r, reach| vector::<_, 8, 16>(d, r, reach, u64::from_le_bytes),
        (8, 4) => |d, r, reach| vector::<_, 8, 32>(d, r, reach, u64::from_le_bytes),
        _ => return None,
    })
}

/// The short way of a scalar load.
fn load_one_all_lanes(ty: Type) -> Option<AllLanesFn> {
    Some(match (ty.bytes(), ty.is_signed()) {
        (1, false) => |d, r, reach| all_lanes::load(d, r, reach, u8::from_le_bytes),
        (1, true) => |d, r, reach| all_lanes::load(d, r, reach, i8::from_le_bytes),
        (2, false) => |d, r, reach| all_lanes::load(d, r, reach, u16::from_le_bytes),
        (2, true) => |d, r, reach| all_lanes::load(d, r, reach, i16::from_le_bytes),
        (4, _) => |d, r, reach| all_lanes::load(d, r, reach, u32::from_le_bytes),
        (8, _) => |d, r, reach| all_lanes::load(d, r, reach, u64::from_le_bytes),
        _ => return None,
    })
}

/// The short way of a scalar store.
fn store_all_lanes(ty: Type) -> Option<AllLanesFn> {
    Some(match ty.bytes() {
        1 => |d, r, reach| all_lanes::store(d, r, reach, |v: u32| [v as u8]),
        2 => |d, r, reach| all_lanes::store(d, r, reach, |v: u32| (v as u16).to_le_bytes()),
        4 => |d, r, reach| all_lanes::store(d, r, reach, u32::to_le_bytes),
        8 => |d, r, reach| all_lanes::store(d, r, reach, u64::to_le_bytes),
        _ => return None,
    })
}

/// Loads the bytes of one lane.
pub(crate) fn read_lane(
    w: &mut World<'_, '_>,
    split: &Split,
    lane: usize,
    into: &mut [u8],
) -> Result<(), Fault> {
    let bit = 1u32 << lane;
    let address = w.effect.address[lane];
    let bytes = into.len();
    let home = usize::from(w.lanes.home(lane));
    let (space, done) = if split.global & bit != 0 {
        let result = if !address.is_multiple_of(bytes as u64) {
            Err(AccessError::Misaligned)
        } else {
            w.memory.load(address, into)
        };
        (Space::Global, result)
    } else if split.shared & bit != 0 {
        let block = usize::from(w.threads.warps[home].block);
        let shared = &w.threads.blocks[block].shared;
        let result =
            within(address, bytes, shared.len()).map(|range| into.copy_from_slice(&shared[range]));
        (Space::Shared, result)
    } else if split.local & bit != 0 {
        let local = &w.threads.warps[home].local;
        let result =
            within(address, bytes, local.size()).map(|range| local.read(lane, range.start, into));
        (Space::Local, result)
    } else {
        let params = &w.grid.params;
        let result =
            within(address, bytes, params.len()).map(|range| into.copy_from_slice(&params[range]));
        (Space::Param, result)
    };
    done.map_err(|cause| fault(w, lane, space, bytes, false, cause))
}

fn access(
    store: bool,
    element: usize,
    count: usize,
    split: &Split,
    space: Option<Space>,
) -> Access {
    Access {
        store,
        shared_atomic: false,
        steps: None,
        element: element as u8,
        count: count as u8,
        shared: split.shared,
        global: if space == Some(Space::Const) {
            0
        } else {
            split.global
        },
        local: split.local,
        other: match space {
            Some(Space::Const) => Space::Const,
            _ if split.param != 0 => Space::Param,
            _ => Space::Generic,
        },
    }
}

/// Extends an element to the 64 bits of a temporary lane.
fn extend(value: u64, ty: Type) -> u64 {
    let shift = 64 - 8 * ty.bytes();
    if ty.is_signed() {
        ((value << shift) as i64 >> shift) as u64
    } else {
        value
    }
}

fn element(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

fn load(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let ty = instr.mods.types[0].unwrap_or(Type::B32);
    let count = instr.dst.len();
    let size = ty.bytes() as usize;
    let bytes = size * count;
    let split = resolve(d, r, w);
    let mask = r.mask;
    w.effect.kind = EffectKind::Access(access(false, size, count, &split, instr.mods.space));

    let mut out = [<u64 as Value>::ZERO; 4];
    let mut buffer = [0u8; 32];
    for lane in lanes_of(mask) {
        read_lane(w, &split, lane, &mut buffer[..bytes])?;
        for (k, out) in out.iter_mut().enumerate().take(count) {
            let value = element(&buffer[k * size..(k + 1) * size]);
            u64::put(out, lane, extend(value, ty));
        }
    }
    for (k, out) in out.iter().enumerate().take(count) {
        r.commit_bits(d.dst[k], out, size == 8);
    }
    Ok(())
}

/// Asks for lines. Where there is no memory, nothing happens, nor for shared memory and parameters, which have no lines.
fn prefetch(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let mut split = resolve(d, r, w);
    // The uniform cache has lines of global memory alone.
    split.local &= if instr.op == Op::Prefetchu { 0 } else { !0 };
    (split.shared, split.param) = (0, 0);
    for lane in lanes_of(split.global | split.local) {
        if read_lane(w, &split, lane, &mut [0]).is_err() {
            split.global &= !(1 << lane);
            split.local &= !(1 << lane);
        }
    }
    if split.global | split.local != 0 {
        w.effect.kind = EffectKind::Prefetch(access(false, 1, 1, &split, None));
    }
    Ok(())
}

fn store(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let ty = instr.mods.types[0].unwrap_or(Type::B32);
    let count = instr.src.len() - 1;
    let size = ty.bytes() as usize;
    let bytes = size * count;
    let split = resolve(d, r, w);
    w.effect.kind = EffectKind::Access(access(true, size, count, &split, instr.mods.space));
    let mask = r.mask;
    let mut buffer = [0u8; 32];
    let fill = |buffer: &mut [u8; 32], lane: usize| {
        for k in 0..count {
            let value = if size == 8 {
                r.lane::<u64>(d.src[k + 1], lane)
            } else {
                u64::from(r.lane::<u32>(d.src[k + 1], lane))
            };
            buffer[k * size..(k + 1) * size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    };
    for lane in lanes_of(mask) {
        fill(&mut buffer, lane);
        write_lane(w, &split, lane, &buffer[..bytes])?;
    }
    Ok(())
}

/// Stores the bytes of one lane.
pub(crate) fn write_lane(
    w: &mut World<'_, '_>,
    split: &Split,
    lane: usize,
    from: &[u8],
) -> Result<(), Fault> {
    let bit = 1u32 << lane;
    let address = w.effect.address[lane];
    let bytes = from.len();
    let home = usize::from(w.lanes.home(lane));
    let (space, done) = if split.global & bit != 0 {
        let result = if !address.is_multiple_of(bytes as u64) {
            Err(AccessError::Misaligned)
        } else {
            w.memory.store(address, from)
        };
        (Space::Global, result)
    } else if split.shared & bit != 0 {
        let block = usize::from(w.threads.warps[home].block);
        let shared = &mut w.threads.blocks[block].shared;
        let result =
            within(address, bytes, shared.len()).map(|range| shared[range].copy_from_slice(from));
        (Space::Shared, result)
    } else if split.local & bit != 0 {
        let local = &mut w.threads.warps[home].local;
        let result =
            within(address, bytes, local.size()).map(|range| local.write(lane, range.start, from));
        (Space::Local, result)
    } else {
        let kind = FaultKind::Other("a kernel parameter cannot be written".to_string());
        return Err(Fault::new(kind, lane, w.lanes.home(lane)));
    };
    done.map_err(|cause| fault(w, lane, space, bytes, true, cause))
}
