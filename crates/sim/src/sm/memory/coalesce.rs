//! From a warp's addresses to what the memory pipeline moves: coalesced accesses and
//! shared-memory bank cycles.

use crate::exec::state::LANES;
use crate::memory::divide::Divisor;

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
fn in_one_piece(address: &[u64; LANES], lanes: u32, bytes: u64) -> bool {
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

/// Cycles a shared-memory access keeps the banks busy: the largest number of distinct words
/// in one bank. Lanes on the same word are served together.
pub fn bank_cycles(address: &[u64; LANES], lanes: u32, size: u32, banks: u32) -> u32 {
    // One row of banks holds every lane's word: no bank has two.
    let row = 4 * u64::from(banks);
    if size <= 4 && row.is_power_of_two() && lanes != 0 && in_one_piece(address, lanes, row) {
        return 1;
    }
    let words = size.div_ceil(4).max(1) as u64;
    if banks.is_power_of_two() {
        let mask = u64::from(banks) - 1;
        busiest(address, lanes, words, |word| word & mask)
    } else {
        let banks = Divisor::new(u64::from(banks));
        busiest(address, lanes, words, |word| banks.divide(word).1)
    }
}

/// As [`bank_cycles`] for words of all lanes, where each of a half of the warp is so many bytes (none, or those of
/// a word) behind the one before it. None if it takes more than a glance.
#[inline]
pub fn bank_cycles_of_steps(address: &[u64; LANES], steps: [u16; 2], banks: u32) -> Option<u32> {
    if !banks.is_power_of_two() || (banks as usize) < LANES {
        return None;
    }
    // A half has no two words in a bank. Words of different halves have the same bank if they are a multiple of all
    // banks apart; there are fewer distances than banks, and words that are none apart are one.
    let further_words = |half: usize| i64::from(steps[half] != 0) * (LANES as i64 / 2 - 1);
    let apart = (address[LANES / 2] / 4) as i64 - (address[0] / 4) as i64;
    let (nearest, furthest) = (apart - further_words(0), apart + further_words(1));
    let multiple = furthest & -i64::from(banks);
    Some(1 + (multiple >= nearest && multiple != 0) as u32)
}

/// The largest number of distinct words in one bank, with so many words per lane.
#[inline(always)]
fn busiest(
    address: &[u64; LANES],
    lanes: u32,
    words: u64,
    bank: impl Fn(u64) -> u64 + Copy,
) -> u32 {
    match words {
        1 => distinct(address, lanes, 1, bank, &mut [(0, 0); LANES]),
        2..=8 => distinct(address, lanes, words, bank, &mut [(0, 0); 8 * LANES]),
        // A lane brings part of a matrix.
        _ => distinct(
            address,
            lanes,
            words,
            bank,
            &mut vec![(0, 0); words as usize * LANES],
        ),
    }
}

/// As [`busiest`]. Each bank has a list of its words, which is as long as the cycles it is busy, so
/// mostly very short. `seen` is room for all words, each with the number of the one before it.
#[inline(never)]
fn distinct(
    address: &[u64; LANES],
    lanes: u32,
    words: u64,
    bank: impl Fn(u64) -> u64,
    seen: &mut [(u64, u32)],
) -> u32 {
    // Entries are numbered from one on; zero is none.
    let mut last = [0u32; 64];
    let (mut count, mut most) = (0, 0);
    let mut rest = lanes;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        for word in address[lane] / 4..address[lane] / 4 + words {
            let last = &mut last[bank(word) as usize % 64];
            let (mut at, mut length) = (*last, 1);
            while at != 0 && seen[at as usize - 1].0 != word {
                at = seen[at as usize - 1].1;
                length += 1;
            }
            if at == 0 {
                seen[count] = (word, *last);
                count += 1;
                *last = count as u32;
                most = most.max(length);
            }
        }
    }
    most.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(f: impl Fn(u64) -> u64) -> [u64; LANES] {
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

    #[test]
    fn bank_conflicts_count_distinct_words() {
        for stride in [1u64, 2, 8, 32] {
            assert_eq!(
                bank_cycles(&lanes(|i| 4 * stride * i), !0, 4, 32),
                stride as u32
            );
        }
        assert_eq!(bank_cycles(&lanes(|_| 64), !0, 4, 32), 1, "broadcast");
        assert_eq!(bank_cycles(&lanes(|i| 8 * i), !0, 8, 32), 2);
        assert_eq!(bank_cycles(&lanes(|i| 128 * i), 1, 4, 32), 1);
        assert_eq!(
            bank_cycles(&lanes(|i| 64 + 4 * i), !0, 4, 32),
            1,
            "two rows"
        );
        assert_eq!(bank_cycles(&lanes(|i| 4 * i), !0, 4, 16), 2);
        assert_eq!(bank_cycles(&lanes(|i| 32 * i), !0, 32, 32), 8, "v4.b64");
        let pairs = lanes(|i| 128 * (i / 2));
        assert_eq!(bank_cycles(&pairs, !0, 4, 32), 16, "two lanes each");
        let rows = lanes(|i| 128 * i);
        assert_eq!(bank_cycles(&rows, !0, 64, 32), 32, "parts of a matrix");
        assert_eq!(bank_cycles(&pairs, 0b1001, 4, 32), 2);
        assert_eq!(
            bank_cycles(&lanes(|i| 4 * (i % 12)), !0, 4, 12),
            1,
            "12 banks"
        );
        assert_eq!(bank_cycles(&lanes(|i| 4 * (i % 13)), !0, 4, 12), 2);
    }

    /// Addresses of lanes that are in steps in either half of the warp.
    fn in_steps(first: [u64; 2], steps: [u16; 2]) -> [u64; LANES] {
        std::array::from_fn(|lane| {
            let (half, at) = (lane / 16, lane as u64 % 16);
            first[half] + u64::from(steps[half]) * at
        })
    }

    #[test]
    fn lanes_in_steps_are_as_long_at_the_banks_as_any() {
        for second in (0..4 * 200).step_by(4) {
            for steps in [[0, 0], [0, 4], [4, 0], [4, 4]] {
                for banks in [32, 64] {
                    let address = in_steps([256, second], steps);
                    let all = bank_cycles(&address, u32::MAX, 4, banks);
                    let found = bank_cycles_of_steps(&address, steps, banks);
                    assert_eq!(found, Some(all), "{second} {steps:?} {banks}");
                }
            }
        }
        assert_eq!(bank_cycles_of_steps(&[0; LANES], [0, 0], 16), None);
        assert_eq!(bank_cycles_of_steps(&[0; LANES], [0, 0], 48), None);
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
