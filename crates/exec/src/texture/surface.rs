//! Surfaces: textures that are read and written as they lie in memory. The first coordinate counts
//! bytes, and texels where the access is formatted ([`formatted`]). What a thread does outside a
//! surface is in the instruction: a fault (`.trap`), the nearest place inside (`.clamp`), or zeros
//! read and nothing written (`.zero`).

use warpsim_ptx::isa::{Geometry, Mode, Op, Space, Type};
use warpsim_ptx::kernel::Instr;

use super::bound::texture_on;
use super::formatted;
use crate::access::spaces::fault;
use crate::fault::{Fault, FaultKind};
use crate::grid::Texture;
use crate::memory::image::AccessError;
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::{Access, Atomic, EffectKind, LANES, lanes_of};

/// Where the values to be stored begin among the sources: behind the surface and three coordinates.
const VALUES: usize = 4;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let n = Width::Narrow;
    let value = match i.mods.types[0]?.bytes() {
        8 => Width::Wide,
        _ => n,
    };
    let first = [Width::Wide, n, n, n];
    Some(match i.op {
        Op::Suld => Plan::full(load, &first, &[value; 4]),
        Op::Sust if i.mods.formatted => Plan::many(store_formatted, &first, value),
        Op::Sust => Plan::many(store, &first, value),
        Op::Sured => Plan::full(reduce, &[first[0], n, n, n, value], &[]),
        Op::Txq | Op::Suq => Plan::full(query, &[Width::Wide], &[n]),
        _ => return None,
    })
}

/// Where a thread's access lies, if it takes place at all.
fn place(
    d: &Decoded,
    r: &Regs<'_>,
    w: &mut World<'_, '_>,
    lane: usize,
    bytes: u64,
) -> Result<Option<u64>, Fault> {
    let texture = texture_on(d, r, w, lane)?;
    let instr = &w.cold.instr;
    let mut at: [i64; 3] = std::array::from_fn(|k| r.lane::<u32>(d.src[k + 1], lane) as i32 as i64);
    match instr.mods.geometry {
        // The layer stands first; a layer of lines lies where a line of a picture would. It has 16 bits and
        // no sign, so that those below 0 are beyond the last.
        Some(Geometry::A1d) => at = [at[1], at[0] & 0xffff, 0],
        Some(Geometry::A2d) => at = [at[1], at[2], at[0] & 0xffff],
        _ => {}
    }
    let pixel = texel_bytes(texture);
    if instr.mods.formatted {
        at[0] *= pixel as i64;
    }
    let size = extent(texture);
    let line = size[0] * pixel;
    let limits = [line.saturating_sub(bytes - 1), size[1], size[2]].map(|n| n as i64);
    let inside = (0..3).all(|k| (0..limits[k].max(0)).contains(&at[k]));
    if !inside {
        match instr.mods.mode {
            Some(Mode::Clamp) => {
                for (at, limit) in at.iter_mut().zip(limits) {
                    *at = (*at).clamp(0, (limit - 1).max(0));
                }
                at[0] -= at[0] % bytes as i64;
            }
            Some(Mode::Zero) => return Ok(None),
            _ => {
                let text = format!(
                    "{} at byte {}, line {}, slice {} of a surface of {line} bytes, {} lines and {} slices",
                    instr.op.text(),
                    at[0],
                    at[1],
                    at[2],
                    size[1],
                    size[2]
                );
                return Err(Fault::new(FaultKind::Other(text), lane, w.lanes.home(lane)));
            }
        }
    }
    let number = (at[2] as u64 * size[1] + at[1] as u64) * line + at[0] as u64;
    let address = texture.address + number;
    w.effect.address[lane] = address;
    if !address.is_multiple_of(bytes) {
        let store = instr.op != Op::Suld;
        let cause = AccessError::Misaligned;
        return Err(fault(w, lane, Space::Global, bytes as usize, store, cause));
    }
    Ok(Some(address))
}

fn texel_bytes(texture: &Texture) -> u64 {
    u64::from(texture.channels) * u64::from(texture.bits) / 8
}

fn extent(texture: &Texture) -> [u64; 3] {
    texture.size.map(|n| u64::from(n.max(1)))
}

fn access(store: bool, element: u32, count: usize, lanes: u32) -> EffectKind {
    EffectKind::Access(Access {
        store,
        shared_atomic: false,
        steps: None,
        element: element as u8,
        count: count as u8,
        shared: 0,
        global: lanes,
        local: 0,
        other: Space::Generic,
    })
}

