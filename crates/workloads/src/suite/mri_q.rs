//! The Q matrix of magnetic-resonance reconstruction.
//!
//! Stands for Parboil's mri-q: 256 threads per block, a thread per voxel, samples of k-space through
//! constant memory a chunk per launch, a sine and a cosine for each sample; a small kernel of 512 threads
//! computes the samples' magnitudes first. No divergence, no barriers: floating-point arithmetic and special
//! functions. The virtual-warps paper's kernel has 128 blocks, 5 per SM; so has ours.
//!
//! First measurement (small, `lrr`, gtx480-v3): 70.5 million thread instructions, SIMD efficiency 100%, no barriers.

use super::host::{arguments, check_f32, read_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::element::f32_bytes;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Samples that the constant array holds, and threads per block, as in the kernel.
const CHUNK: u32 = 1024;
const BLOCK: u32 = 256;

/// Sums of up to a few thousand terms of at most two. Phases of up to 100 are rounded to about 1e-5, and
/// the special function unit's sines and cosines are no better.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 5e-3,
    relative: 1e-3,
    ulp: 0,
};

static INFO: Info = Info {
    name: "mri-q",
    algorithm: "Q matrix of magnetic-resonance reconstruction: sum over k-space of magnitude times cosine and sine",
    known_for: "no divergence; bound by floating-point arithmetic and special functions, samples from constant memory",
    shape: "256 threads per block, one thread per voxel, one launch per 1024 samples",
    papers: &["vtw: ComputeQ_GPU", "origami: mri-q"],
    comparison: "within 5e-3 or 1e-3 of the value, against sums in double precision",
    parameters: &[
        Parameter::new(
            "voxels",
            "voxels",
            [512, 32_768, 262_144],
            (BLOCK as u64, 1 << 24),
        )
        .multiple_of(BLOCK as u64),
        Parameter::new(
            "samples",
            "samples of k-space",
            [48, 192, 3072],
            (1, 1 << 16),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("mri-q"),
};

/// The workload.
pub struct MriQ;

/// Points in a cube around the origin, one array per coordinate.
fn cube(count: u32, half: f64, random: &mut Random) -> [Vec<f32>; 3] {
    [0; 3].map(|_| {
        let coordinate = |_| random.float(-half, half) as f32;
        (0..count).map(coordinate).collect()
    })
}

/// Q of a voxel in double precision.
fn reference(voxel: [f32; 3], samples: &[Vec<f32>; 3], phi: &[[f32; 2]]) -> [f32; 2] {
    let mut sum = [0.0f64; 2];
    for (k, phi) in phi.iter().enumerate() {
        let products = (0..3).map(|axis| f64::from(samples[axis][k]) * f64::from(voxel[axis]));
        let angle = std::f64::consts::TAU * products.sum::<f64>();
        let magnitude: f64 = phi.iter().map(|p| f64::from(*p).powi(2)).sum();
        sum[0] += magnitude * angle.cos();
        sum[1] += magnitude * angle.sin();
    }
    sum.map(|x| x as f32)
}

impl Workload for MriQ {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [voxels, count] = ["voxels", "samples"].map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "mri-q");
        let positions = cube(voxels, 0.5, &mut random);
        // Phases up to some ten turns.
        let samples = cube(count, 8.0, &mut random);
        let mut part = || random.float(-1.0, 1.0) as f32;
        let phi: Vec<[f32; 2]> = (0..count).map(|_| [part(), part()]).collect();
        let module = session.load(&INFO.kernel)?;
        let phi_on_device = session.upload_f32("phi", phi.as_flattened())?;
        let magnitudes = session.zeroed("magnitudes", 4 * u64::from(count))?;
        let args = arguments(&[phi_on_device, magnitudes], &[Arg::u32(count)]);
        session.launch(
            &module,
            "ComputePhiMag_GPU",
            Shape::cover(count, 512),
            &args,
        )?;

        // The host brings the samples into constant memory, as in the original.
        let magnitude = read_f32(session, magnitudes, count as usize)?;
        let mut pointers = Vec::new();
        for (label, coordinate) in ["x", "y", "z"].into_iter().zip(&positions) {
            pointers.push(session.upload_f32(label, coordinate)?);
        }
        let bytes = 4 * u64::from(voxels);
        let real = session.zeroed("real", bytes)?;
        let imaginary = session.zeroed("imaginary", bytes)?;
        pointers.extend([real, imaginary]);
        let order: Vec<usize> = (0..count as usize).collect();
        for chunk in order.chunks(CHUNK as usize) {
            let sample = |k: &usize| {
                [
                    samples[0][*k],
                    samples[1][*k],
                    samples[2][*k],
                    magnitude[*k],
                ]
            };
            let constants: Vec<f32> = chunk.iter().flat_map(sample).collect();
            session.set_symbol(&module, "samples", &f32_bytes(&constants))?;
            let args = arguments(&pointers, &[Arg::u32(chunk.len() as u32)]);
            let shape = Shape::linear(voxels / BLOCK, BLOCK);
            session.launch(&module, "ComputeQ_GPU", shape, &args)?;
        }

        let q = |v: usize| reference(positions.each_ref().map(|axis| axis[v]), &samples, &phi);
        let (re, im): (Vec<f32>, Vec<f32>) = (0..voxels as usize).map(q).map(Into::into).unzip();
        Ok(Outcome::of([
            check_f32(session, "real", real, &re, &TOLERANCE)?,
            check_f32(session, "imaginary", imaginary, &im, &TOLERANCE)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_is_imaginary() {
        let samples = [vec![1.0], vec![0.0], vec![0.0]];
        let [re, im] = reference([0.25, 0.0, 0.0], &samples, &[[1.0, 2.0]]);
        assert!(re.abs() < 1e-6 && (im - 5.0).abs() < 1e-6);
    }

    #[test]
    fn positions_repeat_and_stay_in_their_cube() {
        let make = |seed| cube(100, 0.5, &mut Random::new(seed, "mri-q"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert!(make(1).iter().flatten().all(|x| x.abs() <= 0.5));
    }
}
