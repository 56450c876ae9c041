//! Speckle-reducing diffusion, version 2: two kernels with tiles in shared memory.
//!
//! Stands for Rodinia's srad_v2: 16x16 blocks (8 warps, 6 blocks per SM) stage the tile and the rows
//! and columns around it in shared memory with a barrier after each step of staging, and a pixel's
//! place in the tile decides by branches where its neighbours come from. The host computes the
//! graininess of a plain region before each iteration, as in the original. The image is an
//! ultrasound-like one: organs on tissue with multiplicative speckle.
//!
//! Residency is the launch bounds' 6 blocks per SM, as in the paper; the estimates of 27 and 29
//! registers (seven pointers of 64 bits) would allow 4.
//!
//! First measurement (small, `lrr`, gtx480-v3): 19.0 million thread instructions, SIMD efficiency
//! 92.8%, 6.9% of warp time at barriers (6 to 8% in either kernel). The barrier paper counts it as
//! barrier-intensive; here the warps of a block arrive close together, and much more time goes into
//! waiting for memory and for the load/store unit, at larger images too (512x512: 8.8% before the
//! neighbours were chosen by the original's chain of nine branches). So it is not
//! listed as such; the paper's study runs it among its set all the same.

use super::host::{arguments, check_f32, float, read_f32};
use super::srad::{Image, LAMBDA, TOLERANCE, graininess};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Side of a block.
const SIDE: u32 = 16;

static INFO: Info = Info {
    name: "srad-v2",
    algorithm: "speckle-reducing anisotropic diffusion: coefficients, then spreading, with shared tiles",
    known_for: "a barrier after each step of staging, branches at tile borders",
    shape: "16x16 threads per block, one thread per pixel, two launches per iteration",
    papers: &[
        "baws: SRAD2 (barrier-intensive, 8 warps per block, 6 blocks per SM)",
        "vtw: srad_v2",
    ],
    comparison: "within 1e-4 or 2e-4 of the value, against a filter in double precision",
    parameters: &[
        Parameter::new("rows", "rows of the image", [48, 288, 512], (16, 4096))
            .multiple_of(SIDE as u64),
        Parameter::new("columns", "its columns", [32, 320, 512], (16, 4096))
            .multiple_of(SIDE as u64),
        Parameter::new("iterations", "iterations", [1, 2, 10], (1, 1000)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("srad-v2"),
};

/// The workload.
pub struct SradV2;

/// Graininess of the upper left part, which is plain tissue.
fn region(pixels: &[f64], rows: usize, columns: usize) -> f64 {
    let rows = pixels.chunks(columns).take(rows / 4);
    graininess(rows.flat_map(|row| row[..columns / 4].iter().copied()))
}

impl Workload for SradV2 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (rows, columns) = (parameters.get_u32("rows"), parameters.get_u32("columns"));
        let mut image = Image::generate(rows, columns, &mut Random::new(seed, "srad-v2"));
        // The filter works on the linear scale, of which an image shows the logarithm.
        for pixel in &mut image.pixels {
            *pixel = (*pixel / 255.0).exp();
        }
        let start: Vec<f32> = image.pixels.iter().map(|p| *p as f32).collect();
        let count = start.len();
        let module = session.load(&INFO.kernel)?;
        let device = session.upload_f32("image", &start)?;
        let mut pointers = vec![device];
        for label in ["north", "south", "west", "east", "coefficients"] {
            pointers.push(session.zeroed(label, 4 * count as u64)?);
        }
        let shape = Shape {
            grid: [columns / SIDE, rows / SIDE, 1],
            block: [SIDE, SIDE, 1],
        };
        for _ in 0..parameters.get_u32("iterations") {
            let now: Vec<f64> = read_f32(session, device, count)?
                .into_iter()
                .map(f64::from)
                .collect();
            let q0 = region(&now, image.rows, image.columns) as f32;
            let scalars = |last: f32| [Arg::u32(rows), Arg::u32(columns), float(last)];
            let args = arguments(&pointers, &scalars(q0));
            session.launch(&module, "srad_coefficients", shape, &args)?;
            let args = arguments(&pointers, &scalars(LAMBDA));
            session.launch(&module, "srad_spread", shape, &args)?;

            let q0 = region(&image.pixels, image.rows, image.columns);
            image.diffuse(q0, f64::from(LAMBDA));
        }
        let expected: Vec<f32> = image.pixels.iter().map(|p| *p as f32).collect();
        let image = check_f32(session, "image", device, &expected, &TOLERANCE)?;
        Ok(Outcome::of([image]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_region_counts() {
        let mut pixels = vec![100.0; 64];
        for row in 0..2 {
            pixels[row * 8] = 1.0;
            pixels[row * 8 + 1] = 3.0;
        }
        assert!((region(&pixels, 8, 8) - 0.25).abs() < 1e-12);
    }
}
