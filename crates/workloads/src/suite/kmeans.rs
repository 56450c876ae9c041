//! k-means: the nearest centre of every point.
//!
//! Stands for Rodinia's kmeans: 256 threads per block, one thread per point of 34 features (16 at
//! `small`, which turns them round only for two iterations) and five centres, features turned round so that a warp's loads coalesce, centres in constant memory; the
//! host moves the centres between iterations. No divergence, bound by memory. Points scatter around
//! a few true centres.
//!
//! First measurement (small, `lrr`, gtx480-v3): 21.6 million thread instructions, SIMD efficiency
//! 100%, no barriers; turning the features round takes more than half of the cycles.

use super::host::arguments;
use super::{Info, Parameter, Parameters, REGISTERS, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block.
const BLOCK: u32 = 256;
/// Floats that the kernel's constant array of centres holds.
const MOST: u32 = 4096;
/// Two centres are equally near when the squared distances differ by less than this share.
const TIE: f64 = 1e-5;

static INFO: Info = Info {
    name: "kmeans",
    algorithm: "k-means: the nearest of k centres for every point; the host moves the centres",
    known_for: "coherent and bound by memory: coalesced features, centres from constant memory",
    shape: "256 threads per block, one thread per point",
    papers: &["vtw: kmeans"],
    comparison: "exact: the nearest centre; of those within 1e-5 of the least squared distance, any",
    parameters: &[
        Parameter::new("points", "points", [300, 92_160, 200_000], (1, 1 << 20)),
        Parameter::new("features", "features of a point", [10, 16, 34], (1, 128)),
        Parameter::new("clusters", "centres", [4, 5, 5], (1, 32)),
        Parameter::new("iterations", "iterations", [1, 2, 5], (1, 100)),
        REGISTERS,
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("kmeans"),
};

/// The workload.
pub struct KMeans;

/// Points around true centres, one after the other.
fn points(count: usize, features: usize, clusters: usize, random: &mut Random) -> Vec<f32> {
    let centres: Vec<f64> = (0..clusters * features)
        .map(|_| random.float(0.0, 10.0))
        .collect();
    let mut points = Vec::with_capacity(count * features);
    for _ in 0..count {
        let at = random.below(clusters as u64) as usize * features;
        for centre in &centres[at..at + features] {
            let spread = random.unit() + random.unit() + random.unit() - 1.5;
            points.push((centre + 4.0 * spread) as f32);
        }
    }
    points
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |(x, y): (&f32, &f32)| (f64::from(*x) - f64::from(*y)).powi(2);
    a.iter().zip(b).map(square).sum()
}

/// The nearest centre of each point; where `got` names one that is as near, that one.
fn nearest(points: &[f32], centres: &[f32], features: usize, got: &[u32]) -> Vec<u32> {
    let each = points.chunks_exact(features).zip(got);
    each.map(|(point, got)| {
        let distances: Vec<f64> = centres
            .chunks_exact(features)
            .map(|centre| squared_distance(point, centre))
            .collect();
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        match distances.get(*got as usize) {
            Some(there) if *there <= least * (1.0 + TIE) => *got,
            _ => distances.iter().position(|d| *d == least).unwrap_or(0) as u32,
        }
    })
    .collect()
}

/// Every centre moves to the mean of its points, or stays where it has none.
fn moved(points: &[f32], centres: &[f32], features: usize, membership: &[u32]) -> Vec<f32> {
    let mut sums = vec![0.0f64; centres.len()];
    let mut counts = vec![0u32; centres.len() / features];
    for (point, cluster) in points.chunks_exact(features).zip(membership) {
        counts[*cluster as usize] += 1;
        let sums = &mut sums[*cluster as usize * features..][..features];
        for (sum, x) in sums.iter_mut().zip(point) {
            *sum += f64::from(*x);
        }
    }
    let place = |(i, sum): (usize, f64)| match counts[i / features] {
        0 => centres[i],
        count => (sum / f64::from(count)) as f32,
    };
    sums.into_iter().enumerate().map(place).collect()
}

impl Workload for KMeans {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [count, dimensions, clusters] =
            ["points", "features", "clusters"].map(|name| parameters.get_u32(name));
        // The declared ranges keep the centres within the kernel's constant array.
        debug_assert!(dimensions * clusters <= MOST);
        let features = dimensions as usize;
        let mut random = Random::new(seed, "kmeans");
        let points = points(count as usize, features, clusters as usize, &mut random);
        let module = session.load(&INFO.kernel)?;
        let (constant, _) = session.device.symbol(module.id, "centres").ok_or_else(|| {
            DeviceError::bad_input("kmeans.ptx has no variable `centres`; rebuild it")
        })?;
        let given = session.upload_f32("points", &points)?;
        let turned = session.zeroed("features", 4 * points.len() as u64)?;
        let membership = session.upload("membership", &vec![0xff; 4 * count as usize])?;
        let shape = Shape::cover(count, BLOCK);
        let args = arguments(&[given, turned], &[count, dimensions].map(Arg::u32));
        session.launch(&module, "kmeans_transpose", shape, &args)?;

        // The first points are the first centres.
        let mut centres: Vec<f32> = (0..clusters as usize * features)
            .map(|i| points[i % points.len()])
            .collect();
        let mut outcomes = Vec::new();
        for _ in 0..parameters.get_u32("iterations") {
            session.device.write(constant, &f32_bytes(&centres))?;
            let scalars = [count, dimensions, clusters].map(Arg::u32);
            let args = arguments(&[turned, membership], &scalars);
            let kernel = (&INFO.kernel, "kmeans_nearest");
            let registers = parameters.get_u32("registers");
            session.launch_counted(&module, kernel, shape, &args, registers)?;
            let bytes = session.device.read(membership, 4 * u64::from(count))?;
            let (words, _) = bytes.as_chunks();
            let got: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
            let expected = nearest(&points, &centres, features, &got);
            centres = moved(&points, &centres, features, &expected);
            outcomes.push(compare(
                "membership",
                Element::U32,
                &u32_bytes(&expected),
                &bytes,
                &Tolerance::EXACT,
            ));
        }
        Ok(Outcome::of(outcomes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_find_their_centres_and_centres_move() {
        let points = [0.0, 0.0, 1.0, 0.0, 9.0, 9.0];
        let centres = [0.0, 1.0, 8.0, 8.0, 50.0, 50.0];
        let membership = nearest(&points, &centres, 2, &[7, 7, 7]);
        assert_eq!(membership, [0, 0, 1]);
        let moved = moved(&points, &centres, 2, &membership);
        assert_eq!(moved, [0.5, 0.0, 9.0, 9.0, 50.0, 50.0]);
        // Of two that are equally near, either is right.
        assert_eq!(nearest(&[1.0], &[0.0, 2.0], 1, &[1]), [1]);
        assert_eq!(nearest(&[1.0], &[0.0, 2.0], 1, &[2]), [0]);
    }

    #[test]
    fn every_range_of_centres_fits_the_constant_array() {
        let most = |name: &str| {
            let parameter = INFO.parameters.iter().find(|p| p.name == name);
            parameter.map_or(0, |p| p.range.1)
        };
        assert!(most("features") * most("clusters") <= u64::from(MOST));
        let make = |seed| points(50, 3, 2, &mut Random::new(seed, "kmeans"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }
}
