//! Dot products of many pairs of vectors.
//!
//! Stands for the SDK's scalar product: few threads for much data at first (every thread sums a
//! strided share into one of 1024 partial sums in shared memory), then a tree over them with a
//! barrier per level, in which ever fewer warps do anything while all wait. 256 pairs for 128 blocks
//! and 1024 partial sums are the original's; 512 threads make the paper's 16 warps per block, and the
//! launch bounds its 3 blocks per SM (the estimate, with all parameters in registers, would allow 2).
//!
//! First measurement (small, `lrr`, gtx480-v3): 21.4 million thread instructions, SIMD efficiency
//! 98.0%, 20.6% of warp time at barriers. Longer vectors shift the time to the loads: at the
//! original's default of 4096 elements it is 14.6%, at 1024 27.2%.

use super::host::{arguments, check_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// The kernel adds in single precision, the reference in double; products of opposite sign cancel.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "scalar-product",
    algorithm: "dot products of pairs of vectors: strided partial sums, then a shared-memory tree",
    known_for: "a barrier per level of the tree, with ever fewer warps at work; barrier-intensive",
    shape: "512 threads per block, blocks stride over the pairs",
    papers: &["baws: SP (barrier-intensive, 16 warps per block, 3 blocks per SM)"],
    comparison: "within 1e-3 or 1e-5 of the value, against sums in double precision",
    parameters: &[
        Parameter::new("pairs", "pairs of vectors", [3, 360, 1024], (1, 65_536)),
        Parameter::new(
            "length",
            "elements of a vector",
            [1500, 2048, 8192],
            (1, 1 << 16),
        ),
        Parameter::new("blocks", "blocks", [2, 180, 180], (1, 65_535)),
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("scalar-product"),
};

/// Threads per block; the kernel is compiled for no more.
const BLOCK: u32 = 512;

/// The workload.
pub struct ScalarProduct;

fn reference(a: &[f32], b: &[f32], length: usize) -> Vec<f32> {
    let product = |(x, y): (&[f32], &[f32])| {
        let terms = x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y));
        terms.sum::<f64>() as f32
    };
    a.chunks(length)
        .zip(b.chunks(length))
        .map(product)
        .collect()
}

impl Workload for ScalarProduct {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (pairs, length) = (parameters.get_u32("pairs"), parameters.get_u32("length"));
        // Offsets into the vectors are 32 bits wide in the kernel.
        let elements = pairs
            .checked_mul(length)
            .filter(|n| *n <= 1 << 28)
            .ok_or_else(|| {
                DeviceError::bad_input(format!(
                    "scalar-product: {pairs} pairs of {length} elements are too many; at most 2^28 in all"
                ))
            })?;
        let mut random = Random::new(seed, "scalar-product");
        let mut vectors = || -> Vec<f32> {
            (0..elements)
                .map(|_| random.float(-1.0, 1.0) as f32)
                .collect()
        };
        let (a, b) = (vectors(), vectors());
        let module = session.load(&INFO.kernel)?;
        let da = session.upload_f32("a", &a)?;
        let db = session.upload_f32("b", &b)?;
        let products = session.zeroed("products", u64::from(pairs) * 4)?;
        let shape = Shape::linear(parameters.get_u32("blocks"), BLOCK);
        let scalars = [Arg::u32(pairs), Arg::u32(length)];
        let args = arguments(&[da, db, products], &scalars);
        session.launch(&module, "scalar_product", shape, &args)?;
        let expected = reference(&a, &b, length as usize);
        let products = check_f32(session, "products", products, &expected, &TOLERANCE)?;
        Ok(Outcome::of([products]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_multiplies_pair_by_pair() {
        let a = [1.0, 2.0, 3.0, 4.0];
        let b = [5.0, 6.0, -1.0, 0.5];
        assert_eq!(reference(&a, &b, 2), [17.0, -1.0]);
    }
}
