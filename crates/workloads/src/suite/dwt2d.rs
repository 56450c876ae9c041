//! Two-dimensional wavelet transforms: whole numbers by the 5/3 filter, floats by the 9/7 filter.
//!
//! Stands for Rodinia's dwt2d: a block of 64 threads slides a window of 8 rows down a strip of 64
//! columns, lifting along rows in shared memory with a barrier after each step, then down the columns
//! with a thread each. Every level halves the image, so that the launches of later levels are small.
//!
//! First measurement (small, `lrr`, gtx480-v3): 181.6 million thread instructions, SIMD efficiency
//! 91.0%, 3.2% of warp time at barriers.

use super::host::{arguments, check_f32, check_u32};
use super::images::speckled;
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Module, Session, Shape};
use crate::input::random::Random;

/// Columns of a strip, threads per block.
const COLUMNS: u32 = 64;
/// Rows of results that a block makes.
const ROWS: u32 = 24;
const TOLERANCE: Tolerance = Tolerance {
    absolute: 2e-3,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "dwt2d",
    algorithm: "two-dimensional wavelet transforms by lifting: 5/3 of whole numbers, 9/7 of floats",
    known_for: "windows that slide through shared memory, a barrier after each lifting step",
    shape: "64 threads per block, one block per strip of 64 columns and 24 rows, one launch per filter and level",
    papers: &["baws: dwt2d (not barrier-intensive)"],
    comparison: "exact for the 5/3 filter; within 2e-3 or 1e-4 of the value for the 9/7 filter, against double precision",
    parameters: &[
        Parameter::new("width", "columns of the image", [80, 960, 1920], (32, 4096)),
        Parameter::new("height", "rows of the image", [56, 768, 1088], (32, 4096)),
        Parameter::new("levels", "levels", [2, 2, 3], (1, 3)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("dwt2d"),
};

/// The workload.
pub struct Dwt2d;

/// What a filter does: how often it lifts, how, and its scales.
struct Filter<T> {
    steps: usize,
    lift: fn(usize, T, T, T) -> T,
    low: fn(T) -> T,
    high: fn(T) -> T,
}

const WHOLE: Filter<i32> = Filter {
    steps: 2,
    lift: |step, centre, before, after| match step {
        0 => centre - ((before + after) >> 1),
        _ => centre + ((before + after + 2) >> 2),
    },
    low: |v| v,
    high: |v| v,
};

const SMOOTH: Filter<f64> = Filter {
    steps: 4,
    lift: |step, centre, before, after| {
        let by = [
            -1.586_134_342,
            -0.052_980_118_57,
            0.882_911_075_5,
            0.443_506_852,
        ];
        centre + by[step] * (before + after)
    },
    low: |v| v * 0.812_893_066_1,
    high: |v| v * 1.230_174_105,
};

/// Even samples, then odd ones, after lifting a line that is mirrored at its ends.
fn line<T: Copy>(mut line: Vec<T>, filter: &Filter<T>) -> Vec<T> {
    let last = line.len() - 1;
    for step in 0..filter.steps {
        for at in (0..=last).filter(|at| at % 2 != step % 2) {
            let before = line[if at == 0 { 1 } else { at - 1 }];
            let after = line[if at == last { last - 1 } else { at + 1 }];
            line[at] = (filter.lift)(step, line[at], before, after);
        }
    }
    let lows = line.iter().step_by(2).map(|v| (filter.low)(*v));
    let highs = line.iter().skip(1).step_by(2).map(|v| (filter.high)(*v));
    lows.chain(highs).collect()
}

/// All levels of an image, row by row, in place.
fn transformed<T: Copy>(image: &mut [T], width: usize, levels: u32, filter: &Filter<T>) {
    let (mut columns, mut rows) = (width, image.len() / width);
    for _ in 0..levels {
        for y in 0..rows {
            let at = y * width;
            let done = line(image[at..at + columns].to_vec(), filter);
            image[at..at + columns].copy_from_slice(&done);
        }
        for x in 0..columns {
            let column = (0..rows).map(|y| image[y * width + x]).collect();
            for (y, v) in line(column, filter).into_iter().enumerate() {
                image[y * width + x] = v;
            }
        }
        (columns, rows) = (columns / 2, rows / 2);
    }
}

/// Launches all levels; each but the last leaves its lows in a buffer of their own for the next.
fn launch_levels(
    session: &mut Session<'_>,
    module: &Module,
    kernel: &str,
    (image, out): (u64, u64),
    (width, height, levels): (u32, u32, u32),
) -> Result<(), DeviceError> {
    let (mut from, mut stride) = (image, width);
    let (mut columns, mut rows) = (width, height);
    for level in 1..=levels {
        let (lows, low_stride) = if level == levels {
            (out, width)
        } else {
            let bytes = u64::from(columns / 2) * u64::from(rows / 2) * 4;
            (session.zeroed("lows", bytes)?, columns / 2)
        };
        let scalars = [columns, rows, stride, width, low_stride, ROWS].map(Arg::u32);
        let args = arguments(&[from, out, lows], &scalars);
        let shape = Shape {
            grid: [columns.div_ceil(COLUMNS), rows.div_ceil(ROWS), 1],
            block: [COLUMNS, 1, 1],
        };
        session.launch(module, kernel, shape, &args)?;
        (from, stride) = (lows, low_stride);
        (columns, rows) = (columns / 2, rows / 2);
    }
    Ok(())
}

impl Workload for Dwt2d {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let size = ["width", "height", "levels"].map(|name| parameters.get_u32(name));
        let [width, height, levels] = size;
        for (name, value) in [("width", width), ("height", height)] {
            if value % (1 << levels) != 0 {
                return Err(DeviceError::bad_input(format!(
                    "{name}={value} cannot be halved {levels} times: take a multiple of {}",
                    1 << levels
                )));
            }
        }
        let image = speckled(height, width, &mut Random::new(seed, "dwt2d"));
        // Brightness around zero.
        let mut whole: Vec<i32> = image.iter().map(|p| p.round() as i32 - 128).collect();
        let module = session.load(&INFO.kernel)?;
        let words = |values: &[i32]| values.iter().map(|v| v.cast_unsigned()).collect::<Vec<_>>();
        let floats: Vec<f32> = whole.iter().map(|p| *p as f32).collect();
        let bytes = 4 * u64::from(width) * u64::from(height);
        let given = session.upload_u32("whole image", &words(&whole))?;
        let out = session.zeroed("5/3", bytes)?;
        let size = (width, height, levels);
        launch_levels(session, &module, "dwt2d_53", (given, out), size)?;
        let given = session.upload_f32("image", &floats)?;
        let smooth_out = session.zeroed("9/7", bytes)?;
        launch_levels(session, &module, "dwt2d_97", (given, smooth_out), size)?;

        let mut smooth: Vec<f64> = floats.iter().map(|p| f64::from(*p)).collect();
        transformed(&mut whole, width as usize, levels, &WHOLE);
        transformed(&mut smooth, width as usize, levels, &SMOOTH);
        let smooth: Vec<f32> = smooth.into_iter().map(|v| v as f32).collect();
        Ok(Outcome::of([
            check_u32(session, "5/3", out, &words(&whole))?,
            check_f32(session, "9/7", smooth_out, &smooth, &TOLERANCE)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_sloping_lines_have_no_details() {
        assert_eq!(line(vec![7; 8], &WHOLE), [7, 7, 7, 7, 0, 0, 0, 0]);
        let slope: Vec<i32> = (0..8).map(|i| 4 * i).collect();
        // But at the end, where the line is mirrored.
        assert_eq!(&line(slope, &WHOLE)[4..], [0, 0, 0, 4]);
        let cubic: Vec<f64> = (0..32).map(|i| f64::from(i).powi(3)).collect();
        let done = line(cubic, &SMOOTH);
        assert!(done[20..28].iter().all(|d| d.abs() < 1e-3), "{done:?}");
    }

    #[test]
    fn levels_go_on_with_the_lows() {
        let mut image = vec![3; 64];
        transformed(&mut image, 8, 2, &WHOLE);
        assert!((0..64).all(|at| (image[at] == 3) == (at % 8 < 2 && at / 8 < 2)));
    }
}
