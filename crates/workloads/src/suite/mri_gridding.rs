//! Gridding of magnetic-resonance samples.
//!
//! Stands for Parboil's mri-gridding: samples are put into bins (512 threads per block), sorted by bin
//! (`splitSort`, 256 threads and 12 KB of shared memory, 3 blocks per SM as in the virtual-warps paper),
//! counts are added up (`scan_L1_kernel`), and blocks of 512 threads gather what lies around 64 grid
//! points and add it up in shared memory. Scans are trees of sums with fewer and fewer active threads
//! between barriers; bins hold very different numbers of samples, and the warps of a gathering block
//! wait for the fullest. 16 warps per block and 3 blocks per SM are the barrier paper's.
//!
//! Samples lie on spokes through the axis of k-space, stacked along it: dense in the middle.
//!
//! First measurement (small, `lrr`, gtx480-v3): 247 million thread instructions, SIMD efficiency 75.7%,
//! 15.8% of warp time at barriers (34% in splitSort, 15% in gridding_GPU); 3 blocks per SM as in the papers.

use super::host::{arguments, check_f32, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Module, Session, Shape};
use crate::input::random::Random;

/// Threads per block of the kernels that have one per sample, and of the sort.
const BINNING: u32 = 512;
const SORTING: u32 = 256;
/// Samples that a block sorts, and numbers that a block scans.
const TILE: u32 = 1024;
/// Bits of a digit, as in the kernel.
const DIGIT_BITS: u32 = 4;
/// Samples of a spoke.
const SPOKE: u32 = 64;

/// Sums of up to some thousand terms in single precision, in another order.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "mri-gridding",
    algorithm: "gridding of magnetic-resonance samples: bins, radix sort, scan of the counts, gathering by tiles of the grid",
    known_for: "trees of sums with barriers, bins of very different size, atomics on counters",
    shape: "512 threads per block for samples, scans and 4x4x4 grid points, 256 for 1024 keys of the sort",
    papers: &[
        "baws: MG (barrier-intensive, 16 warps per block, 3 blocks per SM)",
        "vtw: binning_kernel, splitSort, scan_L1_kernel",
    ],
    comparison: "exact: the order of the samples; the grid within 1e-3 or 1e-4 of the value, against double precision",
    parameters: &[
        Parameter::new(
            "samples",
            "samples",
            [1024, 184_320, 655_360],
            (TILE as u64, 1 << 22),
        )
        .multiple_of(TILE as u64),
        Parameter::new(
            "bits",
            "the grid has 2^bits points along each side",
            [3, 5, 6],
            (2, 6),
        ),
    ],
    sets: &[Set::Divergent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("mri-gridding"),
};

/// The workload.
pub struct MriGridding;

/// Positions with weights, and signals.
struct Samples {
    places: Vec<[f32; 4]>,
    signals: Vec<[f32; 2]>,
}

/// Spokes of random direction in planes one above the other. The weight makes up for the density.
fn spokes(count: u32, side: u32, random: &mut Random) -> Samples {
    let middle = f64::from(side) / 2.0;
    let mut samples = Samples {
        places: Vec::new(),
        signals: Vec::new(),
    };
    let inside = |x: f64| (x as f32).clamp(0.0, side as f32 - 0.001);
    let (mut angle, mut plane) = (0.0, 0.0);
    for i in 0..count {
        if i % SPOKE == 0 {
            angle = random.float(0.0, std::f64::consts::TAU);
            plane = random.float(0.0, f64::from(side));
        }
        let along = (f64::from(i % SPOKE) + random.unit()) / f64::from(SPOKE) * 2.0 - 1.0;
        let (sine, cosine) = angle.sin_cos();
        let [x, y] = [cosine, sine].map(|part| inside(middle + middle * along * part));
        let weight = along.abs().max(0.02) as f32;
        samples.places.push([x, y, inside(plane), weight]);
        let fades = 1.0 / (1.0 + 16.0 * along * along);
        let mut noisy = |wave: f64| (fades * wave + random.float(-0.02, 0.02)) as f32;
        let signal = [noisy((9.0 * along).cos()), noisy((5.0 * along).sin())];
        samples.signals.push(signal);
    }
    samples
}

/// The bin of a sample.
fn bin(place: &[f32; 4], bits: u32) -> u32 {
    let [x, y, z] = [place[0], place[1], place[2]].map(|x| x as u32);
    (z << bits | y) << bits | x
}

/// Spreads every sample onto the points around it, in double precision.
fn reference(samples: &Samples, bits: u32) -> Vec<f32> {
    let side = 1i64 << bits;
    let mut grid = vec![[0.0f64; 4]; 1 << (3 * bits)];
    for (place, signal) in samples.places.iter().zip(&samples.signals) {
        let at = place.map(f64::from);
        for corner in 0..8 {
            let point: [i64; 3] = std::array::from_fn(|k| at[k] as i64 + (corner >> k & 1));
            let squares = (0..3).map(|k| (at[k] - point[k] as f64).powi(2));
            let d2: f64 = squares.sum();
            if d2 >= 1.0 || point.iter().any(|x| *x >= side) {
                continue;
            }
            let weight = at[3] * (1.0 - d2).powi(2) * (1.0 + d2 * (0.75 + d2 * 0.5));
            let [x, y, z] = point;
            let sums = &mut grid[(((z << bits) | y) << bits | x) as usize];
            sums[0] += weight * f64::from(signal[0]);
            sums[1] += weight * f64::from(signal[1]);
            sums[2] += weight;
        }
    }
    grid.into_iter().flatten().map(|x| x as f32).collect()
}

