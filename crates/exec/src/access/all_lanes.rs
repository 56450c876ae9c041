//! Loads and stores of one value per lane, and loads of several, the short way: all lanes lie in one piece of memory,
//! which is looked for and checked once. Where that is not so, [`load`] and [`store`] change
//! no register and no memory and say `false`, and the instruction goes lane by lane
//! (`load_store.rs`).

use warpsim_ptx::isa::Space;

use crate::memory::store_buffer::GlobalView;
use crate::op::{Decoded, Reach, Regs, Src, Value};
use crate::state::{Access, EffectKind, LANES, lanes_of};

/// Lanes that are looked at together: half a warp, as blocks are often 16 threads wide.
const HALF: usize = LANES / 2;

/// By how many bytes each lane of the first and of the second half of a warp is behind the one before it.
type Steps = [u16; 2];

macro_rules! step {
    ($name:ident, $word:ty) => {
        /// The step of a half, if it is the same for all and none, or `N` bytes.
        #[inline(always)]
        fn $name<const N: usize>(lanes: &[$word; HALF]) -> Option<u16> {
            let has = |step: usize| {
                let expected = |lane: usize| lanes[0].wrapping_add((step * lane) as $word);
                let lanes = lanes.iter().enumerate();
                lanes.fold(0, |astray, (lane, a)| astray | a ^ expected(lane)) == 0
            };
            // The first two lanes tell what to look for. Steps that are known are what becomes vectors.
            match lanes[1].wrapping_sub(lanes[0]) {
                0 if has(0) => Some(0),
                step if step == N as $word && has(N) => Some(N as u16),
                _ => None,
            }
        }
    };
}

step!(step_of_words, u32);
step!(step_of_addresses, u64);

/// Calls `f` with every lane of the mask.
#[inline(always)]
fn each_lane(mask: u32, f: impl FnMut(usize)) {
    if mask == u32::MAX {
        (0..LANES).for_each(f);
    } else {
        each_of(mask, f);
    }
}

