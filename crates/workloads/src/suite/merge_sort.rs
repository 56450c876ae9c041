//! Merge sort of keys with values.
//!
//! Stands for the merge sorts of the papers: tiles are sorted in shared memory by a bitonic network
//! with a barrier per step; then passes over global memory merge the tiles' runs, with two threads of
//! the block searching for where the tile begins and ends while the others wait, and with binary
//! searches of different length for each element. 256 threads a block make the
//! barrier paper's 8 warps; several arrays of a few tiles are sorted at once. Keys repeat (each about four times), so that a merge that is not stable
//! is caught by the values.
//!
//! First measurement (small, `lrr`, gtx480-v3): 25.6 million thread instructions, SIMD
//! efficiency 91.7%, 19.1% of warp time at barriers; 6 blocks per SM as in the paper.

use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block and elements of a tile, as in the kernel.
const BLOCK: u32 = 256;
const TILE: u32 = 2 * BLOCK;

static INFO: Info = Info {
    name: "merge-sort",
    algorithm: "merge sort of keys with values: tiles by a bitonic network in shared memory, then passes that merge runs",
    known_for: "a barrier per step of the network, binary searches between barriers; barrier-intensive",
    shape: "256 threads per block for 512 elements, one launch for the tiles and one a pass",
    papers: &[
        "baws: MS (barrier-intensive, 8 warps per block, 6 blocks per SM)",
        "tbc: MGST (coherent)",
        "vws: figure 19",
        "vtw: hybridsort",
    ],
    comparison: "exact: every key and every value",
    parameters: &[
        Parameter::new(
            "tiles",
            "tiles of 512 elements",
            [3, 480, 2048],
            (1, 1 << 17),
        ),
        Parameter::new(
            "passes",
            "merge passes: arrays of 2^passes tiles are sorted",
            [2, 2, 11],
            (1, 17),
        ),
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("merge-sort"),
};

/// The workload.
pub struct MergeSort;

fn keys(n: u32, random: &mut Random) -> Vec<u32> {
    (0..n)
        .map(|_| random.below(u64::from(n / 4)) as u32)
        .collect()
}

/// Every `array` keys sorted, and where each came from; equal keys keep their order.
fn reference(keys: &[u32], array: usize) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    for part in order.chunks_mut(array) {
        part.sort_by_key(|i| keys[*i as usize]);
    }
    (order.iter().map(|i| keys[*i as usize]).collect(), order)
}

impl Workload for MergeSort {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let n = parameters.get_u32("tiles") * TILE;
        let passes = parameters.get_u32("passes");
        let keys = keys(n, &mut Random::new(seed, "merge-sort"));
        let values: Vec<u32> = (0..n).collect();
        let module = session.load(&INFO.kernel)?;
        let bytes = u64::from(n) * 4;
        let mut from = [
            session.upload_u32("keys", &keys)?,
            session.upload_u32("values", &values)?,
        ];
        let mut to = [
            session.zeroed("sorted keys", bytes)?,
            session.zeroed("sorted values", bytes)?,
        ];
        let shape = Shape::linear(n / TILE, BLOCK);
        let args = arguments(&[from[0], from[1], to[0], to[1]], &[]);
        session.launch(&module, "merge_sort_tile", shape, &args)?;
        for pass in 0..passes {
            (from, to) = (to, from);
            let scalars = [Arg::u32(TILE << pass), Arg::u32(n)];
            let args = arguments(&[from[0], from[1], to[0], to[1]], &scalars);
            session.launch(&module, "merge_sort_pass", shape, &args)?;
        }
        let (sorted, order) = reference(&keys, (TILE as usize) << passes);
        Ok(Outcome::of([
            check_u32(session, "keys", to[0], &sorted)?,
            check_u32(session, "values", to[1], &order)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_sorts_and_keeps_the_order_of_equals() {
        let (sorted, order) = reference(&[3, 1, 3, 0, 1], 8);
        assert_eq!(sorted, [0, 1, 1, 3, 3]);
        assert_eq!(order, [3, 1, 4, 0, 2]);
        assert_eq!(reference(&[3, 1, 2, 0], 2).0, [1, 3, 0, 2]);
    }

    #[test]
    fn keys_repeat_from_seed_to_seed_and_among_themselves() {
        let make = |seed| keys(1024, &mut Random::new(seed, "merge-sort"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let mut distinct = make(1);
        distinct.sort_unstable();
        distinct.dedup();
        assert!((200..=256).contains(&distinct.len()));
    }
}