/// Replaces numbers by the sums of those before them.
fn scan(
    module: &Module,
    data: u64,
    count: u32,
    session: &mut Session<'_>,
) -> Result<(), DeviceError> {
    let tiles = count.div_ceil(TILE);
    let totals = session.zeroed("totals", 4 * u64::from(tiles))?;
    let shape = Shape::linear(tiles, BINNING);
    let args = arguments(&[data, totals], &[]);
    session.launch(module, "scan_L1_kernel", shape, &args)?;
    let one = Shape::linear(1, BINNING);
    let sums = arguments(&[totals], &[Arg::u32(tiles)]);
    session.launch(module, "scan_inter_kernel", one, &sums)?;
    session.launch(module, "uniformAdd", shape, &args)
}

impl Workload for MriGridding {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [count, bits] = ["samples", "bits"].map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "mri-gridding");
        let samples = spokes(count, 1 << bits, &mut random);
        let bins = 1u32 << (3 * bits);
        let module = session.load(&INFO.kernel)?;
        let places = session.upload_f32("samples", samples.places.as_flattened())?;
        let signals = session.upload_f32("signals", samples.signals.as_flattened())?;
        let words = 4 * u64::from(count);
        let from = [
            session.zeroed("keys", words)?,
            session.zeroed("values", words)?,
        ];
        let to = [
            session.zeroed("sorted keys", words)?,
            session.zeroed("sorted values", words)?,
        ];
        // One more than bins, and whole tiles of the scan.
        let scanned = (bins + 1).next_multiple_of(TILE);
        let starts = session.zeroed("starts of bins", 4 * u64::from(scanned))?;
        let by_sample = Shape::linear(count / BINNING, BINNING);
        let args = arguments(&[places, from[0], from[1], starts], &[Arg::u32(bits)]);
        session.launch(&module, "binning_kernel", by_sample, &args)?;

        let tiles = count / TILE;
        let digits = (tiles << DIGIT_BITS).next_multiple_of(TILE);
        let counts = session.zeroed("digits", 4 * u64::from(digits))?;
        let begins = session.zeroed("starts of digits", 4 * u64::from(digits))?;
        let sort = Shape::linear(tiles, SORTING);
        for shift in (0..3 * bits).step_by(DIGIT_BITS as usize) {
            let shift = [Arg::u32(shift)];
            let args = arguments(&[from[0], from[1], to[0], to[1], counts, begins], &shift);
            session.launch(&module, "splitSort", sort, &args)?;
            scan(&module, counts, digits, session)?;
            let args = arguments(&[to[0], to[1], from[0], from[1], counts, begins], &shift);
            session.launch(&module, "splitRearrange", sort, &args)?;
        }
        let order = from[1];
        scan(&module, starts, scanned, session)?;

        let sorted = session.zeroed("sorted samples", 4 * words)?;
        let sorted_signals = session.zeroed("sorted signals", 2 * words)?;
        let args = arguments(&[order, places, signals, sorted, sorted_signals], &[]);
        session.launch(&module, "reorder_kernel", by_sample, &args)?;
        let grid = session.zeroed("grid", 16 * u64::from(bins))?;
        let args = arguments(&[sorted, sorted_signals, starts, grid], &[Arg::u32(bits)]);
        let by_point = Shape::linear(bins / 64, BINNING);
        session.launch(&module, "gridding_GPU", by_point, &args)?;

        let mut expected: Vec<u32> = (0..count).collect();
        expected.sort_by_key(|i| bin(&samples.places[*i as usize], bits));
        Ok(Outcome::of([
            check_u32(session, "order", order, &expected)?,
            check_f32(
                session,
                "grid",
                grid,
                &reference(&samples, bits),
                &TOLERANCE,
            )?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_on_a_point_goes_there_and_one_between_goes_to_eight() {
        let samples = |at: [f32; 3]| Samples {
            places: vec![[at[0], at[1], at[2], 2.0]],
            signals: vec![[3.0, -1.0]],
        };
        let grid = reference(&samples([1.0, 2.0, 3.0]), 2);
        let at = 4 * (3 * 16 + 2 * 4 + 1);
        assert_eq!(grid[at..at + 4], [6.0, -2.0, 2.0, 0.0]);
        assert_eq!(grid.iter().filter(|x| **x != 0.0).count(), 3);
        let grid = reference(&samples([0.5, 0.5, 0.5]), 2);
        assert_eq!(grid.iter().filter(|x| **x != 0.0).count(), 24);
        assert_eq!(bin(&[1.5, 2.5, 3.5, 0.0], 2), 3 * 16 + 2 * 4 + 1);
    }

    #[test]
    fn spokes_repeat_stay_inside_and_are_dense_in_the_middle() {
        let make = |seed| spokes(4096, 16, &mut Random::new(seed, "mri-gridding")).places;
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let inside = |p: &&[f32; 4]| p[..3].iter().all(|x| (0.0..16.0).contains(x));
        assert_eq!(make(1).iter().filter(inside).count(), 4096);
        let near = |p: &&[f32; 4]| (p[0] - 8.0).hypot(p[1] - 8.0) < 2.0;
        let dense = make(1).iter().filter(near).count();
        assert!(dense > 4096 / 5 && dense < 4096 / 3, "{dense}");
    }
}
