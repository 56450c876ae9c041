//! Radix sort.
//!
//! Stands for the SDK's radix sort: four bits a pass; blocks of 256 threads with four keys each sort
//! their tile by the digit, bit by bit, by scans over the block with barriers; a scan over all
//! blocks' digit counts follows, and the move to global places, whose coalescing depends on how long
//! the runs of equal digits are. Nothing diverges but the ends of scans.
//!
//! `small` sorts keys of 8 bits, two passes: more would exceed its budget without showing more.
//!
//! First measurement (small, `lrr`, gtx480-v3): 22.1 million thread instructions, SIMD efficiency
//! 97.7%, 13.1% of warp time at barriers.

use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block, keys of a tile and bits of a digit, as in the kernel.
const BLOCK: u32 = 256;
const TILE: u32 = 4 * BLOCK;
const DIGIT_BITS: u32 = 4;
const DIGITS: u32 = 1 << DIGIT_BITS;

static INFO: Info = Info {
    name: "radix-sort",
    algorithm: "radix sort by four bits a pass: tiles by block scans, a scan of the counts, the move",
    known_for: "convergent, many barriers in scans, coalescing that depends on the keys",
    shape: "256 threads per block for 1024 keys, three launches per pass",
    papers: &["vws: Radix Sort (convergent)"],
    comparison: "exact: every key",
    parameters: &[
        Parameter::new("tiles", "tiles of 1024 keys", [2, 360, 1024], (1, 1 << 16)),
        Parameter::new("bits", "bits of a key", [4, 8, 32], (4, 32)).multiple_of(DIGIT_BITS as u64),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("radix-sort"),
};

/// The workload.
pub struct RadixSort;

fn keys(count: u32, bits: u32, random: &mut Random) -> Vec<u32> {
    (0..count)
        .map(|_| random.next_u32() >> (32 - bits))
        .collect()
}

fn reference(keys: &[u32]) -> Vec<u32> {
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    sorted
}

impl Workload for RadixSort {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (tiles, bits) = (parameters.get_u32("tiles"), parameters.get_u32("bits"));
        let keys = keys(tiles * TILE, bits, &mut Random::new(seed, "radix-sort"));
        let module = session.load(&INFO.kernel)?;
        let sorted = session.upload_u32("keys", &keys)?;
        let by_tile = session.zeroed("keys sorted by tile", 4 * keys.len() as u64)?;
        let digits = u64::from(tiles * DIGITS) * 4;
        let counts = session.zeroed("counts", digits)?;
        let starts = session.zeroed("starts", digits)?;
        let shape = Shape::linear(tiles, BLOCK);
        for shift in (0..bits).step_by(DIGIT_BITS as usize) {
            let shift = [Arg::u32(shift)];
            let args = arguments(&[sorted, by_tile, counts, starts], &shift);
            session.launch(&module, "radix_sort_tile", shape, &args)?;
            let args = arguments(&[counts], &[Arg::u32(tiles * DIGITS)]);
            session.launch(&module, "radix_sort_scan", Shape::linear(1, BLOCK), &args)?;
            let args = arguments(&[by_tile, sorted, counts, starts], &shift);
            session.launch(&module, "radix_sort_move", shape, &args)?;
        }
        let keys = check_u32(session, "keys", sorted, &reference(&keys))?;
        Ok(Outcome::of([keys]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_sorts() {
        assert_eq!(reference(&[3, 0, 3, 1]), [0, 1, 3, 3]);
    }

    #[test]
    fn keys_repeat_and_have_the_bits_asked_for() {
        let make = |seed, bits| keys(1000, bits, &mut Random::new(seed, "radix-sort"));
        assert_eq!(make(1, 8), make(1, 8));
        assert_ne!(make(1, 8), make(2, 8));
        let largest = |bits| make(1, bits).into_iter().max().unwrap();
        assert!((250..256).contains(&largest(8)) && largest(32) > 1 << 31);
    }
}
