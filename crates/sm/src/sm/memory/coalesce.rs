//! From a warp's addresses to what the memory pipeline moves: coalesced accesses. How long they take at the banks of
//! shared memory is in [`banks`](super::banks).

use crate::exec::state::LANES;

/// One transaction of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First byte, aligned to `bytes`.
    pub addr: u64,
    /// 32, 64 or 128 (or a cache's line).
    pub bytes: u16,
    /// Lanes it serves.
    pub lanes: u32,
    /// Bytes touched, from the start of the 128-byte line.
    pub byte_mask: u128,
}

/// How accesses are cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Lanes in one aligned segment of this many bytes share an access.
    pub segment: u64,
    /// Shrink an access to the half or quarter that is touched, not below 32 bytes.
    pub trim: bool,
}

impl Cut {
    /// The segment for elements of `size` bytes: 128 for words, 64 for halves, 32 for bytes.
    pub fn for_element(size: u8, trim: bool) -> Cut {
        let segment = match size {
            1 => 32,
            2 => 64,
            _ => 128,
        };
        Cut { segment, trim }
    }
}

/// Coalesces the accesses of `lanes`, `size` bytes each, into `out` (cleared first), in
/// growing address order.
pub fn coalesce(address: &[u64; LANES], lanes: u32, size: u32, cut: Cut, out: &mut Vec<Access>) {
    out.clear();
    coalesce_more(address, lanes, size, cut, out);
}

/// Coalesces accesses behind what `out` holds.
fn coalesce_more(address: &[u64; LANES], lanes: u32, size: u32, cut: Cut, out: &mut Vec<Access>) {
    let from = out.len();
    let mut rest = lanes;
    if lanes != 0 && in_one_piece(address, lanes, cut.segment) {
        out.push(Access {
            addr: first_of(address, lanes) & !(cut.segment - 1),
            bytes: cut.segment as u16,
            lanes,
            byte_mask: 0,
        });
        rest = 0;
    }
    'lanes: while rest != 0 {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        let addr = address[lane as usize] & !(cut.segment - 1);
        // From the end: addresses mostly grow with the lanes.
        let mut at = out.len();
        for there in out[from..].iter_mut().rev() {
            if there.addr == addr {
                there.lanes |= 1 << lane;
                continue 'lanes;
            }
            if there.addr < addr {
                break;
            }
            at -= 1;
        }
        let access = Access {
            addr,
            bytes: cut.segment as u16,
            lanes: 1 << lane,
            byte_mask: 0,
        };
        if at == out.len() {
            out.push(access);
        } else {
            out.insert(at, access);
        }
    }
    // What a read touches of its line does not matter.
    if cut.trim {
        for access in &mut out[from..] {
            trim(access, address, size);
        }
    }
}

/// Fills in the bytes touched and shrinks the access to the smallest aligned part, of 32 bytes
/// or more, that holds them.
fn trim(access: &mut Access, address: &[u64; LANES], size: u32) {
    // Elements are aligned: none lies in both halves of a line.
    let mut touched = [0u64; 2];
    let element = u64::MAX >> (64 - size.min(64));
    let (mut first, mut last) = (u64::MAX, 0);
    let mut lanes = access.lanes;
    while lanes != 0 {
        let at = address[lanes.trailing_zeros() as usize];
        lanes &= lanes - 1;
        touched[(at / 64 % 2) as usize] |= element << (at % 64);
        first = first.min(at);
        last = last.max(at);
    }
    access.byte_mask = u128::from(touched[1]) << 64 | u128::from(touched[0]);
    let apart = first ^ (last + u64::from(size) - 1);
    let bytes = (apart | 31) + 1;
    access.bytes = access.bytes.min(bytes.next_power_of_two() as u16);
    access.addr = first & !(u64::from(access.bytes) - 1);
}

/// The address of the lowest of `lanes`.
#[inline]
fn first_of(address: &[u64; LANES], lanes: u32) -> u64 {
    address[lanes.trailing_zeros() as usize % LANES]
}

/// The bits in which any of `lanes` differs from the lowest: below a power of two, all lie in
/// one aligned piece of that many bytes.
#[inline]
fn difference(address: &[u64; LANES], lanes: u32) -> u64 {
    let first = first_of(address, lanes);
    if lanes == u32::MAX {
        return address.iter().fold(0, |differ, a| differ | a ^ first);
    }
    let (mut rest, mut differ) = (lanes, 0);
    while rest != 0 {
        differ |= address[rest.trailing_zeros() as usize] ^ first;
        rest &= rest - 1;
    }
    differ
}

/// Whether all `lanes` lie in one aligned piece of `bytes`, a power of two.
#[inline]
pub(super) fn in_one_piece(address: &[u64; LANES], lanes: u32, bytes: u64) -> bool {
    // Lanes that are far apart mostly show it at their ends.
    let last = address[(31 - lanes.leading_zeros()) as usize % LANES];
    (first_of(address, lanes) ^ last) < bytes && difference(address, lanes) < bytes
}

/// As [`in_one_piece`] for all lanes, where in either half of the warp they are in steps of the same size.
#[inline]
pub fn steps_in_one_piece(address: &[u64; LANES], bytes: u64) -> bool {
    let differ = |lane: usize| address[0] ^ address[lane];
    // What lies between two addresses of a piece is in it.
    differ(LANES / 2 - 1) | differ(LANES / 2) | differ(LANES - 1) < bytes
}

/// Whether all lanes have the same address.
#[inline]
pub fn is_uniform(address: &[u64; LANES], lanes: u32) -> bool {
    difference(address, lanes) == 0
}

