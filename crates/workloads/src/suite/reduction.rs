//! Sum of integers by a tree in shared memory.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

const BLOCK: u32 = 256;

static INFO: Info = Info {
    name: "reduction",
    algorithm: "sum of 32-bit integers: strided sums a thread, then a tree in shared memory",
    known_for: "a barrier a tree level, with half of the threads idle after each",
    shape: "256 threads per block, a second launch of one block over the partial sums",
    papers: &["baws: the tree of SP (scalar product)"],
    comparison: "exact: the total and every block's partial sum",
    parameters: &[
        Parameter::new("n", "elements", [10_000, 2 << 20, 16 << 20], (1, 1 << 28)),
        Parameter::new(
            "blocks",
            "blocks of the first launch",
            [6, 360, 360],
            (1, 65_535),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("reduction"),
};

/// The workload.
pub struct Reduction;

/// What each block sums, then the total: wrapping, as unsigned hardware does.
fn reference(data: &[u32], blocks: usize) -> (Vec<u32>, u32) {
    let mut partial = vec![0u32; blocks];
    for (chunk_number, chunk) in data.chunks(BLOCK as usize).enumerate() {
        let sum = &mut partial[chunk_number % blocks];
        *sum = chunk.iter().fold(*sum, |s, v| s.wrapping_add(*v));
    }
    let total = data.iter().fold(0u32, |s, v| s.wrapping_add(*v));
    (partial, total)
}

impl Workload for Reduction {
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
        let blocks = parameters.get_u32("blocks");
        let mut random = Random::new(seed, "reduction");
        let data: Vec<u32> = (0..n).map(|_| random.next_u32()).collect();
        let module = session.load(&INFO.kernel)?;
        let input = session.upload_u32("data", &data)?;
        let partial = session.zeroed("partial sums", u64::from(blocks) * 4)?;
        let total = session.zeroed("total", 4)?;
        let steps = [(input, partial, n, blocks), (partial, total, blocks, 1)];
        for (from, to, count, grid) in steps {
            let arguments = [Arg::Pointer(from), Arg::Pointer(to), Arg::u32(count)];
            session.launch(&module, "reduction", Shape::linear(grid, BLOCK), &arguments)?;
        }
        let (expected_partial, expected_total) = reference(&data, blocks as usize);
        let check = |what, address, expected: &[u32]| {
            let got = session.device.read(address, expected.len() as u64 * 4)?;
            let expected = u32_bytes(expected);
            Ok::<_, DeviceError>(compare(
                what,
                Element::U32,
                &expected,
                &got,
                &Tolerance::EXACT,
            ))
        };
        Ok(Outcome::of([
            check("partial sums", partial, &expected_partial)?,
            check("total", total, &[expected_total])?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_sums_what_each_block_sees() {
        let data = vec![1; 600];
        assert_eq!(reference(&data, 2), (vec![256 + 88, 256], 600));
        assert_eq!(reference(&[u32::MAX, 2], 3), (vec![1, 0, 0], 1));
    }
}
