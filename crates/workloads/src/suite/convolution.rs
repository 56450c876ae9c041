//! A separable filter over an image.
//!
//! Stands for the convolution of the variable-warp-sizing paper's insensitive set, in the form that the
//! CUDA samples made common: rows by 16x4 threads, columns by 16x8 threads, eight pixels per thread, tiles in
//! shared memory with one barrier, the filter's 17 taps in constant memory. A thread's pixels follow each other, so that it
//! reads 24 values for them and computes from registers. (With pixels that are sixteen apart and a read from shared
//! memory per tap, warps of four threads took half as long again as warps of 32, since each read was an access of its own.)

use super::host::{arguments, check_f32};
use super::images::speckled;
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::element::f32_bytes;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

const RADIUS: usize = 8;
/// Pixels of a block that filters rows, and of one that filters columns.
const ROWS: [u32; 2] = [128, 4];
const COLUMNS: [u32; 2] = [16, 64];

static INFO: Info = Info {
    name: "convolution",
    algorithm: "separable filter of 17 taps over an image: rows, then columns, by tiles in shared memory",
    known_for: "no divergence, reads from shared memory; the width of a warp does not matter",
    shape: "16x4 threads per block and eight pixels per thread, then 16x8 threads and eight",
    papers: &["vws: Convolution (insensitive)"],
    comparison: "exact: every pixel, with the additions in the same order",
    parameters: &[
        Parameter::new("width", "pixels in a row", [64, 640, 2048], (16, 8192)).multiple_of(16),
        Parameter::new("height", "rows", [32, 768, 2048], (4, 8192)).multiple_of(4),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("convolution"),
};

/// The workload.
pub struct Convolution;

/// A bell curve that sums to one, not quite even, so that a turned filter is noticed.
fn taps() -> [f32; 2 * RADIUS + 1] {
    let bell = |i: usize| {
        let x = (i as f64 - RADIUS as f64) / 4.0;
        (-x * x / 2.0).exp() * (1.0 + 0.02 * i as f64)
    };
    let sum: f64 = (0..=2 * RADIUS).map(bell).sum();
    std::array::from_fn(|i| (bell(i) / sum) as f32)
}

/// A line of `count` pixels filtered; beyond its ends there is nothing.
fn filtered(taps: &[f32], count: usize, pixel: impl Fn(usize) -> f32) -> Vec<f32> {
    (0..count)
        .map(|at| {
            taps.iter().enumerate().fold(0.0f32, |sum, (tap, weight)| {
                let from = (at + tap).checked_sub(RADIUS).filter(|p| *p < count);
                weight.mul_add(from.map_or(0.0, &pixel), sum)
            })
        })
        .collect()
}

fn reference(image: &[f32], width: usize, taps: &[f32]) -> Vec<f32> {
    let height = image.len() / width;
    let rows: Vec<f32> = image
        .chunks(width)
        .flat_map(|row| filtered(taps, width, |x| row[x]))
        .collect();
    let mut result = vec![0.0; image.len()];
    for x in 0..width {
        let column = filtered(taps, height, |y| rows[y * width + x]);
        for (y, pixel) in column.into_iter().enumerate() {
            result[y * width + x] = pixel;
        }
    }
    result
}

impl Workload for Convolution {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [width, height] = ["width", "height"].map(|name| parameters.get_u32(name));
        let image = speckled(height, width, &mut Random::new(seed, "convolution"));
        let module = session.load(&INFO.kernel)?;
        session.set_symbol(&module, "taps", &f32_bytes(&taps()))?;
        let bytes = 4 * image.len() as u64;
        let given = session.upload_f32("image", &image)?;
        let rows = session.zeroed("rows", bytes)?;
        let result = session.zeroed("result", bytes)?;
        for (kernel, from, to, pixels, block) in [
            ("convolve_rows", given, rows, ROWS, [16, 4, 1]),
            ("convolve_columns", rows, result, COLUMNS, [16, 8, 1]),
        ] {
            let shape = Shape {
                grid: [width.div_ceil(pixels[0]), height.div_ceil(pixels[1]), 1],
                block,
            };
            let args = arguments(&[from, to], &[width, height].map(Arg::u32));
            session.launch(&module, kernel, shape, &args)?;
        }
        let expected = reference(&image, width as usize, &taps());
        let image = check_f32(session, "result", result, &expected, &Tolerance::EXACT)?;
        Ok(Outcome::of([image]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_becomes_the_filter_turned_round() {
        let (width, height) = (32, 24);
        let mut image = vec![0.0; width * height];
        image[12 * width + 16] = 1.0;
        let taps = taps();
        let result = reference(&image, width, &taps);
        for (dy, dx) in [(0usize, 0usize), (3, 5), (16, 2)] {
            let got = result[(12 + RADIUS - dy) * width + 16 + RADIUS - dx];
            assert!((got - taps[dx] * taps[dy]).abs() < 1e-7);
        }
        assert!((result.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}
