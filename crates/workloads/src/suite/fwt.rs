//! Fast Walsh transform.
//!
//! Stands for the SDK's fast Walsh transform: a few passes over global memory for the long strides,
//! then segments of 2^11 elements in shared memory, transformed by 512 threads (16 warps) with a
//! barrier before each radix-4 level. Inputs are signals of a few square waves with noise, as such
//! a transform is used for, in batches as the original takes them. Addresses in shared memory are
//! 32 bits wide, as in the 32-bit builds of the papers' time: a stage is short, and 64-bit address
//! arithmetic would be a third of it.
//!
//! First measurement (small, `lrr`, gtx480-v3): 13.1 million thread instructions, SIMD efficiency
//! 100%, 10.2% of warp time at barriers (14.0% in the shared-memory kernel, 0 in the pass before;
//! under `gto` 19% in the shared-memory kernel). That is below the 15% that the set asks for under
//! `lrr`: stages are even, and the warps of a block arrive close together. So it is not
//! listed there; the barrier paper's study runs it among its set all the same.

use super::host::{arguments, check_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Logarithm of the elements a block transforms in shared memory.
const SEGMENT_LOG: u32 = 11;
/// Threads per block: a quarter of a segment's elements.
const BLOCK: u32 = 1 << (SEGMENT_LOG - 2);
/// Threads per block of the passes over global memory.
const GLOBAL_BLOCK: u32 = 256;

/// Sums of `length` values of about 1 in single precision, most of which nearly cancel: what is
/// rounded off on the way goes by the largest of them, which is about `length`.
fn tolerance(length: u32) -> Tolerance {
    Tolerance {
        absolute: (f64::from(f32::EPSILON) * f64::from(length)).max(0.05),
        relative: 1e-5,
        ulp: 0,
    }
}

static INFO: Info = Info {
    name: "fwt",
    algorithm: "fast Walsh-Hadamard transform, radix 4: long strides in global memory, the rest in shared memory",
    known_for: "short butterfly stages between barriers",
    shape: "512 threads per block for 2048 elements in shared memory, 256 for the passes before",
    papers: &["baws: FWT (barrier-intensive, 16 warps per block, 3 blocks per SM)"],
    comparison: "within 0.05 (longer ones: a millionth of 0.12 for each element) or 1e-5 of the value, against a transform in double precision",
    parameters: &[
        Parameter::new(
            "levels",
            "logarithm of a transform's length; odd",
            [13, 13, 17],
            (SEGMENT_LOG as u64, 21),
        ),
        Parameter::new("batch", "transforms", [1, 45, 16], (1, 64)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("fwt"),
};

/// The workload.
pub struct Fwt;

/// A sum of square waves of dyadic period and a little noise.
fn signal(count: usize, random: &mut Random) -> Vec<f32> {
    let waves: Vec<(u32, f64)> = (0..6)
        .map(|_| (random.below(count as u64) as u32, random.float(0.2, 1.0)))
        .collect();
    (0..count as u32)
        .map(|i| {
            let sum: f64 = waves
                .iter()
                .map(|(which, height)| match (i & which).count_ones() % 2 {
                    0 => *height,
                    _ => -height,
                })
                .sum();
            (sum + random.float(-0.1, 0.1)) as f32
        })
        .collect()
}

/// Level by level, two elements at a time.
fn reference(data: &[f32]) -> Vec<f32> {
    let mut d: Vec<f64> = data.iter().map(|x| f64::from(*x)).collect();
    let mut half = 1;
    while half < d.len() {
        for pair in d.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    d.iter().map(|x| *x as f32).collect()
}

impl Workload for Fwt {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let levels = parameters.get_u32("levels");
        if levels.is_multiple_of(2) {
            return Err(DeviceError::bad_input(format!(
                "fwt: levels = {levels}, but must be odd: passes over global memory take two levels each"
            )));
        }
        let (length, batch) = (1u32 << levels, parameters.get_u32("batch"));
        let mut random = Random::new(seed, "fwt");
        let data: Vec<f32> = (0..batch)
            .flat_map(|_| signal(length as usize, &mut random))
            .collect();
        let count = length * batch;
        let module = session.load(&INFO.kernel)?;
        let device = session.upload_f32("data", &data)?;
        let mut stride = length / 4;
        while stride >= 1 << SEGMENT_LOG {
            let shape = Shape::linear(count / 4 / GLOBAL_BLOCK, GLOBAL_BLOCK);
            let args = arguments(&[device], &[Arg::u32(stride)]);
            session.launch(&module, "fwt_global", shape, &args)?;
            stride /= 4;
        }
        let shape = Shape::linear(count >> SEGMENT_LOG, BLOCK);
        let args = arguments(&[device], &[Arg::u32(SEGMENT_LOG)]);
        session.launch(&module, "fwt_shared", shape, &args)?;
        let transforms = data.chunks_exact(length as usize);
        let expected: Vec<f32> = transforms.flat_map(reference).collect();
        let data = check_f32(session, "data", device, &expected, &tolerance(length))?;
        Ok(Outcome::of([data]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_transforms_and_is_its_own_inverse() {
        assert_eq!(reference(&[1.0, 2.0, 3.0, 5.0]), [11.0, -3.0, -5.0, 1.0]);
        let data = signal(64, &mut Random::new(1, "fwt"));
        for (there, back) in data.iter().zip(reference(&reference(&data))) {
            assert!((there * 64.0 - back).abs() < 1e-3);
        }
    }

    #[test]
    fn signals_repeat_and_have_few_strong_waves() {
        let make = |seed| signal(2048, &mut Random::new(seed, "fwt"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let strong = reference(&make(1))
            .iter()
            .filter(|x| x.abs() > 200.0)
            .count();
        assert!((1..=6).contains(&strong), "{strong}");
    }
}
