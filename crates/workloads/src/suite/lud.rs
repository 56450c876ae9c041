//! LU decomposition by tiles.
//!
//! Stands for Rodinia's lud: per diagonal tile of 16x16, a launch of one block of 16 threads for the tile
//! itself, one of blocks of 32 threads for the tiles right of it and below it (either half of a warp
//! takes one of the two ways), and one of 16x16 threads for the rest. The rest shrinks from launch to
//! launch. Diagonally dominant matrices need no pivots.
//!
//! First measurement (small, `lrr`, gtx480-v3): 67.5 million thread instructions, SIMD efficiency
//! 88.5%, 3.3% of warp time at barriers (the barrier paper: 14%).

use super::host::{arguments, check_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Side of a tile.
const SIDE: u32 = 16;
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-4,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "lud",
    algorithm: "LU decomposition by tiles: the diagonal tile, the tiles right of it and below it, the rest",
    known_for: "launches that shrink, a kernel of one block, half-warps that go two ways",
    shape: "16, 32 and 16x16 threads per block, three launches per diagonal tile",
    papers: &["baws: lud (not barrier-intensive: 14% of time at barriers)"],
    comparison: "within 1e-4 or 1e-4 of the value, against double precision",
    parameters: &[
        Parameter::new("n", "rows and columns", [48, 320, 512], (16, 2048))
            .multiple_of(SIDE as u64),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("lud"),
};

/// The workload.
pub struct Lud;

/// A random matrix with large diagonal elements.
pub(super) fn dominant(n: usize, random: &mut Random) -> Vec<f32> {
    let mut matrix: Vec<f32> = (0..n * n).map(|_| random.float(-1.0, 1.0) as f32).collect();
    for i in 0..n {
        matrix[i * n + i] += if matrix[i * n + i] < 0.0 {
            -(n as f32)
        } else {
            n as f32
        };
    }
    matrix
}

/// Both factors in one matrix; the lower one's diagonal is 1.
fn decomposed(matrix: &[f32], n: usize) -> Vec<f32> {
    let mut m: Vec<f64> = matrix.iter().map(|v| f64::from(*v)).collect();
    for k in 0..n {
        for row in k + 1..n {
            let factor = m[row * n + k] / m[k * n + k];
            m[row * n + k] = factor;
            for column in k + 1..n {
                m[row * n + column] -= factor * m[k * n + column];
            }
        }
    }
    m.into_iter().map(|v| v as f32).collect()
}

impl Workload for Lud {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let n = parameters.get_u32("n");
        let start = dominant(n as usize, &mut Random::new(seed, "lud"));
        let module = session.load(&INFO.kernel)?;
        let matrix = session.upload_f32("matrix", &start)?;
        for tile in 0..n / SIDE {
            let args = arguments(&[matrix], &[n, tile * SIDE].map(Arg::u32));
            session.launch(&module, "lud_diagonal", Shape::linear(1, SIDE), &args)?;
            let rest = n / SIDE - tile - 1;
            if rest > 0 {
                let shape = Shape::linear(rest, 2 * SIDE);
                session.launch(&module, "lud_perimeter", shape, &args)?;
                let shape = Shape {
                    grid: [rest, rest, 1],
                    block: [SIDE, SIDE, 1],
                };
                session.launch(&module, "lud_internal", shape, &args)?;
            }
        }
        let expected = decomposed(&start, n as usize);
        let matrix = check_f32(session, "matrix", matrix, &expected, &TOLERANCE)?;
        Ok(Outcome::of([matrix]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_multiply_to_the_matrix() {
        let n = 6;
        let matrix = dominant(n, &mut Random::new(1, "lud"));
        let both = decomposed(&matrix, n);
        for row in 0..n {
            for column in 0..n {
                let lower = |k: usize| if k == row { 1.0 } else { both[row * n + k] };
                let sum: f32 = (0..=row.min(column))
                    .map(|k| lower(k) * both[k * n + column])
                    .sum();
                assert!((sum - matrix[row * n + column]).abs() < 1e-5);
            }
        }
        assert_ne!(matrix, dominant(n, &mut Random::new(2, "lud")));
    }
}
