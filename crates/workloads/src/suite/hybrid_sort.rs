//! Sorting by buckets and merging.
//!
//! Stands for Rodinia's hybridsort, with the kernels' names of the virtual-warps paper: a histogram (64
//! blocks of 96 threads), bucket of every key (blocks of 32), their sums over the blocks, moving, then float4s sorted (256
//! threads), merged in passes (208 threads, 5 blocks per SM) and packed (256 threads, a row of blocks per bucket). The host cuts the
//! buckets from the histogram, as in the original. Within a bucket the order of keys depends on
//! atomics until they are sorted. Keys are a mixture of bells, so that ranges of the same width would make
//! very uneven buckets; with the cuts, lists differ by as much as the histogram is coarse.

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Module, Session, Shape};
use crate::input::random::Random;

const BUCKETS: u32 = 1024;
/// Blocks and threads of the histogram.
const HISTOGRAM: [u32; 2] = [64, 96];
/// Blocks and threads that look for buckets.
const BLOCKS: u32 = 512;
const BUCKET_THREADS: u32 = 32;
const PASS_THREADS: u32 = 208;

static INFO: Info = Info {
    name: "hybrid-sort",
    algorithm: "sorting of floats: buckets by a histogram and binary searches, then merging of lists of float4",
    known_for: "lists of different length per thread in the merge passes, texture reads, shared atomics",
    shape: "96, 32, 256, 208 and 256 threads per block in seven kernels, one launch per merge pass",
    papers: &[
        "vtw: hybridsort (6 kernels; mergepack and mergeSortPass in set 1, mergeSortFirst in set 2)",
    ],
    comparison: "exact: every key in its place",
    parameters: &[Parameter::new(
        "keys",
        "keys",
        [6000, 393_216, 4_194_304],
        (1024, 1 << 23),
    )],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("hybrid-sort"),
};

/// The workload.
pub struct HybridSort;

fn keys(count: u32, random: &mut Random) -> Vec<f32> {
    let bells: Vec<[f64; 2]> = (0..5)
        .map(|_| [random.float(0.0, 100.0), random.float(0.5, 8.0)])
        .collect();
    (0..count)
        .map(|_| {
            let [middle, width] = bells[random.below(5) as usize];
            let spread = random.unit() + random.unit() + random.unit() - 1.5;
            (middle + width * spread) as f32
        })
        .collect()
}

/// Where to cut the keys so that buckets hold about the same number, by the counts of ranges of the same width.
fn cuts(histogram: &[u32], least: f32, width: f32) -> Vec<f32> {
    let total: u64 = histogram.iter().map(|n| u64::from(*n)).sum();
    let mut cuts = Vec::new();
    let mut before = 0u64;
    for (range, count) in histogram.iter().enumerate() {
        let count = u64::from(*count);
        loop {
            let next = (cuts.len() as u64 + 1) * total / u64::from(BUCKETS);
            if cuts.len() + 1 == BUCKETS as usize || next >= before + count {
                break;
            }
            let within = (next - before) as f32 / count as f32;
            cuts.push(least + (range as f32 + within) * width);
        }
        before += count;
    }
    // One more than needed, so that the texture is as long as there are buckets.
    cuts.resize(BUCKETS as usize, f32::INFINITY);
    cuts
}

/// Running sums from zero on.
fn sums(sizes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all = vec![0];
    all.extend(sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    }));
    all
}