fn load(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let ty = instr.mods.types[0].unwrap_or(Type::B32);
    let (size, count) = (ty.bytes() as usize, instr.dst.len());
    let mut out = [<u64 as Value>::ZERO; 4];
    let mut lanes = 0;
    for lane in lanes_of(r.mask) {
        let bytes = size * count;
        let Some(address) = place(d, r, w, lane, bytes as u64)? else {
            continue;
        };
        lanes |= 1 << lane;
        let mut data = [0u8; 32];
        let loaded = w.memory.load(address, &mut data[..bytes]);
        loaded.map_err(|cause| fault(w, lane, Space::Global, bytes, false, cause))?;
        for (out, part) in out.iter_mut().zip(data[..bytes].chunks_exact(size)) {
            let mut word = [0u8; 8];
            word[..size].copy_from_slice(part);
            u64::put(out, lane, u64::from_le_bytes(word));
        }
    }
    for (dst, out) in d.dst.iter().zip(&out).take(count) {
        r.commit_bits(*dst, out, size == 8);
    }
    w.effect.kind = access(false, ty.bytes(), count, lanes);
    Ok(())
}

fn store(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let ty = cold.instr.mods.types[0].unwrap_or(Type::B32);
    let values = &cold.sources[VALUES..];
    let (size, bytes) = (ty.bytes() as usize, ty.bytes() as usize * values.len());
    let mut lanes = 0;
    for lane in lanes_of(r.mask) {
        let Some(address) = place(d, r, w, lane, bytes as u64)? else {
            continue;
        };
        lanes |= 1 << lane;
        let mut data = [0u8; 32];
        for (place, value) in data.chunks_exact_mut(size).zip(values) {
            let value = if size == 8 {
                r.lane::<u64>(*value, lane)
            } else {
                u64::from(r.lane::<u32>(*value, lane))
            };
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        let stored = w.memory.store(address, &data[..bytes]);
        stored.map_err(|cause| fault(w, lane, Space::Global, bytes, true, cause))?;
    }
    w.effect.kind = access(true, ty.bytes(), values.len(), lanes);
    Ok(())
}

/// `sust.p`: each value becomes a component of the texel. Components that are not given are 0.
fn store_formatted(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let values = &cold.sources[VALUES..];
    let (mut lanes, mut element, mut count) = (0, 4, 1);
    for lane in lanes_of(r.mask) {
        let texture = texture_on(d, r, w, lane)?;
        let bytes = texel_bytes(texture) as usize;
        let Some(address) = place(d, r, w, lane, bytes as u64)? else {
            continue;
        };
        lanes |= 1 << lane;
        (element, count) = (u32::from(texture.bits) / 8, usize::from(texture.channels));
        let mut data = [0u8; 16];
        let parts = data[..bytes].chunks_exact_mut(element as usize);
        for (part, value) in parts.zip(values) {
            let stored = formatted::component(texture, r.lane::<u32>(*value, lane));
            part.copy_from_slice(&stored.to_le_bytes()[..element as usize]);
        }
        let stored = w.memory.store(address, &data[..bytes]);
        stored.map_err(|cause| fault(w, lane, Space::Global, bytes, true, cause))?;
    }
    w.effect.kind = access(true, element, count, lanes);
    Ok(())
}

fn reduce(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mods = w.cold.instr.mods;
    let mut ty = mods.types[0].unwrap_or(Type::U32);
    let mut lanes = 0;
    for lane in lanes_of(r.mask) {
        if mods.formatted {
            ty = formatted::reduced(texture_on(d, r, w, lane)?, ty);
        }
        if place(d, r, w, lane, u64::from(ty.bytes()))?.is_some() {
            lanes |= 1 << lane;
        }
        w.effect.operands[0][lane] = if ty.bytes() == 8 {
            r.lane::<u64>(d.src[VALUES], lane)
        } else {
            u64::from(r.lane::<u32>(d.src[VALUES], lane))
        };
    }
    // Those outside take no part.
    w.effect.executed = lanes;
    if let (Some(op), true) = (mods.atom, lanes != 0) {
        w.effect.kind = EffectKind::Atomic(Atomic { op, ty, dst: None });
    }
    Ok(())
}

/// `txq` and `suq`.
fn query(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mode = w.cold.instr.mods.mode;
    let texture_query = w.cold.instr.op == Op::Txq;
    let mut out = [0u32; LANES];
    for lane in lanes_of(r.mask) {
        let texture = texture_on(d, r, w, lane)?;
        // Dimensions that it does not have are 0 to the hardware, but a texture of one is 1 high.
        let along = |axis: usize| match axis < usize::from(texture.dimensions) {
            true => texture.size[axis],
            false => u32::from(texture_query && axis == 1),
        };
        out[lane] = match mode {
            Some(Mode::Width) => along(0),
            Some(Mode::Height) => along(1),
            Some(Mode::Depth) => along(2),
            _ => u32::from(texture.normalized),
        };
    }
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}
