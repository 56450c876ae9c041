//! A particle filter that follows an object through video.
//!
//! Stands for Rodinia's particlefilter: 512 threads per block, a thread per particle, four kernels: weights by the
//! pixels around a particle (gathers) with a block-wide sum, the sum of the sums by one block, normalised weights with
//! running sums, and new particles by a search in those. The host makes the frames: a bright disc that
//! moves over a dark, noisy ground. Each stage is compared with a reference that starts from what the
//! stage before left on the GPU, because a particle drawn at the edge of two weights may be either.

use super::host::{arguments, float, read_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Mismatch, Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block.
const BLOCK: u32 = 512;
/// Radius of the object, in pixels.
const RADIUS: i64 = 3;

/// Approximate exponentials, and sums in another order.
const WEIGHTS: Tolerance = Tolerance {
    absolute: 1e-6,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "particle-filter",
    algorithm: "particle filter: move and weigh particles by the pixels around them, sum, normalise, draw new ones by a search",
    known_for: "gathers, block-wide sums with a barrier per step, binary searches; some barrier time",
    shape: "512 threads per block, one thread per particle, four kernels per frame",
    papers: &["baws: particlefilter (others, barrier intensity 5%)"],
    comparison: "places and drawn particles exact, weights and running sums within 1e-4, each stage from the one before",
    parameters: &[
        Parameter::new(
            "particles",
            "particles",
            [1000, 92_160, 400_000],
            (1, 1 << 20),
        ),
        Parameter::new("frames", "frames", [1, 1, 4], (1, 100)),
        Parameter::new(
            "side",
            "pixels along a frame's side",
            [64, 256, 512],
            (16, 4096),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("particle-filter"),
};

/// The workload.
pub struct ParticleFilter;

/// Places of the object's pixels, relative to its middle.
fn disc() -> Vec<(i64, i64)> {
    let rows = -RADIUS..=RADIUS;
    rows.flat_map(|y| (-RADIUS..=RADIUS).map(move |x| (x, y)))
        .filter(|(x, y)| x * x + y * y <= RADIUS * RADIUS)
        .collect()
}

/// A frame with the object at a place.
fn frame(side: i64, at: (i64, i64), random: &mut Random) -> Vec<u8> {
    (0..side * side)
        .map(|i| {
            let (dx, dy) = (i % side - at.0, i / side - at.1);
            let bright = dx * dx + dy * dy <= RADIUS * RADIUS;
            let grey = if bright { 228.0 } else { 100.0 };
            (grey + random.float(-25.0, 25.0)) as u8
        })
        .collect()
}

/// The kernel's random numbers.
fn roll(state: &mut u32) -> f32 {
    *state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((*state >> ((*state >> 28) + 4)) ^ *state).wrapping_mul(277_803_737);
    ((word >> 22 ^ word) >> 8) as f32 * (1.0 / 16_777_216.0)
}

fn noise(state: &mut u32) -> f32 {
    (0..12).fold(-6.0, |sum, _| sum + roll(state))
}

/// Place and weight of a particle after it has moved.
fn moved(
    x: f32,
    y: f32,
    state: &mut u32,
    points: &[(i64, i64)],
    (frame, side): (&[u8], i64),
) -> (f32, f32, f32) {
    let x = x + 1.0 + 2.0 * noise(state);
    let y = y - 0.5 + noise(state);
    let middle = [x, y].map(|c| (c + 0.5).floor() as i64);
    let likely = points.iter().map(|(dx, dy)| {
        let px = (middle[0] + dx).clamp(0, side - 1);
        let py = (middle[1] + dy).clamp(0, side - 1);
        let pixel = i64::from(frame[(py * side + px) as usize]);
        (pixel - 100).pow(2) - (pixel - 228).pow(2)
    });
    let mean = likely.sum::<i64>() as f64 / (2000.0 * points.len() as f64);
    (x, y, mean.exp() as f32)
}

/// The first particle whose running sum reaches what each new one wants, by the kernel's search: rounding may make the sums
/// fall a little from one block to the next.
fn drawn(cumulative: &[f32], start: f32) -> Vec<u32> {
    let count = cumulative.len();
    (0..count)
        .map(|i| {
            let wanted = (i as f32 + start) / count as f32;
            let (mut low, mut high) = (0, count - 1);
            while low < high {
                let middle = (low + high) / 2;
                if cumulative[middle] >= wanted {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            low as u32
        })
        .collect()
}

fn check(
    what: &str,
    expected: &[f32],
    got: &[f32],
    tolerance: &Tolerance,
) -> Result<u64, Mismatch> {
    let (expected, got) = (f32_bytes(expected), f32_bytes(got));
    compare(what, Element::F32, &expected, &got, tolerance)
}

impl Workload for ParticleFilter {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [particles, frames, side] =
            ["particles", "frames", "side"].map(|name| parameters.get_u32(name));
        let count = particles as usize;
        let mut random = Random::new(seed, "particle-filter");
        let mut object = (i64::from(side) / 3, i64::from(side) / 2);
        let mut states: Vec<u32> = (0..count).map(|_| random.next_u32()).collect();
        let module = session.load(&INFO.kernel)?;
        let disc = disc();
        let offsets: Vec<u32> = disc
            .iter()
            .flat_map(|(x, y)| [*x as u32, *y as u32])
            .collect();
        let points = offsets.len() as u32 / 2;
        let offsets = session.upload_u32("offsets", &offsets)?;
        let seeds = session.upload_u32("seeds", &states)?;
        let mut xs = session.upload_f32("xs", &vec![object.0 as f32; count])?;
        let mut ys = session.upload_f32("ys", &vec![object.1 as f32; count])?;
        let bytes = 4 * u64::from(particles);
        let mut new_xs = session.zeroed("new xs", bytes)?;
        let mut new_ys = session.zeroed("new ys", bytes)?;
        let weights = session.zeroed("weights", bytes)?;
        let cumulative = session.zeroed("cumulative", bytes)?;
        let indices = session.upload("drawn", &vec![0xff; 4 * count])?;
        let blocks = particles.div_ceil(BLOCK);
        let sums = session.zeroed("sums", 4 * (u64::from(blocks) + 1))?;
        let picture = session.zeroed("frame", u64::from(side).pow(2))?;
        let shape = Shape::linear(blocks, BLOCK);

        let mut outcomes = Vec::new();
        for _ in 0..frames {
            object = (object.0 + 1, object.1 - 1);
            let pixels = frame(i64::from(side), object, &mut random);
            session.device.write(picture, &pixels)?;
            let before = [read_f32(session, xs, count)?, read_f32(session, ys, count)?];

            let pointers = [picture, offsets, xs, ys, weights, seeds, sums];
            let args = arguments(&pointers, &[particles, points, side, side].map(Arg::u32));
            session.launch(&module, "likelihood_kernel", shape, &args)?;
            let expected: Vec<(f32, f32, f32)> = (0..count)
                .map(|i| {
                    let (x, y) = (before[0][i], before[1][i]);
                    moved(x, y, &mut states[i], &disc, (&pixels, i64::from(side)))
                })
                .collect();
            let found = [read_f32(session, xs, count)?, read_f32(session, ys, count)?];
            let column = |pick: fn(&(f32, f32, f32)) -> f32| -> Vec<f32> {
                expected.iter().map(pick).collect()
            };
            outcomes.push(check("xs", &column(|e| e.0), &found[0], &Tolerance::EXACT));
            outcomes.push(check("ys", &column(|e| e.1), &found[1], &Tolerance::EXACT));
            let likely = read_f32(session, weights, count)?;
            outcomes.push(check("weights", &column(|e| e.2), &likely, &WEIGHTS));

            let one = Shape::linear(1, BLOCK);
            let args = arguments(&[sums], &[Arg::u32(blocks)]);
            session.launch(&module, "sum_kernel", one, &args)?;
            let scalars = [particles, blocks].map(Arg::u32);
            let args = arguments(&[weights, cumulative, sums], &scalars);
            session.launch(&module, "normalize_weights_kernel", shape, &args)?;
            let total: f64 = likely.iter().map(|w| f64::from(*w)).sum();
            let running: Vec<f32> = likely
                .iter()
                .scan(0.0, |sum, w| {
                    *sum += f64::from(*w) / total;
                    Some(*sum as f32)
                })
                .collect();
            let reached = read_f32(session, cumulative, count)?;
            outcomes.push(check("cumulative", &running, &reached, &WEIGHTS));

            let start = random.unit() as f32;
            let pointers = [xs, ys, cumulative, new_xs, new_ys, indices];
            let args = arguments(&pointers, &[Arg::u32(particles), float(start)]);
            session.launch(&module, "find_index_kernel", shape, &args)?;
            let expected = u32_bytes(&drawn(&reached, start));
            let got = session.device.read(indices, bytes)?;
            outcomes.push(compare(
                "drawn",
                Element::U32,
                &expected,
                &got,
                &Tolerance::EXACT,
            ));
            let (words, _) = got.as_chunks();
            let chosen = words.iter().map(|w| u32::from_le_bytes(*w) as usize);
            let expected: Vec<f32> = chosen
                .map(|i| found[0].get(i).copied().unwrap_or(f32::NAN))
                .collect();
            let got = read_f32(session, new_xs, count)?;
            outcomes.push(check("new xs", &expected, &got, &Tolerance::EXACT));
            std::mem::swap(&mut xs, &mut new_xs);
            std::mem::swap(&mut ys, &mut new_ys);
        }
        Ok(Outcome::of(outcomes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_on_the_object_weigh_more() {
        let pixels = frame(64, (30, 30), &mut Random::new(1, "particle-filter"));
        let weigh = |x: f32| {
            // A state whose noise is known: the particle is put where it ends on `x`.
            let mut state = 7;
            let (there, _, _) = moved(0.0, 30.0, &mut 7, &disc(), (&pixels, 64));
            moved(x - there, 30.0, &mut state, &disc(), (&pixels, 64)).2
        };
        assert!(weigh(30.0) > 10.0 * weigh(50.0));
        assert_eq!(disc().len(), 29);
    }

    #[test]
    fn heavy_particles_are_drawn_often() {
        assert_eq!(drawn(&[0.1, 0.9, 0.95, 1.0], 0.5), [1, 1, 1, 1]);
        assert_eq!(drawn(&[0.25, 0.5, 0.75, 1.0], 0.9), [0, 1, 2, 3]);
    }
}
