//! How long a warp's access to shared memory takes at its banks.

use super::coalesce::in_one_piece;
use crate::exec::state::LANES;
use crate::memory::divide::Divisor;

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
    use super::super::coalesce::tests::{in_steps, lanes};
    use super::*;

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
}
