//! Loads and stores of one value per lane, the short way: all lanes lie in one piece of memory,
//! which is looked for and checked once. Where that is not so, [`load`] and [`store`] change
//! no register and no memory and say `false`, and the instruction goes lane by lane
//! (`load_store.rs`).

use warpsim_ptx::isa::Space;

use crate::exec::memory::store_buffer::GlobalView;
use crate::exec::op::{Decoded, Reach, Regs, Src, Value};
use crate::exec::state::{Access, EffectKind, LANES, lanes_of};

/// Where the lanes of an access lie.
struct Extent {
    /// Distance of the furthest lane from the start of its piece of memory.
    furthest: u64,
    /// Bits that are set in any address.
    bits: u64,
    /// The 128-byte lines touched, see [`GlobalView::may_overlay`]; none but in global memory.
    lines: u64,
}

impl Extent {
    /// Whether every lane's `bytes` bytes are aligned and within the first `size`.
    #[inline(always)]
    fn fits(&self, bytes: usize, size: usize) -> bool {
        self.bits & (bytes as u64 - 1) == 0
            && self.furthest < size as u64
            && bytes as u64 <= size as u64 - self.furthest
    }
}

/// Calls `f` with every lane of the mask.
#[inline(always)]
fn each_lane(mask: u32, mut f: impl FnMut(usize)) {
    if mask == u32::MAX {
        (0..LANES).for_each(f);
    } else {
        lanes_of(mask).for_each(|lane| f(lane % LANES));
    }
}

/// The address on one lane.
#[inline(always)]
fn address_of(d: &Decoded, r: &Regs<'_>, lane: usize) -> u64 {
    if d.wide_address {
        r.lane::<u64>(d.src[0], lane).wrapping_add_signed(d.offset)
    } else {
        u64::from(r.lane::<u32>(d.src[0], lane).wrapping_add(d.offset as u32))
    }
}

/// Fills in the addresses of the executed lanes, in a piece of memory that begins at `start`
/// (in global memory not at 0).
#[inline(always)]
fn spread(d: &Decoded, r: &Regs<'_>, start: u64, address: &mut [u64; LANES]) -> Extent {
    let mut extent = Extent {
        furthest: 0,
        bits: 0,
        lines: 0,
    };
    let mut see = |lane: usize, a: u64| {
        address[lane] = a;
        extent.furthest = extent.furthest.max(a.wrapping_sub(start));
        extent.bits |= a;
        if start != 0 {
            extent.lines |= GlobalView::line_bit(a);
        }
    };
    if d.wide_address {
        let row = r.row::<u64>(d.src[0]);
        each_lane(r.mask, |l| {
            see(l, u64::get(row, l).wrapping_add_signed(d.offset))
        });
    } else {
        let row = r.row::<u32>(d.src[0]);
        let offset = d.offset as u32;
        each_lane(r.mask, |l| see(l, u64::from(row[l].wrapping_add(offset))));
    }
    extent
}

/// What the access was, for timing: all lanes in the instruction's space, or generic addresses
/// of global memory.
fn access(d: &Decoded, store: bool, bytes: usize, mask: u32) -> EffectKind {
    let lanes = |here: bool| if here { mask } else { 0 };
    let space = d.space;
    EffectKind::Access(Access {
        store,
        shared_atomic: false,
        element: bytes as u8,
        count: 1,
        shared: lanes(space == Space::Shared),
        global: lanes(!matches!(
            space,
            Space::Shared | Space::Param | Space::Const
        )),
        local: 0,
        other: match space {
            Space::Param | Space::Const => space,
            _ => Space::Generic,
        },
    })
}

/// Loads a `T` of `N` bytes per lane.
#[inline(always)]
pub(crate) fn load<T: Value, const N: usize>(
    d: &Decoded,
    r: &mut Regs<'_>,
    reach: &mut Reach<'_, '_>,
    value: impl Fn([u8; N]) -> T,
) -> bool {
    let mask = r.mask;
    let first = address_of(d, r, mask.trailing_zeros() as usize % LANES);
    let (start, data): (u64, &[u8]) = match d.space {
        Space::Shared => (0, reach.shared),
        Space::Param => (0, reach.params),
        Space::Local => return false,
        _ => match reach.memory.find(first, N) {
            Some(index) => reach.memory.contents(index),
            None => return false,
        },
    };
    let address = &mut reach.effect.address;
    let at = |a: u64| {
        let at = (a - start) as usize;
        *data[at..].first_chunk().expect("checked for all lanes")
    };
    if matches!(d.src[0], Src::Pool(_)) {
        // One address for all lanes.
        let extent = Extent {
            furthest: first.wrapping_sub(start),
            bits: first,
            lines: GlobalView::line_bit(first),
        };
        let overlaid = start != 0 && reach.memory.may_overlay(extent.lines);
        if overlaid || !extent.fits(N, data.len()) {
            return false;
        }
        address.fill(first);
        let value = value(at(first));
        if let Some(row) = r.result::<T>(d.dst[0]) {
            each_lane(mask, |lane| T::put(row, lane, value));
        }
    } else {
        let extent = spread(d, r, start, address);
        if !extent.fits(N, data.len()) {
            return false;
        }
        let overlaid = start != 0 && reach.memory.may_overlay(extent.lines);
        if let Some(row) = r.result::<T>(d.dst[0]) {
            each_lane(mask, |lane| {
                let mut bytes = at(address[lane]);
                if overlaid {
                    reach.memory.overlay(address[lane], &mut bytes);
                }
                T::put(row, lane, value(bytes));
            });
        }
    }
    reach.effect.kind = access(d, false, N, mask);
    true
}

/// Stores the `N` low bytes of a `T` a lane, in the order of lanes.
#[inline(always)]
pub(crate) fn store<T: Value, const N: usize>(
    d: &Decoded,
    r: &mut Regs<'_>,
    reach: &mut Reach<'_, '_>,
    bytes: impl Fn(T) -> [u8; N],
) -> bool {
    let mask = r.mask;
    let first = address_of(d, r, mask.trailing_zeros() as usize % LANES);
    let address = &mut reach.effect.address;
    let row = r.row::<T>(d.src[1]);
    let value = |lane: usize| bytes(T::get(row, lane));
    match d.space {
        Space::Shared => {
            if !spread(d, r, 0, address).fits(N, reach.shared.len()) {
                return false;
            }
            each_lane(mask, |lane| {
                let at = address[lane] as usize;
                reach.shared[at..at + N].copy_from_slice(&value(lane));
            });
        }
        Space::Local | Space::Param => return false,
        _ => {
            let Some(index) = reach.memory.find(first, N) else {
                return false;
            };
            let (start, data) = reach.memory.contents(index);
            let constant = reach.memory.memory().is_constant(index);
            if constant || !spread(d, r, start, address).fits(N, data.len()) {
                return false;
            }
            each_lane(mask, |lane| {
                reach.memory.put(index, address[lane], value(lane));
            });
        }
    }
    reach.effect.kind = access(d, true, N, mask);
    true
}

#[cfg(test)]
#[path = "all_lanes_tests.rs"]
mod tests;
