//! Gaussian elimination, a row at a time.
//!
//! Stands for Rodinia's gaussian: two small kernels per row. The first has a thread per row below (blocks
//! of 512), the second a thread per element (blocks of 4x4, half a warp each); both are launched for the
//! whole matrix, so that most lanes are idle. The host substitutes backwards.
//!
//! First measurement (small, `lrr`, gtx480-v3): 23.8 million thread instructions, SIMD efficiency
//! 49.6%.

use super::host::{arguments, check_f32, read_f32};
use super::lud::dominant;
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads of the first kernel's blocks, and side of the second's.
const ROWS: u32 = 512;
const SIDE: u32 = 4;
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-4,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "gaussian",
    algorithm: "Gaussian elimination: multiples of a row, then all rows below it, once per row",
    known_for: "mostly idle lanes: half-empty warps, ever more threads without work, tiny launches",
    shape: "512 threads, then 4x4 threads per block, two launches per row",
    papers: &[
        "origami: gaussian",
        "baws: gaussian (not barrier-intensive)",
    ],
    comparison: "within 1e-4 or 1e-4 of the value, against double precision",
    parameters: &[Parameter::new("n", "unknowns", [18, 96, 256], (2, 2048))],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("gaussian"),
};

/// The workload.
pub struct Gaussian;

/// The triangular matrix and its right side.
fn eliminated(matrix: &[f32], right: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let n = right.len();
    let mut m: Vec<f64> = matrix.iter().map(|v| f64::from(*v)).collect();
    let mut right: Vec<f64> = right.iter().map(|v| f64::from(*v)).collect();
    for k in 0..n {
        for row in k + 1..n {
            let multiple = m[row * n + k] / m[k * n + k];
            for column in k..n {
                m[row * n + column] -= multiple * m[k * n + column];
            }
            right[row] -= multiple * right[k];
        }
    }
    (m, right)
}

/// Backward substitution: what the host does with the result.
fn solved(matrix: &[f64], right: &[f64]) -> Vec<f32> {
    let n = right.len();
    let mut x = vec![0.0; n];
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|c| matrix[row * n + c] * x[c]).sum();
        x[row] = (right[row] - known) / matrix[row * n + row];
    }
    x.into_iter().map(|v| v as f32).collect()
}

impl Workload for Gaussian {
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
        let count = n as usize;
        let mut random = Random::new(seed, "gaussian");
        let start = dominant(count, &mut random);
        let side: Vec<f32> = (0..n).map(|_| random.float(-10.0, 10.0) as f32).collect();
        let module = session.load(&INFO.kernel)?;
        let multiples = session.zeroed("multiples", 4 * u64::from(n * n))?;
        let matrix = session.upload_f32("matrix", &start)?;
        let right = session.upload_f32("right side", &side)?;
        for k in 0..n - 1 {
            let scalars = [n, k].map(Arg::u32);
            let args = arguments(&[multiples, matrix], &scalars);
            session.launch(&module, "gaussian_multiples", Shape::cover(n, ROWS), &args)?;
            let args = arguments(&[multiples, matrix, right], &scalars);
            let shape = Shape {
                grid: [n.div_ceil(SIDE), n.div_ceil(SIDE), 1],
                block: [SIDE, SIDE, 1],
            };
            session.launch(&module, "gaussian_eliminate", shape, &args)?;
        }
        let (m, r) = eliminated(&start, &side);
        let single = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<_>>();
        let double = |v: Vec<f32>| v.into_iter().map(f64::from).collect::<Vec<_>>();
        let got_matrix = double(read_f32(session, matrix, count * count)?);
        let got = solved(&got_matrix, &double(read_f32(session, right, count)?));
        let (expected, got) = (f32_bytes(&solved(&m, &r)), f32_bytes(&got));
        Ok(Outcome::of([
            check_f32(session, "matrix", matrix, &single(&m), &TOLERANCE)?,
            check_f32(session, "right side", right, &single(&r), &TOLERANCE)?,
            compare("solution", Element::F32, &expected, &got, &TOLERANCE),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_solves() {
        let n = 7;
        let mut random = Random::new(5, "gaussian");
        let matrix = dominant(n, &mut random);
        let right: Vec<f32> = (0..n).map(|_| random.float(-10.0, 10.0) as f32).collect();
        let (m, r) = eliminated(&matrix, &right);
        let x = solved(&m, &r);
        for row in 0..n {
            let sum: f32 = (0..n).map(|c| matrix[row * n + c] * x[c]).sum();
            assert!((sum - right[row]).abs() < 1e-4);
            assert!((0..row).all(|c| m[row * n + c].abs() < 1e-12));
        }
    }
}
