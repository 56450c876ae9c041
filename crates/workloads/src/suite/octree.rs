//! Octree partitioning of points.
//!
//! Stands for OCTP, octree partitioning with dynamic load balancing: blocks of 256 threads stay on
//! the GPU, take nodes from lock-free lists of work (their own first, then those of others), count
//! the node's points by octant, scan the counts over the block, move the points and append the
//! children that are to be split again. Five barriers for the scan and seven more for the other
//! steps of a node; while one thread looks for work, the others wait at a barrier. Shared memory (8 KB of counters
//! and 2 KB for the scan) makes the paper's 4 blocks per SM.
//!
//! The points are those of a few clusters and of a thin background. They come sorted into bricks of
//! space, as a program with a decomposed domain has them: from a single root, one block would work
//! and all others wait for most of the run.
//!
//! First measurement (small, `lrr`, gtx480-v3): 77 million thread instructions, SIMD efficiency 81.9%,
//! 38.3% of warp time at barriers; 4 blocks per SM as in the paper.

use super::host::{arguments, check_f32, check_u32};
use super::packed::packed;
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block, as in the kernel.
const BLOCK: u32 = 256;
/// The level at which nodes are leaves whatever they hold: paths have 32 bits.
const DEEPEST: u32 = 7;

static INFO: Info = Info {
    name: "octree",
    algorithm: "octree partitioning: blocks take nodes from lock-free lists, count, scan and move their points, append children",
    known_for: "barriers between the steps of a node, one thread that looks for work while its block waits",
    shape: "256 threads per block; blocks stay until all points are in leaves",
    papers: &["baws: OCTP (barrier-intensive, 8 warps per block, 4 blocks per SM)"],
    comparison: "exact: the order of the points and every leaf",
    parameters: &[
        Parameter::new("points", "points", [3000, 196_608, 1 << 20], (1, 1 << 20)),
        Parameter::new(
            "leaf",
            "nodes of no more points are leaves",
            [64, 128, 128],
            (32, 4096),
        ),
        Parameter::new(
            "bricks",
            "the points come sorted into 2^bricks bricks along each side",
            [1, 3, 3],
            (0, 3),
        ),
        Parameter::new(
            "blocks",
            "blocks, each with a list of work",
            [8, 60, 60],
            (1, 120),
        ),
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("octree"),
};

/// The workload.
pub struct Octree;

/// A point: three coordinates from 0 up to 1, and its number as a float.
type Point = [f32; 4];

/// Two thirds of the points in clusters, the others anywhere.
fn space(count: u32, random: &mut Random) -> Vec<Point> {
    let clusters: Vec<([f64; 3], f64)> = (0..24)
        .map(|_| {
            let centre = [0; 3].map(|_| random.float(0.1, 0.9));
            (centre, random.float(0.03, 0.15))
        })
        .collect();
    (0..count)
        .map(|number| {
            let mut at = [0; 3].map(|_| random.unit());
            if random.below(3) > 0 {
                let (centre, radius) = &clusters[random.below(24) as usize];
                for (x, middle) in at.iter_mut().zip(centre) {
                    let away = *x + random.unit() + random.unit() - 1.5;
                    *x = (middle + radius * away).clamp(0.0, 1.0);
                }
            }
            // Rounding must not make it 1.
            let [x, y, z] = at.map(|x| (x as f32).min(1.0 - f32::EPSILON));
            [x, y, z, number as f32]
        })
        .collect()
}

/// The place of a point among 2^`bits` parts of each side, as digits of an octree's path.
fn digits(point: &Point, bits: u32) -> u32 {
    let scale = (1u32 << bits) as f32;
    let [x, y, z] = [point[0], point[1], point[2]].map(|x| (x * scale) as u32);
    (0..bits).rev().fold(0, |path, bit| {
        let digit = (z >> bit & 1) << 2 | (y >> bit & 1) << 1 | (x >> bit & 1);
        path << 3 | digit
    })
}

/// A node of the tree and its points.
#[derive(Clone, Copy)]
struct Node {
    first: u32,
    count: u32,
    level: u32,
    path: u32,
}

/// The bricks that hold points, which are sorted by brick.
fn bricks(points: &mut [Point], bits: u32) -> Vec<Node> {
    points.sort_by_key(|p| digits(p, bits));
    let mut first = 0;
    let same = |a: &Point, b: &Point| digits(a, bits) == digits(b, bits);
    let brick = |points: &[Point]| {
        let node = Node {
            first,
            count: points.len() as u32,
            level: 0,
            path: digits(&points[0], bits),
        };
        first += node.count;
        node
    };
    points.chunk_by(same).map(brick).collect()
}

/// Splits a node as the kernel does: by octant, and within one by the thread that moves them.
/// Leaves are written down at their first point.
fn split(
    node: Node,
    brick_bits: u32,
    leaf_size: u32,
    points: &mut [Point],
    leaves: &mut [[u32; 4]],
) {
    let part = &mut points[node.first as usize..(node.first + node.count) as usize];
    let octant = |p: &Point| digits(p, brick_bits + node.level + 1) & 7;
    let mut order: Vec<(u32, u32, Point)> = part
        .iter()
        .enumerate()
        .map(|(i, p)| (octant(p), i as u32 % BLOCK, *p))
        .collect();
    order.sort_by_key(|(octant, thread, _)| (*octant, *thread));
    let mut first = node.first;
    for (place, (_, _, point)) in part.iter_mut().zip(&order) {
        *place = *point;
    }
    for children in order.chunk_by(|a, b| a.0 == b.0) {
        let child = Node {
            first,
            count: children.len() as u32,
            level: node.level + 1,
            path: node.path << 3 | children[0].0,
        };
        first += child.count;
        if child.count <= leaf_size || child.level == DEEPEST {
            leaves[child.first as usize] = [child.path, child.level, child.first, child.count];
        } else {
            split(child, brick_bits, leaf_size, points, leaves);
        }
    }
}

impl Workload for Octree {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [count, leaf_size, brick_bits, lists] =
            ["points", "leaf", "bricks", "blocks"].map(|name| parameters.get_u32(name));
        let mut points = space(count, &mut Random::new(seed, "octree"));
        let bricks = bricks(&mut points, brick_bits);
        // A list never holds more than all bricks, and all nodes of each level that are split.
        let capacity = bricks.len() as u32 + DEEPEST * (count / leaf_size);
        let mut entries = vec![[0u32; 4]; (capacity * lists) as usize];
        let mut tails = vec![0u32; lists as usize];
        for (brick, list) in bricks.iter().zip((0..lists).cycle()) {
            let tail = &mut tails[list as usize];
            entries[(list * capacity + *tail) as usize] =
                [brick.first, brick.count, brick.level, brick.path];
            *tail += 1;
        }

        let module = session.load(&INFO.kernel)?;
        let bytes = 16 * u64::from(count);
        let entries = session.upload_u32("work", entries.as_flattened())?;
        let heads = session.zeroed("heads", 4 * u64::from(lists))?;
        let tails = session.upload_u32("tails", &tails)?;
        let even = session.upload_f32("points of even levels", points.as_flattened())?;
        let odd = session.zeroed("points of odd levels", bytes)?;
        let sorted = session.zeroed("points by leaf", bytes)?;
        let leaf_table = session.zeroed("leaves", bytes)?;
        let finished = session.zeroed("finished", 4)?;
        let scalars = [lists, capacity].map(Arg::u32);
        let work = packed(&arguments(&[entries, heads, tails], &scalars));
        let scalars = [count, leaf_size, DEEPEST, brick_bits].map(Arg::u32);
        let tree = packed(&arguments(
            &[even, odd, sorted, leaf_table, finished],
            &scalars,
        ));
        let shape = Shape::linear(lists, BLOCK);
        session.launch(&module, "octree", shape, &[work, tree])?;

        let mut leaves = vec![[0; 4]; count as usize];
        for brick in bricks {
            split(brick, brick_bits, leaf_size, &mut points, &mut leaves);
        }
        let points = points.as_flattened();
        Ok(Outcome::of([
            check_u32(session, "leaves", leaf_table, leaves.as_flattened())?,
            check_f32(session, "points", sorted, points, &Tolerance::EXACT)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_tell_the_octants_from_the_top() {
        assert_eq!(digits(&[0.75, 0.25, 0.0, 0.0], 2), 0o13);
        assert_eq!(digits(&[0.0, 0.0, 0.99, 0.0], 3), 0o444);
    }

    #[test]
    fn leaves_cover_all_points_and_hold_only_theirs() {
        let mut points = space(5000, &mut Random::new(1, "octree"));
        assert_eq!(points, space(5000, &mut Random::new(1, "octree")));
        assert_ne!(points, space(5000, &mut Random::new(2, "octree")));
        let bricks = bricks(&mut points, 2);
        let mut leaves = vec![[0; 4]; points.len()];
        for brick in bricks {
            split(brick, 2, 50, &mut points, &mut leaves);
        }
        let mut next = 0;
        for [path, level, first, count] in leaves.into_iter().filter(|leaf| leaf[3] > 0) {
            assert_eq!(first, next);
            next += count;
            assert!(count <= 50 || level == DEEPEST);
            for point in &points[first as usize..next as usize] {
                assert_eq!(digits(point, 2 + level), path);
            }
        }
        assert_eq!(next, 5000);
    }
}
