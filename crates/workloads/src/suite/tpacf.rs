//! Angular correlation of galaxies.
//!
//! Stands for Parboil's tpacf: 256 threads per block; a block counts the angles of all pairs of a set of
//! directions with itself or with the observed one, in 20 bins that every thread finds by binary search, in 128
//! copies of the histogram in shared memory (10 KB; with the 3 KB of staged directions 3 blocks per SM, as in the
//! virtual-warps paper). 100 random sets make the paper's 201 blocks.
//!
//! First measurement (small, `lrr`, gtx480-v3): 185 million thread instructions, SIMD efficiency 91.5%,
//! 14.9% of warp time at barriers: pairs of a set with itself are a triangle.

use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::element::f32_bytes;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Bins and threads per block, as in the kernel.
const BINS: usize = 20;
const BLOCK: u32 = 256;

static INFO: Info = Info {
    name: "tpacf",
    algorithm: "angular correlation: histogram of the angles between all pairs of directions",
    known_for: "binary search per pair, atomics on histograms in shared memory, few barriers",
    shape: "256 threads per block, one block per pair of sets",
    papers: &["vtw: gen_hists"],
    comparison: "exact: every bin, with cosines computed in the same order",
    parameters: &[
        Parameter::new(
            "sets",
            "random sets of directions",
            [3, 100, 100],
            (1, 1 << 12),
        ),
        Parameter::new("size", "directions of a set", [48, 128, 1024], (1, 1 << 16)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("tpacf"),
};

/// The workload.
pub struct Tpacf;

/// Cosines of the bins' edges, falling: five bins for each tenfold of the angle up to 63 degrees, and
/// everything beyond.
fn edges() -> [f32; BINS + 1] {
    std::array::from_fn(|b| match b {
        0 => 1.5,
        BINS => -1.5,
        _ => {
            let degrees = 10f64.powf((b as f64 - 10.0) / 5.0);
            degrees.to_radians().cos() as f32
        }
    })
}

/// Directions: some of them close together, the others anywhere.
fn directions(count: u32, clustered: bool, random: &mut Random) -> Vec<[f32; 3]> {
    let mut all: Vec<[f32; 3]> = Vec::new();
    for _ in 0..count {
        let z = random.float(-1.0, 1.0);
        let around = random.float(0.0, std::f64::consts::TAU);
        let flat = (1.0 - z * z).sqrt();
        let mut at = [flat * around.cos(), flat * around.sin(), z];
        if clustered && all.len() > 2 && random.below(2) == 0 {
            let near = all[random.below(all.len() as u64) as usize];
            let spread = 10f64.powf(random.float(-3.5, -1.0));
            at = std::array::from_fn(|k| f64::from(near[k]) + spread * at[k]);
        }
        let length = at.iter().map(|x| x * x).sum::<f64>().sqrt();
        all.push(at.map(|x| (x / length) as f32));
    }
    all
}

/// The bin of a pair: the last whose upper edge is above the cosine.
fn bin(a: [f32; 3], b: [f32; 3], edges: &[f32; BINS + 1]) -> usize {
    let cosine = a[2].mul_add(b[2], a[0].mul_add(b[0], a[1] * b[1]));
    edges[1..BINS].partition_point(|edge| cosine < *edge)
}

fn histogram(a: &[[f32; 3]], b: &[[f32; 3]], same: bool, edges: &[f32; BINS + 1]) -> [u32; BINS] {
    let mut counts = [0; BINS];
    for (j, mine) in b.iter().enumerate() {
        let others = if same { &a[..j] } else { a };
        for other in others {
            counts[bin(*mine, *other, edges)] += 1;
        }
    }
    counts
}

impl Workload for Tpacf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [sets, size] = ["sets", "size"].map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "tpacf");
        let all: Vec<Vec<[f32; 3]>> = (0..=sets)
            .map(|set| directions(size, set == 0, &mut random))
            .collect();
        let edges = edges();
        let module = session.load(&INFO.kernel)?;
        session.set_symbol(&module, "edges", &f32_bytes(&edges))?;
        let mut pointers = Vec::new();
        for (axis, label) in ["x", "y", "z"].into_iter().enumerate() {
            let coordinates: Vec<f32> = all.iter().flatten().map(|d| d[axis]).collect();
            pointers.push(session.upload_f32(label, &coordinates)?);
        }
        let blocks = 2 * sets + 1;
        let histograms = session.zeroed("histograms", 4 * BINS as u64 * u64::from(blocks))?;
        pointers.push(histograms);
        let args = arguments(&pointers, &[sets, size].map(Arg::u32));
        session.launch(&module, "gen_hists", Shape::linear(blocks, BLOCK), &args)?;

        let alone = all.iter().map(|set| histogram(set, set, true, &edges));
        let across = all[1..]
            .iter()
            .map(|set| histogram(&all[0], set, false, &edges));
        let expected: Vec<u32> = alone.chain(across).flatten().collect();
        let result = check_u32(session, "histograms", histograms, &expected)?;
        Ok(Outcome::of([result]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_fall_and_bins_are_found() {
        let edges = edges();
        assert!(edges.windows(2).all(|w| w[0] >= w[1]));
        let [x, y] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(bin(x, x, &edges), 0);
        let b = bin(x, y, &edges);
        assert!(edges[b] > 0.0 && edges[b + 1] <= 0.0, "{b}");
        assert_eq!(bin(x, [-1.0, 0.0, 0.0], &edges), BINS - 1);
        assert_eq!(
            histogram(&[x, y], &[x, y], true, &edges)
                .iter()
                .sum::<u32>(),
            1
        );
    }

    #[test]
    fn directions_repeat_have_length_one_and_cluster() {
        let make = |seed| directions(200, true, &mut Random::new(seed, "tpacf"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let length = |d: &[f32; 3]| d.iter().map(|x| x * x).sum::<f32>();
        assert!(make(1).iter().all(|d| (length(d) - 1.0).abs() < 1e-5));
        let counts = histogram(&make(1), &make(1), true, &edges());
        assert!(counts[..10].iter().sum::<u32>() > 20, "{counts:?}");
    }
}