/// The same where they are not all.
#[inline(always)]
fn each_of(mask: u32, mut f: impl FnMut(usize)) {
    lanes_of(mask).for_each(|lane| f(lane % LANES));
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

/// Fills in the addresses of the executed lanes, in a piece of memory that begins at `start` and has
/// `size` bytes, if every lane's `N` bytes are aligned and within it. Returns the steps they are in, if they are
/// all lanes and in such.
#[inline(always)]
fn spread<const N: usize>(
    d: &Decoded,
    r: &Regs<'_>,
    start: u64,
    size: usize,
    address: &mut [u64; LANES],
) -> Option<Option<Steps>> {
    let mut extent = Extent::new(N, start, size);
    // All lanes are computed at once, then checked; of some, one after the other, each is seen to at once.
    let all = r.mask == u32::MAX;
    let mut steps: Option<Steps> = None;
    if d.wide_address {
        let row = r.row::<u64>(d.src[0]);
        let of = |l: usize| u64::get(row, l).wrapping_add_signed(d.offset);
        if all {
            (0..LANES).for_each(|l| address[l] = of(l));
            let [low, high] = halves_of(address);
            if let Some(low) = step_of_addresses::<N>(low)
                && let Some(high) = step_of_addresses::<N>(high)
            {
                steps = Some([low, high]);
            }
        } else {
            each_of(r.mask, |l| extent.see_at(of(l), &mut address[l]));
        }
    } else {
        let row = r.row::<u32>(d.src[0]);
        let offset = d.offset as u32;
        let of = |l: usize| u64::from(row[l].wrapping_add(offset));
        if all {
            (0..LANES).for_each(|l| address[l] = of(l));
            let [low, high] = halves_of(row);
            // No lane's 32 bits may overflow where those before it did not.
            if let Some(low) = step_of_words::<N>(low)
                && let Some(high) = step_of_words::<N>(high)
                && address[0] <= address[HALF - 1]
                && address[HALF] <= address[LANES - 1]
            {
                steps = Some([low, high]);
            }
        } else {
            each_of(r.mask, |l| extent.see_at(of(l), &mut address[l]));
        }
    }
    if steps.is_some() {
        // What lies between two addresses of a piece is in it.
        [0, HALF - 1, HALF, LANES - 1]
            .iter()
            .for_each(|l| extent.see(address[*l]));
    } else if all {
        address.iter().for_each(|a| extent.see(*a));
    }
    extent.fits().then_some(steps)
}

/// Whether accesses of some bytes are aligned and within a piece of memory, found without a branch
/// per lane.
struct Extent {
    start: u64,
    /// The last place for an access, from the start.
    last: u64,
    /// Bits that have to be clear in every address.
    unaligned: u64,
    bits: u64,
    /// The highest bit is set once one is outside.
    outside: u64,
}

impl Extent {
    #[inline(always)]
    fn new(bytes: usize, start: u64, size: usize) -> Extent {
        let last = (size as u64).checked_sub(bytes as u64);
        Extent {
            start,
            last: last.unwrap_or(0),
            unaligned: bytes as u64 - 1,
            bits: 0,
            outside: if last.is_some() { 0 } else { 1 << 63 },
        }
    }

    #[inline(always)]
    fn see(&mut self, address: u64) {
        // Pieces are smaller than half of all there is.
        let at = address.wrapping_sub(self.start);
        self.outside |= at | self.last.wrapping_sub(at);
        self.bits |= address;
    }

    #[inline(always)]
    fn see_at(&mut self, address: u64, at: &mut u64) {
        *at = address;
        self.see(address);
    }

    #[inline(always)]
    fn fits(&self) -> bool {
        self.bits & self.unaligned == 0 && self.outside >> 63 == 0
    }
}

/// Whether a buffered store can lie over what one of the lanes reads, all of them in an array of so many bytes at `start`.
#[inline(always)]
fn is_overlaid(
    memory: &GlobalView<'_>,
    (start, bytes): (u64, usize),
    address: &[u64; LANES],
    mask: u32,
) -> bool {
    // Mostly there is none at all, or all are elsewhere.
    memory.may_overlay_within(start, start + bytes as u64) && {
        let mut lines = 0;
        each_lane(mask, |l| lines |= GlobalView::line_bit(address[l]));
        memory.may_overlay(lines)
    }
}

/// What the access was, for timing: all lanes in the instruction's space, or generic addresses
/// of global memory.
#[inline(always)]
fn access(d: &Decoded, store: bool, bytes: usize, count: usize, mask: u32) -> Access {
    let lanes = |here: bool| if here { mask } else { 0 };
    let space = d.space;
    Access {
        store,
        shared_atomic: false,
        element: bytes as u8,
        count: count as u8,
        shared: lanes(space == Space::Shared),
        global: lanes(!matches!(
            space,
            Space::Shared | Space::Local | Space::Param | Space::Const
        )),
        local: lanes(space == Space::Local),
        other: match space {
            Space::Param | Space::Const => space,
            _ => Space::Generic,
        },
        steps: None,
    }
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
    let lane = mask.trailing_zeros() as usize % LANES;
    let alone = mask.is_power_of_two();
    let one_address = alone || matches!(d.src[0], Src::Pool(_));
    let first = match d.space {
        Space::Shared | Space::Param if !one_address => 0, // not asked for
        _ => address_of(d, r, lane),
    };
    let (start, data): (u64, &[u8]) = match d.space {
        Space::Shared => (0, reach.shared),
        Space::Param => (0, reach.params),
        Space::Local => return load_local(d, r, reach, value),
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
    let mut steps = None;
    if one_address && !(start != 0 && reach.memory.may_overlay(GlobalView::line_bit(first))) {
        // One lane, or one address for all.
        let mut extent = Extent::new(N, start, data.len());
        extent.see(first);
        if !extent.fits() {
            return false;
        }
        let value = value(at(first));
        if alone {
            address[lane] = first;
            if let Some(row) = r.result::<T>(d.dst[0]) {
                T::put(row, lane, value);
            }
        } else {
            address.fill(first);
            steps = (mask == u32::MAX).then_some([0; 2]);
            if let Some(row) = r.result::<T>(d.dst[0]) {
                each_lane(mask, |lane| T::put(row, lane, value));
            }
        }
    } else {
        let Some(found) = spread::<N>(d, r, start, data.len(), address) else {
            return false;
        };
        steps = found;
        let overlaid = start != 0 && is_overlaid(reach.memory, (start, data.len()), address, mask);
        if let Some(row) = r.result::<T>(d.dst[0]) {
            if overlaid {
                each_lane(mask, |lane| {
                    let mut bytes = at(address[lane]);
                    reach.memory.overlay(address[lane], &mut bytes);
                    T::put(row, lane, value(bytes));
                });
            } else if let Some([low, high]) = found {
                let from = |lane: usize| &data[(address[lane] - start) as usize..];
                load_half(low, from(0), |l, v| T::put(row, l, value(v)));
                load_half(high, from(HALF), |l, v| T::put(row, HALF + l, value(v)));
            } else {
                each_lane(mask, |l| T::put(row, l, value(at(address[l]))));
            }
        }
    }
    reach.effect.kind = EffectKind::Access(Access {
        steps,
        ..access(d, false, N, 1, mask)
    });
    true
}

/// Loads as many `T` of `N` bytes per lane, side by side, as there are in `B` bytes.
#[inline(always)]
pub(crate) fn load_vector<T: Value, const N: usize, const B: usize>(
    d: &Decoded,
    r: &mut Regs<'_>,
    reach: &mut Reach<'_, '_>,
    value: impl Fn([u8; N]) -> T,
) -> bool {
    let mask = r.mask;
    let (start, data): (u64, &[u8]) = match d.space {
        Space::Shared => (0, reach.shared),
        Space::Param => (0, reach.params),
        Space::Local => return false,
        _ => {
            let first = address_of(d, r, mask.trailing_zeros() as usize % LANES);
            match reach.memory.find(first, B) {
                Some(index) => reach.memory.contents(index),
                None => return false,
            }
        }
    };
    let address = &mut reach.effect.address;
    if spread::<B>(d, r, start, data.len(), address).is_none()
        || start != 0 && is_overlaid(reach.memory, (start, data.len()), address, mask)
    {
        return false;
    }
    for (k, &dst) in d.dst.iter().enumerate().take(B / N) {
        if let Some(row) = r.result::<T>(dst) {
            each_lane(mask, |lane| {
                let at = (address[lane] - start) as usize + k * N;
                let bytes = data[at..].first_chunk().expect("checked for all lanes");
                T::put(row, lane, value(*bytes));
            });
        }
    }
    reach.effect.kind = EffectKind::Access(access(d, false, N, B / N, mask));
    true
}

/// As [`load`] from local memory: the way for addresses that are not those of the generic window.
#[inline(never)] // few kernels have any; the other way is to stay small
fn load_local<T: Value, const N: usize>(
    d: &Decoded,
    r: &mut Regs<'_>,
    reach: &mut Reach<'_, '_>,
    value: impl Fn([u8; N]) -> T,
) -> bool {
    let Some(local) = &reach.local else {
        return false;
    };
    let (mask, address) = (r.mask, &mut reach.effect.address);
    if spread::<N>(d, r, 0, local.size(), address).is_none() {
        return false;
    }
    if let Some(row) = r.result::<T>(d.dst[0]) {
        each_lane(mask, |lane| {
            T::put(row, lane, value(local.get(lane, address[lane] as usize)));
        });
    }
    reach.effect.kind = EffectKind::Access(access(d, false, N, 1, mask));
    true
}

/// The two halves of a warp.
#[inline(always)]
fn halves_of<T>(lanes: &[T; LANES]) -> [&[T; HALF]; 2] {
    let (halves, _) = lanes.as_chunks::<HALF>();
    [&halves[0], &halves[1]]
}

/// Hands to `put` what the lanes of a half have that are in such steps; `data` begins where the first one's is,
/// and all have been checked.
#[inline(always)]
fn load_half<const N: usize>(step: u16, data: &[u8], mut put: impl FnMut(usize, [u8; N])) {
    if step == 0 {
        let bytes = *data.first_chunk().expect("checked for all lanes");
        (0..HALF).for_each(|lane| put(lane, bytes));
    } else {
        let (elements, _) = data.as_chunks::<N>();
        let elements = elements.first_chunk::<HALF>();
        let elements = elements.expect("checked for all lanes");
        (0..HALF).for_each(|lane| put(lane, elements[lane]));
    }
}

/// Stores the `N` low bytes of a `T` per lane, in the order of lanes.
#[inline(always)]
pub(crate) fn store<T: Value, const N: usize>(
    d: &Decoded,
    r: &mut Regs<'_>,
    reach: &mut Reach<'_, '_>,
    bytes: impl Fn(T) -> [u8; N],
) -> bool {
    let mask = r.mask;
    let address = &mut reach.effect.address;
    let row = r.row::<T>(d.src[1]);
    let value = |lane: usize| bytes(T::get(row, lane));
    let mut steps = None;
    match d.space {
        Space::Shared => {
            let Some(found) = spread::<N>(d, r, 0, reach.shared.len(), address) else {
                return false;
            };
            steps = found;
            if found.is_some_and(|steps| !steps.contains(&0)) {
                for from in [0, HALF] {
                    let (to, _) = reach.shared[address[from] as usize..].as_chunks_mut::<N>();
                    let to = to.first_chunk_mut::<HALF>();
                    let to = to.expect("checked for all lanes");
                    (0..HALF).for_each(|lane| to[lane] = value(from + lane));
                }
            } else {
                each_lane(mask, |lane| {
                    let to = reach.shared[address[lane] as usize..].first_chunk_mut();
                    *to.expect("checked for all lanes") = value(lane);
                });
            }
        }
        Space::Local => {
            let Some(local) = &mut reach.local else {
                return false;
            };
            if spread::<N>(d, r, 0, local.size(), address).is_none() {
                return false;
            }
            each_lane(mask, |lane| {
                local.put(lane, address[lane] as usize, value(lane));
            });
        }
        Space::Param => return false,
        _ => {
            let first = address_of(d, r, mask.trailing_zeros() as usize % LANES);
            let Some(index) = reach.memory.find(first, N) else {
                return false;
            };
            let (start, data) = reach.memory.contents(index);
            let constant = reach.memory.memory().is_constant(index);
            if constant || spread::<N>(d, r, start, data.len(), address).is_none() {
                return false;
            }
            each_lane(mask, |lane| {
                reach.memory.put(index, address[lane], value(lane));
            });
        }
    }
    reach.effect.kind = EffectKind::Access(Access {
        steps,
        ..access(d, true, N, 1, mask)
    });
    true
}

#[cfg(test)]
#[path = "all_lanes_tests.rs"]
mod tests;
