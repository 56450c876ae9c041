//! Speckle-reducing diffusion, version 1: a linear grid and many kernels.
//!
//! Stands for Rodinia's srad_v1: 512 threads per block, one thread per pixel of an image stored column
//! by column, with tables that say which rows and columns are neighbours; an iteration launches
//! prepare, a reduction whose working threads lie ever farther apart (so that it diverges in its
//! first levels), srad and srad2. Most time goes into memory, little into barriers.
//!
//! First measurement (small, `lrr`, gtx480-v3): 18.8 million thread instructions, SIMD efficiency
//! 85.3%, 2.5% of warp time at barriers.

use super::host::{arguments, check_f32, float, read_f32};
use super::srad::{Image, LAMBDA, TOLERANCE, graininess};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Module, Session, Shape};
use crate::input::random::Random;

/// Threads per block.
const BLOCK: u32 = 512;

static INFO: Info = Info {
    name: "srad-v1",
    algorithm: "speckle-reducing anisotropic diffusion in six kernels: extract, prepare, reduce, srad, srad2, compress",
    known_for: "streaming kernels with gathered neighbours, a reduction with scattered active threads",
    shape: "512 threads per block, one thread per pixel; four kernels and more per iteration",
    papers: &["vtw: srad_v1"],
    comparison: "within 0.05 or 2e-4 of the value, against a filter in double precision",
    parameters: &[
        Parameter::new("rows", "rows of the image", [40, 320, 502], (2, 4096)),
        Parameter::new("columns", "its columns", [30, 288, 458], (2, 4096)),
        Parameter::new("iterations", "iterations", [1, 2, 10], (1, 1000)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("srad-v1"),
};

/// The workload.
pub struct SradV1;

/// Sums of the image and of its squares, block by block until one of each is left.
fn reduce(
    session: &mut Session<'_>,
    module: &Module,
    buffers: [[u64; 2]; 2],
    pixels: u32,
) -> Result<(f64, f64), DeviceError> {
    let [mut from, mut to] = buffers;
    let mut count = pixels;
    loop {
        let shape = Shape::cover(count, BLOCK);
        let pointers = [from[0], from[1], to[0], to[1]];
        let args = arguments(&pointers, &[Arg::u32(count)]);
        session.launch(module, "srad_reduce", shape, &args)?;
        count = shape.grid[0];
        (from, to) = (to, from);
        if count == 1 {
            let sum = read_f32(session, from[0], 1)?[0];
            let squares = read_f32(session, from[1], 1)?[0];
            return Ok((f64::from(sum), f64::from(squares)));
        }
    }
}

/// Column by column.
fn transposed(image: &Image) -> Vec<f32> {
    let mut out = Vec::with_capacity(image.pixels.len());
    for x in 0..image.columns {
        out.extend((0..image.rows).map(|y| image.pixels[y * image.columns + x] as f32));
    }
    out
}

/// For each of `n` rows or columns the one before and the one after; borders are their own.
fn neighbours(n: u32) -> (Vec<u32>, Vec<u32>) {
    let before = (0..n).map(|i: u32| i.saturating_sub(1)).collect();
    let after = (0..n).map(|i| (i + 1).min(n - 1)).collect();
    (before, after)
}

impl Workload for SradV1 {
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
        let pixels = rows * columns;
        let bytes = u64::from(pixels) * 4;
        let mut image = Image::generate(rows, columns, &mut Random::new(seed, "srad-v1"));
        let module = session.load(&INFO.kernel)?;
        let device = session.upload_f32("image", &transposed(&image))?;
        let (above, below) = neighbours(rows);
        let (left, right) = neighbours(columns);
        let above = session.upload_u32("above", &above)?;
        let below = session.upload_u32("below", &below)?;
        let left = session.upload_u32("left", &left)?;
        let right = session.upload_u32("right", &right)?;
        let mut maps = Vec::new();
        for label in ["north", "south", "west", "east", "coefficients"] {
            maps.push(session.zeroed(label, bytes)?);
        }
        let mut sums = || -> Result<[u64; 2], DeviceError> {
            Ok([
                session.zeroed("sums", bytes)?,
                session.zeroed("sums of squares", bytes)?,
            ])
        };
        let sums = [sums()?, sums()?];

        let shape = Shape::cover(pixels, BLOCK);
        let count = || Arg::u32(pixels);
        let whole = arguments(&[device], &[count()]);
        session.launch(&module, "srad_extract", shape, &whole)?;
        for pixel in &mut image.pixels {
            *pixel = (*pixel / 255.0).exp();
        }
        for _ in 0..parameters.get_u32("iterations") {
            let args = arguments(&[device, sums[0][0], sums[0][1]], &[count()]);
            session.launch(&module, "srad_prepare", shape, &args)?;
            let (sum, squares) = reduce(session, &module, sums, pixels)?;
            let mean = sum / f64::from(pixels);
            let variance = squares / f64::from(pixels) - mean * mean;
            // A device that computes nothing must give a wrong result, not a strange argument.
            let q0 = match variance / (mean * mean) {
                q0 if q0.is_finite() => q0 as f32,
                _ => 0.0,
            };

            let mut pointers = vec![device, above, below, left, right];
            pointers.extend(&maps);
            let scalars = [Arg::u32(rows), count(), float(q0)];
            let args = arguments(&pointers, &scalars);
            session.launch(&module, "srad_gradient", shape, &args)?;
            let mut pointers = vec![device, below, right];
            pointers.extend(&maps);
            let scalars = [Arg::u32(rows), count(), float(LAMBDA)];
            let args = arguments(&pointers, &scalars);
            session.launch(&module, "srad_update", shape, &args)?;

            let q0 = graininess(image.pixels.iter().copied());
            image.diffuse(q0, f64::from(LAMBDA));
        }
        session.launch(&module, "srad_compress", shape, &whole)?;
        for pixel in &mut image.pixels {
            *pixel = pixel.ln() * 255.0;
        }
        let expected = transposed(&image);
        let tolerance = Tolerance {
            absolute: 0.05, // of 255
            ..TOLERANCE
        };
        let image = check_f32(session, "image", device, &expected, &tolerance)?;
        Ok(Outcome::of([image]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_one_after_the_other() {
        let image = Image {
            rows: 2,
            columns: 3,
            pixels: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        };
        assert_eq!(transposed(&image), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(neighbours(3), (vec![0, 0, 1], vec![1, 2, 2]));
    }
}