/// Atomics: lanes on the same bytes become separate accesses, since each needs its own pass
/// through the L2's arithmetic unit; distinct words of a 32-byte segment go together.
pub fn coalesce_atomic(address: &[u64; LANES], lanes: u32, size: u32, out: &mut Vec<Access>) {
    out.clear();
    let mut rest = lanes;
    while rest != 0 {
        // One lane for each distinct address, the lowest first.
        let mut round = 0u32;
        let mut candidates = rest;
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let mut others = round;
            let mut taken = false;
            while others != 0 && !taken {
                taken = address[others.trailing_zeros() as usize] == address[lane];
                others &= others - 1;
            }
            if !taken {
                round |= 1 << lane;
            }
        }
        let cut = Cut {
            segment: 32,
            trim: true,
        };
        coalesce_more(address, round, size, cut, out);
        rest &= !round;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Addresses by lane.
    pub fn lanes(f: impl Fn(u64) -> u64) -> [u64; LANES] {
        std::array::from_fn(|i| f(i as u64))
    }

    fn count(address: &[u64; LANES], mask: u32, size: u32) -> usize {
        let mut out = Vec::new();
        coalesce(
            address,
            mask,
            size,
            Cut::for_element(size.min(4) as u8, true),
            &mut out,
        );
        out.len()
    }

    #[test]
    fn consecutive_words_are_one_access_and_strides_more() {
        assert_eq!(count(&lanes(|i| 0x1000 + 4 * i), !0, 4), 1);
        assert_eq!(count(&lanes(|i| 0x1040 + 4 * i), !0, 4), 2, "across a line");
        assert_eq!(count(&lanes(|i| 0x1000 + 8 * i), !0, 4), 2);
        assert_eq!(count(&lanes(|i| 0x1000 + 128 * i), !0, 4), 32);
        assert_eq!(count(&lanes(|_| 0x1000), !0, 4), 1);
        assert_eq!(count(&lanes(|i| 0x1000 + 16 * i), !0, 16), 4);
        assert_eq!(
            count(&lanes(|i| 0x1000 + 128 * i), 0b101, 4),
            2,
            "inactive lanes ask nothing"
        );
    }

    #[test]
    fn accesses_come_in_growing_order_of_addresses() {
        let cut = Cut::for_element(4, false);
        let mut out = vec![];
        // Down, up and back again, with lanes that meet.
        let address = lanes(|i| 0x8000 + 128 * ((i * 11 + 5) % 16));
        coalesce(&address, !0x10, 4, cut, &mut out);
        let found: Vec<u64> = out.iter().map(|a| a.addr).collect();
        assert_eq!(found, lanes(|i| 0x8000 + 128 * i)[..16]);
        for access in &out {
            let wanted = (0..LANES).filter(|&l| l != 4 && address[l] == access.addr);
            assert_eq!(access.lanes, wanted.fold(0, |set, l| set | 1 << l));
        }
        coalesce(&lanes(|i| 0x8000 - 128 * i), 0b1011, 4, cut, &mut out);
        let found: Vec<u64> = out.iter().map(|a| a.addr).collect();
        assert_eq!(found, [0x8000 - 3 * 128, 0x8000 - 128, 0x8000]);
    }

    #[test]
    fn stores_shrink_to_what_they_touch() {
        let mut out = Vec::new();
        let cut = Cut {
            segment: 128,
            trim: true,
        };
        coalesce(&lanes(|i| 0x1040 + 4 * (i % 8)), !0, 4, cut, &mut out);
        assert_eq!((out[0].addr, out[0].bytes), (0x1040, 32));
        assert_eq!(out[0].byte_mask, 0xffff_ffffu128 << 64);
        coalesce(&lanes(|i| 0x1040 + 4 * (i % 16)), !0, 4, cut, &mut out);
        assert_eq!((out[0].addr, out[0].bytes), (0x1040, 64));
        coalesce(&lanes(|i| 0x1030 + 4 * (i % 8)), !0, 4, cut, &mut out);
        assert_eq!(
            (out[0].addr, out[0].bytes),
            (0x1000, 128),
            "both halves are touched"
        );
    }

    #[test]
    fn atomics_on_one_word_take_an_access_each() {
        let mut out = Vec::new();
        coalesce_atomic(&lanes(|_| 0x2000), 0xff, 4, &mut out);
        assert_eq!(out.len(), 8);
        coalesce_atomic(&lanes(|i| 0x2000 + 4 * i), !0, 4, &mut out);
        assert_eq!(out.len(), 4);
        let served = out.iter().fold(0, |m, a| m | a.lanes);
        assert_eq!(served, !0);
        // Round by round, each in growing order.
        let address = lanes(|i| 0x2000 + 32 * (1 - i % 2));
        coalesce_atomic(&address, 0b1111, 4, &mut out);
        let found: Vec<(u64, u32)> = out.iter().map(|a| (a.addr, a.lanes)).collect();
        let (low, high) = (0x2000, 0x2020);
        assert_eq!(found, [(low, 2), (high, 1), (low, 8), (high, 4)]);
    }

    /// Addresses of lanes that are in steps in either half of the warp.
    pub fn in_steps(first: [u64; 2], steps: [u16; 2]) -> [u64; LANES] {
        std::array::from_fn(|lane| {
            let (half, at) = (lane / 16, lane as u64 % 16);
            first[half] + u64::from(steps[half]) * at
        })
    }

    #[test]
    fn the_ends_of_steps_tell_whether_all_lie_in_one_piece() {
        for second in (0..1024).step_by(8) {
            for steps in [[0, 0], [8, 0], [0, 8], [8, 8]] {
                let address = in_steps([256, second], steps);
                for bytes in [64, 128, 256] {
                    let all = difference(&address, u32::MAX) < bytes;
                    assert_eq!(
                        steps_in_one_piece(&address, bytes),
                        all,
                        "{second} {steps:?}"
                    );
                }
            }
        }
    }
}
