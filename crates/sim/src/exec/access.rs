//! Loads and stores in all spaces.
//!
//! Within one instruction all lanes read, or all lanes write in lane order. This is the long
//! way, lane by lane; most take the short one (`whole.rs`).

use warpsim_ptx::isa::{Op, Space, Type};
use warpsim_ptx::kernel::{Instr, window};

use super::code::{Action, Decoded, Plan, World};
use super::fault::{Fault, FaultKind};
use super::regs::{Regs, Value, Width, lanes_of};
use super::state::{Access, EffectKind};
use super::whole::{self, WholeFn};
use crate::memory::image::AccessError;

pub(super) fn decode(i: &Instr) -> Option<Plan> {
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
            let action = match (i.dst.len(), whole_load(ty?)) {
                (1, Some(whole)) => Action::Access { whole, lanes: load },
                _ => Action::Full(load),
            };
            Some(Plan::new(action, &[Width::None], &[w; 4]))
        }
        Op::St => {
            let w = value(ty?);
            if ty?.bytes() > 8 || !matches!(i.src.len(), 2 | 3 | 5) {
                return None;
            }
            let action = match (i.src.len(), whole_store(ty?)) {
                (2, Some(whole)) => Action::Access {
                    whole,
                    lanes: store,
                },
                _ => Action::Full(store),
            };
            Some(Plan::new(action, &[Width::None, w, w, w, w], &[]))
        }
        // Hints: the address is not even checked.
        Op::Prefetch | Op::Prefetchu => Some(Plan::full(|_, _, _| Ok(()), &[Width::None], &[])),
        _ => None,
    }
}

/// The short way of a scalar load.
fn whole_load(ty: Type) -> Option<WholeFn> {
    Some(match (ty.bytes(), ty.is_signed()) {
        (1, false) => |d, r, reach| whole::load(d, r, reach, u8::from_le_bytes),
        (1, true) => |d, r, reach| whole::load(d, r, reach, i8::from_le_bytes),
        (2, false) => |d, r, reach| whole::load(d, r, reach, u16::from_le_bytes),
        (2, true) => |d, r, reach| whole::load(d, r, reach, i16::from_le_bytes),
        (4, _) => |d, r, reach| whole::load(d, r, reach, u32::from_le_bytes),
        (8, _) => |d, r, reach| whole::load(d, r, reach, u64::from_le_bytes),
        _ => return None,
    })
}

/// The short way of a scalar store.
fn whole_store(ty: Type) -> Option<WholeFn> {
    Some(match ty.bytes() {
        1 => |d, r, reach| whole::store(d, r, reach, |v: u32| [v as u8]),
        2 => |d, r, reach| whole::store(d, r, reach, |v: u32| (v as u16).to_le_bytes()),
        4 => |d, r, reach| whole::store(d, r, reach, u32::to_le_bytes),
        8 => |d, r, reach| whole::store(d, r, reach, u64::to_le_bytes),
        _ => return None,
    })
}

/// Resolves the addresses of the executed lanes into `effect.address` and says which lanes go
/// to shared, global, local and parameter memory.
pub(super) struct Split {
    pub shared: u32,
    pub global: u32,
    pub local: u32,
    pub param: u32,
}

pub(super) fn resolve(d: &Decoded, r: &Regs<'_>, w: &mut World<'_, '_>) -> Split {
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
    let start = super::moves::window_of(Some(space));
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
pub(super) fn fault(
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
pub(super) fn within(
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

/// Range of a lane's local memory in its home warp's.
fn local_range(
    w: &World<'_, '_>,
    lane: usize,
    bytes: usize,
) -> Result<std::ops::Range<usize>, AccessError> {
    let size = w.code.local_bytes() as usize;
    let range = within(w.effect.address[lane], bytes, size)?;
    Ok(lane * size + range.start..lane * size + range.end)
}

/// Loads the bytes of one lane.
fn read_lane(
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
        let result = local_range(w, lane, bytes)
            .map(|range| into.copy_from_slice(&w.threads.warps[home].local[range]));
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
        super::moves::store(d, r, k, out, size == 8);
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
fn write_lane(w: &mut World<'_, '_>, split: &Split, lane: usize, from: &[u8]) -> Result<(), Fault> {
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
        let result = local_range(w, lane, bytes)
            .map(|range| w.threads.warps[home].local[range].copy_from_slice(from));
        (Space::Local, result)
    } else {
        let kind = FaultKind::Other("a kernel parameter cannot be written".to_string());
        return Err(Fault::new(kind, lane, w.lanes.home(lane)));
    };
    done.map_err(|cause| fault(w, lane, space, bytes, true, cause))
}