fn read_u32(session: &Session<'_>, address: u64, count: u32) -> Result<Vec<u32>, DeviceError> {
    let bytes = session.device.read(address, 4 * u64::from(count))?;
    let (words, _) = bytes.as_chunks();
    Ok(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
}

/// Keys in their buckets, which begin at multiples of four and are filled up with infinity; and how many each has.
fn into_buckets(
    session: &mut Session<'_>,
    module: &Module,
    keys: &[f32],
    padded: u64,
) -> Result<(u64, Vec<u32>), DeviceError> {
    let count = keys.len() as u32;
    let given = session.upload_f32("keys", keys)?;
    let least = keys.iter().copied().fold(f32::INFINITY, f32::min);
    let most = keys.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let width = ((most - least) / BUCKETS as f32).max(f32::MIN_POSITIVE);
    let histogram = session.zeroed("histogram", 4 * u64::from(BUCKETS))?;
    let scalars = [Arg::u32(count), float(least), float(1.0 / width)];
    let args = arguments(&[given, histogram], &scalars);
    let shape = Shape::linear(HISTOGRAM[0], HISTOGRAM[1]);
    session.launch(module, "hist1024Kernel", shape, &args)?;

    let cuts = cuts(&read_u32(session, histogram, BUCKETS)?, least, width);
    let cuts = session.upload_f32("cuts", &cuts)?;
    let cuts = session.linear_texture(module, cuts, BUCKETS, (1, 32))?;
    let places = session.zeroed("places", 4 * u64::from(count))?;
    let counts = session.zeroed("counts", 4 * u64::from(BLOCKS * BUCKETS))?;
    let sizes = session.zeroed("sizes", 4 * u64::from(BUCKETS))?;
    let shape = Shape::linear(BLOCKS, BUCKET_THREADS);
    let each = count.div_ceil(BLOCKS).next_multiple_of(BUCKET_THREADS);
    let scalars = [count, each].map(Arg::u32);
    let args = arguments(&[given, cuts, places, counts], &scalars);
    session.launch(module, "bucketcount", shape, &args)?;
    let args = arguments(&[counts, sizes], &[Arg::u32(BLOCKS)]);
    let prefix = Shape::linear(BUCKETS / 128, 128);
    session.launch(module, "bucketprefixoffset", prefix, &args)?;

    let sizes = read_u32(session, sizes, BUCKETS)?;
    let begins = sums(sizes.iter().map(|s| s.div_ceil(4)));
    let begins = session.upload_u32("begins", &begins[..BUCKETS as usize])?;
    let infinite = vec![f32::INFINITY; 4 * padded as usize];
    let buckets = session.upload_f32("buckets", &infinite)?;
    let args = arguments(&[given, places, counts, begins, buckets], &scalars);
    session.launch(module, "bucketSort", shape, &args)?;
    Ok((buckets, sizes))
}

impl Workload for HybridSort {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let mut keys = keys(
            parameters.get_u32("keys"),
            &mut Random::new(seed, "hybrid-sort"),
        );
        let count = keys.len() as u32;
        let module = session.load(&INFO.kernel)?;
        // Buckets take a float4 more at most than their keys need.
        let padded = count / 4 + BUCKETS;
        let (mut from, sizes) = into_buckets(session, &module, &keys, padded.into())?;
        if sizes.iter().map(|s| u64::from(*s)).sum::<u64>() > u64::from(count) {
            return Err(DeviceError::program_failed(
                "the buckets hold more keys than there are",
            ));
        }
        let begins = sums(sizes.iter().map(|s| s.div_ceil(4)));
        let begins = session.upload_u32("begins of lists", &begins)?;
        let packed = session.upload_u32("packed", &sums(sizes.iter().copied()))?;
        let mut to = session.zeroed("lists", 16 * u64::from(padded))?;
        let args = arguments(&[from, to], &[Arg::u32(padded)]);
        session.launch(&module, "mergeSortFirst", Shape::cover(padded, 256), &args)?;
        // A bucket is never expected to hold less than an even share, which sizes the launches.
        let largest = sizes
            .iter()
            .copied()
            .max()
            .unwrap_or(0)
            .max(count / BUCKETS);
        let lists = largest.div_ceil(4);
        let mut length = 1;
        while length < lists {
            (from, to) = (to, from);
            let texture = session.linear_texture(&module, from, padded, (4, 32))?;
            let each = lists.div_ceil(2 * length);
            let args = arguments(&[texture, to, begins], &[length, each].map(Arg::u32));
            let shape = Shape::cover(each * BUCKETS, PASS_THREADS);
            session.launch(&module, "mergeSortPass", shape, &args)?;
            length *= 2;
        }
        let result = session.zeroed("sorted", 4 * u64::from(count))?;
        let mut shape = Shape::cover(largest, 256);
        shape.grid[1] = BUCKETS;
        let args = arguments(&[to, result, begins, packed], &[]);
        session.launch(&module, "mergepack", shape, &args)?;
        keys.sort_by(f32::total_cmp);
        let sorted = check_f32(session, "sorted", result, &keys, &Tolerance::EXACT)?;
        Ok(Outcome::of([sorted]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_make_even_buckets_of_uneven_keys() {
        let make = |seed| keys(100_000, &mut Random::new(seed, "hybrid-sort"));
        let keys = make(1);
        assert_eq!(keys, make(1));
        assert_ne!(keys, make(2));
        let (least, width) = (-20.0, 140.0 / 1024.0);
        let mut histogram = vec![0; 1024];
        for key in &keys {
            histogram[((key - least) / width) as usize] += 1;
        }
        let cuts = cuts(&histogram, least, width);
        assert!(cuts.is_sorted() && cuts.len() == 1024);
        let mut sizes = vec![0; 1024];
        for key in &keys {
            sizes[cuts.partition_point(|c| c <= key)] += 1;
        }
        let largest = sizes.iter().max().copied().unwrap_or(0);
        let coarse = histogram.iter().max().copied().unwrap_or(0);
        assert!(largest < 250 && coarse > 2 * largest, "{largest} {coarse}");
    }

    #[test]
    fn cuts_of_nothing_are_harmless() {
        let cuts = cuts(&[0; 1024], 0.0, 1.0);
        assert_eq!(cuts, vec![f32::INFINITY; 1024]);
        assert_eq!(sums([2, 0, 3].into_iter()), [0, 2, 2, 5]);
    }
}
