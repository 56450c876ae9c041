//! The variant with a compact index.
//!
//! Stands for MUMpp (MUMmerGPU++), which replaces the suffix tree by a suffix array, a small
//! fraction of its size, and the walk down the tree by binary search: 192 threads per block, a thread
//! a read. A table of five-base prefixes narrows the search first. Lanes differ in the number of
//! search steps, in the bases each comparison looks at, and in whether there is a match at all.
//! Reads are of 23 bases (four positions that can begin a match) to stay within `small`.
//!
//! First measurement (`small`, pdom): SIMD efficiency 25.1% on fx5800 and gtx480, 25.9 million
//! thread instructions, no barriers. Since then `small` has half as many reads again and shorter
//! ones, three blocks for each SM of fx5800: 25.6%, 28.9 million.

use super::{INFO as TREE, Info, Input, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::Element;
use crate::host::session::{Session, Shape};
use crate::suite::Parameter;

static INFO: Info = Info {
    name: "mummer-pp",
    algorithm: "longest exact matches of DNA reads in a genome's suffix array, by binary search",
    known_for: "comparisons that end at a different base in every lane; scattered loads",
    shape: "192 threads per block, one thread per read",
    papers: &["tbc: MUMpp (divergent)"],
    comparison: "exact: length of every match and its first suffix",
    parameters: &[
        TREE.parameters[0],
        Parameter::new("reads", "reads", [192, 69_120, 200_000], (1, 10_000_000)),
        Parameter::new("length", "bases a read", [23, 20, 50], (5, 500)),
        Parameter::new(
            "match",
            "bases a match has at least",
            [20, 20, 20],
            (5, 500),
        ),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("mummer-pp"),
};

/// The workload.
pub struct MummerPp;

/// Bases that the table of buckets looks at.
const PREFIX: usize = 5;

/// From where to where in the suffix array the suffixes lie that begin with each prefix.
fn buckets(genome: &[u8], suffixes: &[u32]) -> Vec<[u32; 2]> {
    (0..1usize << (2 * PREFIX))
        .map(|number| {
            let digit = |i: usize| (number >> (2 * (PREFIX - 1 - i)) & 3) as u8;
            let prefix: [u8; PREFIX] = std::array::from_fn(digit);
            let from = suffixes.partition_point(|s| genome[*s as usize..] < prefix[..]);
            let with = |s: &u32| genome[*s as usize..].starts_with(&prefix);
            let count = suffixes[from..].partition_point(with);
            [from as u32, (from + count) as u32]
        })
        .collect()
}

impl Workload for MummerPp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let input = Input::new(parameters, seed)?;
        let module = session.load(&INFO.kernel)?;
        let suffixes = session.upload_u32("suffixes", &input.suffixes)?;
        let table = buckets(&input.genome, &input.suffixes);
        let buckets = session.upload_u32("buckets", table.as_flattened())?;
        let genome = session.upload("genome", &input.genome)?;
        let reads = session.upload("reads", &input.reads)?;
        let matches = session.zeroed("matches", input.bytes())?;
        let arguments = [
            Arg::Pointer(suffixes),
            Arg::Pointer(buckets),
            Arg::Pointer(genome),
            Arg::Pointer(reads),
            Arg::Pointer(matches),
            Arg::u32(input.count),
            Arg::u32(input.length),
            Arg::u32(input.shortest),
        ];
        let shape = Shape::cover(input.count, 192);
        session.launch(&module, "mummer_pp", shape, &arguments)?;
        let got = session.device.read(matches, input.bytes())?;
        let mut rank = vec![0; input.suffixes.len()];
        for (r, suffix) in (0..).zip(&input.suffixes) {
            rank[*suffix as usize] = r;
        }
        let expected = input.expected(|places| places.iter().map(|p| rank[*p as usize]).min());
        Ok(Outcome::of([compare(
            "matches",
            Element::U32,
            &expected,
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::random::Random;
    use crate::suite::mummer::dna;

    #[test]
    fn every_long_suffix_is_in_the_bucket_of_its_prefix() {
        let genome = dna::genome(1000, &mut Random::new(1, "dna"));
        let suffixes = dna::suffix_array(&genome);
        let table = buckets(&genome, &suffixes);
        for (rank, suffix) in suffixes.iter().enumerate() {
            let bases = &genome[*suffix as usize..];
            let rank = rank as u32;
            if bases.len() > PREFIX {
                let number = bases[..PREFIX]
                    .iter()
                    .fold(0, |n, b| n << 2 | usize::from(*b));
                assert!((table[number][0]..table[number][1]).contains(&rank));
            } else {
                assert!(table.iter().all(|b| !(b[0]..b[1]).contains(&rank)));
            }
        }
    }
}
