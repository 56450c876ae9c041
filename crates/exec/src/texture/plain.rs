//! The short way of the fetch that is used most, of `tex1Dfetch`: all lanes name one texture, which
//! is plain memory, by whole coordinates. What is the same for all lanes is looked at once. Where
//! anything is otherwise, it says so and has changed no register, and the fetch goes lane by lane
//! (`fetch.rs`).

use super::bound::texture_on;
use super::filter;
use crate::grid::Texture;
use crate::memory::store_buffer::GlobalView;
use crate::op::{Decoded, Regs, Value, World};
use crate::state::{LANES, lanes_of};

/// Fetches with one whole coordinate into the first `results` destinations. Returns the bytes of a
/// texel, or `None` where it has to go lane by lane.
pub(super) fn fetch(
    d: &Decoded,
    r: &mut Regs<'_>,
    w: &mut World<'_, '_>,
    results: usize,
) -> Option<u8> {
    if r.mask == 0 {
        return None;
    }
    let first = r.mask.trailing_zeros() as usize % LANES;
    let handles = r.row::<u64>(d.src[0]);
    let handle = u64::get(handles, first);
    if lanes_of(r.mask).any(|lane| u64::get(handles, lane % LANES) != handle) {
        return None;
    }
    let texture = texture_on(d, r, w, first).ok()?;
    if !texture.linear_memory {
        return None;
    }
    let texel = texture.channels * texture.bits / 8;
    let out = match texel {
        1 => texels::<1>(texture, d, r, w),
        2 => texels::<2>(texture, d, r, w),
        4 => texels::<4>(texture, d, r, w),
        8 => texels::<8>(texture, d, r, w),
        16 => texels::<16>(texture, d, r, w),
        _ => None,
    }?;
    for (&dst, out) in d.dst.iter().zip(&out).take(results) {
        r.commit::<u32>(dst, out);
    }
    Some(texel)
}

/// The components of every lane's texel of `N` bytes; zeros for those it does not have, and for
/// lanes outside the texture. Leaves the addresses of the others in the effect.
fn texels<const N: usize>(
    texture: &Texture,
    d: &Decoded,
    r: &Regs<'_>,
    w: &mut World<'_, '_>,
) -> Option<[[u32; LANES]; 4]> {
    let index = r.row::<u32>(d.src[1]);
    let piece = w.memory.find(texture.address, N)?;
    let (start, data) = w.memory.contents(piece);
    // A negative coordinate is beyond any texture, too.
    let size = texture.size[0].min(i32::MAX as u32);
    let mut out = [[0; LANES]; 4];
    for lane in lanes_of(r.mask).map(|lane| lane % LANES) {
        if index[lane] >= size {
            continue;
        }
        let address = texture.address + u64::from(index[lane]) * N as u64;
        let mut bytes: [u8; N] = *data.get((address - start) as usize..)?.first_chunk()?;
        let lines = GlobalView::line_bit(address) | GlobalView::line_bit(address + N as u64 - 1);
        if w.memory.may_overlay(lines) {
            w.memory.overlay(address, &mut bytes);
        }
        w.effect.address[lane] = address;
        let mut put = |channel: usize, raw: u32| {
            out[channel % 4][lane] = filter::component(texture, raw);
        };
        match texture.bits {
            32 => each(&bytes, |channel, b| put(channel, u32::from_le_bytes(b))),
            16 => each(&bytes, |channel, b| {
                put(channel, u16::from_le_bytes(b).into())
            }),
            _ => each(&bytes, |channel, [b]| put(channel, b.into())),
        }
    }
    Some(out)
}

/// Calls `f` with every component of `B` bytes and its number.
#[inline(always)]
fn each<const N: usize, const B: usize>(bytes: &[u8; N], mut f: impl FnMut(usize, [u8; B])) {
    let (components, _) = bytes.as_chunks::<B>();
    for (channel, component) in components.iter().enumerate() {
        f(channel, *component);
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
