//! Sums of absolute differences, for motion search in video.
//!
//! Stands for Parboil's sad: a block of 61 threads per macroblock, each thread with some places of the
//! search window (18 where the window is 33 places wide, as there), the frame before in a texture;
//! then two kernels of 32x4 threads that add the sums of small blocks up to those of larger ones, for 4x4
//! macroblocks per block. The second of two warps is not full, and its last thread may have fewer
//! places: that is the little divergence there is. A scene moves between the frames, with noise.

use super::host::arguments;
use super::images::speckled;
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::Element;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads of a block that shares a macroblock.
const BLOCK: u32 = 61;
/// Pixels along a macroblock's side, and its blocks of all sizes.
const MACROBLOCK: usize = 16;
const KINDS: usize = 41;

static INFO: Info = Info {
    name: "sad",
    algorithm: "sums of absolute differences of image blocks of seven sizes at every place of a search window",
    known_for: "integer sums over texture reads; two warps of which one is not full",
    shape: "61 threads per block and macroblock, then 32x4 threads for 4x4 macroblocks, three kernels",
    papers: &["vtw: sad (mb_sad_calc in set 1, larger_sad_calc_8 in set 2; 8 blocks per SM)"],
    comparison: "exact: every sum",
    parameters: &[
        Parameter::new("columns", "macroblocks in a row", [3, 24, 44], (1, 128)),
        Parameter::new("rows", "rows of macroblocks", [2, 20, 36], (1, 128)),
        Parameter::new(
            "range",
            "how far the window reaches, in pixels",
            [2, 5, 16],
            (1, 32),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("sad"),
};

/// The workload.
pub struct Sad;

struct Frame {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Frame {
    /// The pixel at a place; beyond the border the nearest one.
    fn at(&self, x: i64, y: i64) -> u8 {
        let x = x.clamp(0, self.width as i64 - 1) as usize;
        let y = y.clamp(0, self.height as i64 - 1) as usize;
        self.pixels[y * self.width + x]
    }
}

/// A frame, and the next in which everything has moved a little.
fn frames(width: usize, height: usize, random: &mut Random) -> (Frame, Frame) {
    let image = speckled(height as u32, width as u32, random);
    let before = Frame {
        width,
        height,
        pixels: image.iter().map(|p| *p as u8).collect(),
    };
    let (dx, dy) = (random.between(-3, 3) as i64, random.between(-3, 3) as i64);
    let pixels = (0..width * height)
        .map(|i| {
            let (x, y) = ((i % width) as i64, (i / width) as i64);
            before
                .at(x + dx, y + dy)
                .saturating_add(random.below(4) as u8)
        })
        .collect();
    let now = Frame {
        width,
        height,
        pixels,
    };
    (before, now)
}

/// Where each of a macroblock's blocks begins, and its size, in pixels: in the kernel's order.
fn blocks() -> Vec<([usize; 2], [usize; 2])> {
    let small = (0..16).map(|b| ([b % 4 * 4, b / 4 * 4], [4, 4]));
    let quarters = || (0..4).map(|q| [q % 2 * 8, q / 2 * 8]);
    let wide = quarters().flat_map(|[x, y]| [([x, y], [8, 4]), ([x, y + 4], [8, 4])]);
    let high = quarters().flat_map(|[x, y]| [([x, y], [4, 8]), ([x + 4, y], [4, 8])]);
    let square = quarters().map(|at| (at, [8, 8]));
    let large = [
        ([0, 0], [16, 8]),
        ([0, 8], [16, 8]),
        ([0, 0], [8, 16]),
        ([8, 0], [8, 16]),
        ([0, 0], [16, 16]),
    ];
    small
        .chain(wide)
        .chain(high)
        .chain(square)
        .chain(large)
        .collect()
}

/// The sums of every macroblock, block and place.
fn reference(now: &Frame, before: &Frame, range: i64) -> Vec<u16> {
    let side = 2 * range + 1;
    let blocks = blocks();
    let mut sums = Vec::new();
    for top in (0..now.height).step_by(MACROBLOCK) {
        for left in (0..now.width).step_by(MACROBLOCK) {
            // Differences of all pixels at all places, of which every block adds up its part.
            let differences: Vec<[u8; MACROBLOCK * MACROBLOCK]> = (0..side * side)
                .map(|place| {
                    let (dx, dy) = (place % side - range, place / side - range);
                    std::array::from_fn(|i| {
                        let x = (left + i % MACROBLOCK) as i64;
                        let y = (top + i / MACROBLOCK) as i64;
                        now.at(x, y).abs_diff(before.at(x + dx, y + dy))
                    })
                })
                .collect();
            for ([x, y], [width, height]) in &blocks {
                for there in &differences {
                    let rows = (*y..y + height).map(|row| row * MACROBLOCK + x);
                    let sum = rows.flat_map(|from| &there[from..from + width]);
                    sums.push(sum.map(|d| u16::from(*d)).sum());
                }
            }
        }
    }
    sums
}

impl Workload for Sad {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [columns, rows, range] =
            ["columns", "rows", "range"].map(|name| parameters.get_u32(name));
        let (width, height) = (16 * columns, 16 * rows);
        let mut random = Random::new(seed, "sad");
        let (before, now) = frames(width as usize, height as usize, &mut random);
        let module = session.load(&INFO.kernel)?;
        let frame = session.upload("frame", &now.pixels)?;
        let texels = session.upload("frame before", &before.pixels)?;
        let texture = session.linear_texture(&module, texels, width * height, (1, 8))?;
        let places = (2 * range + 1).pow(2);
        let bytes = 2 * u64::from(columns * rows) * KINDS as u64 * u64::from(places);
        let sums = session.zeroed("sums", bytes)?;
        let scalars = [width, height, range].map(Arg::u32);
        let args = arguments(&[frame, texture, sums], &scalars);
        let mut shape = Shape {
            grid: [columns, rows, 1],
            block: [BLOCK, 1, 1],
        };
        session.launch(&module, "mb_sad_calc", shape, &args)?;
        shape.grid = [columns.div_ceil(4), rows.div_ceil(4), 1];
        shape.block = [32, 4, 1];
        let args = arguments(&[sums], &[columns, rows, places].map(Arg::u32));
        session.launch(&module, "larger_sad_calc_8", shape, &args)?;
        session.launch(&module, "larger_sad_calc_16", shape, &args)?;
        let expected: Vec<u8> = reference(&now, &before, i64::from(range))
            .iter()
            .flat_map(|s| s.to_le_bytes())
            .collect();
        let got = session.device.read(sums, bytes)?;
        let exact = &Tolerance::EXACT;
        Ok(Outcome::of([compare(
            "sums",
            Element::U16,
            &expected,
            &got,
            exact,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_each_size_cover_the_macroblock() {
        let blocks = blocks();
        assert_eq!(blocks.len(), KINDS);
        let mut area = std::collections::BTreeMap::new();
        for (at, size) in blocks {
            *area.entry(size).or_insert(0) += size[0] * size[1];
            assert!(at[0] + size[0] <= 16 && at[1] + size[1] <= 16);
        }
        assert_eq!(area.len(), 7);
        assert!(area.values().all(|a| *a == 256));
    }

    #[test]
    fn the_sum_is_least_where_the_scene_moved() {
        let make = |seed| frames(48, 48, &mut Random::new(seed, "sad"));
        let (before, now) = make(1);
        assert_eq!(now.pixels, make(1).1.pixels);
        assert_ne!(now.pixels, make(2).1.pixels);
        let sums = reference(&now, &before, 4);
        // The middle macroblock as a whole.
        let there = &sums[(4 * KINDS + 40) * 81..][..81];
        let least = there.iter().min().copied().unwrap_or_default();
        let mean = there.iter().map(|s| u64::from(*s)).sum::<u64>() / 81;
        assert!(u64::from(least) * 3 < mean, "{least} of {mean}");
    }
}
