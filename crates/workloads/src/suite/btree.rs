//! Point and range queries on a B+ tree.
//!
//! Stands for Rodinia's b+tree: a block per query, a thread per key of the node (order 256, so 8 warps a
//! block); on each level one thread of the block finds the child, and two barriers separate finding
//! from moving down. The way down is kept in global memory as in the original. Nodes are filled
//! between half and completely, as after random insertions.
//!
//! The paper has 5 blocks per SM. `btree-range` has that (28 registers estimated, launch bounds of 5);
//! `btree-find-k` needs 19 by our estimate, which would allow 6, and is launched with the 24 of a
//! kernel of which an SM holds 5.
//!
//! First measurements (small, `lrr`, gtx480-v3): `btree-find-k` 11.3 million thread instructions,
//! SIMD efficiency 93.0%, 21.9% of warp time at barriers; `btree-range` 11.1 million, 92.5%, 24.5%.

use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, REGISTERS, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Children of a node, and threads per block.
const ORDER: usize = 256;
/// The key of an unused place, above every other.
const UNUSED: u32 = u32::MAX;
/// Registers per thread with which an SM holds five blocks, as the paper's does.
const FIND_REGISTERS: u64 = 24;
/// What the answer to a query is when the key is not there.
const ABSENT: u32 = u32::MAX;

const RECORDS: Parameter = Parameter::new(
    "records",
    "records in the tree",
    [5_000, 250_000, 1_000_000],
    (2, 10_000_000),
);

static FIND: Info = Info {
    name: "btree-find-k",
    algorithm: "point queries on a B+ tree of order 256, a block per query and a thread per key",
    known_for: "two barriers per level, one thread of the block finds the way; barrier-intensive",
    shape: "256 threads per block, one block per query",
    papers: &[
        "baws: BT (barrier-intensive, 8 warps per block, 5 blocks per SM)",
        "vtw: b+tree",
        "origami: b+tree",
    ],
    comparison: "exact: the record of every query",
    parameters: &[
        RECORDS,
        Parameter::new("queries", "queries", [12, 750, 10_000], (1, 65_535)),
        Parameter {
            sizes: [FIND_REGISTERS; 3],
            ..REGISTERS
        },
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("btree"),
};

static RANGE: Info = Info {
    name: "btree-range",
    algorithm: "range queries on a B+ tree of order 256: both ends at once, a block per query",
    known_for: "two barriers per level, one thread of the block finds the way; barrier-intensive",
    shape: "256 threads per block, one block per query",
    papers: &[
        "baws: BT (barrier-intensive, 8 warps per block, 5 blocks per SM)",
        "vtw: b+tree",
        "origami: b+tree",
    ],
    comparison: "exact: first record and number of records of every query",
    parameters: &[
        RECORDS,
        Parameter::new("queries", "queries", [12, 450, 6_000], (1, 65_535)),
        REGISTERS,
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("btree"),
};

/// Point queries.
pub struct FindK;
/// Range queries.
pub struct Range;

/// A tree over sorted keys, as the kernels read it. The record of the i-th key is number i.
struct Tree {
    /// `ORDER + 1` for each node.
    keys: Vec<u32>,
    /// `ORDER` for each node: nodes of the next level, or records.
    children: Vec<u32>,
    root: u32,
    /// Levels above the leaves.
    height: u32,
}

impl Tree {
    /// Level by level from the leaves, each node filled by half at least.
    fn build(sorted: &[u32], random: &mut Random) -> Tree {
        let (mut keys, mut children) = (Vec::new(), Vec::new());
        // What the nodes of this level are to hold: the smallest key below, and the child.
        let mut level: Vec<(u32, u32)> = sorted.iter().copied().zip(0..).collect();
        let mut height = 0;
        loop {
            let mut above = Vec::new();
            let mut rest = level.as_slice();
            while !rest.is_empty() {
                let fill = random.between(ORDER as i128 / 2, ORDER as i128) as usize;
                let (node, others) = rest.split_at(fill.min(rest.len()));
                above.push((node[0].0, (children.len() / ORDER) as u32));
                keys.extend(node.iter().map(|(key, _)| key));
                keys.resize((children.len() / ORDER + 1) * (ORDER + 1), UNUSED);
                children.extend(node.iter().map(|(_, child)| child));
                children.resize(children.len().next_multiple_of(ORDER), 0);
                rest = others;
            }
            if let [(_, root)] = above[..] {
                return Tree {
                    keys,
                    children,
                    root,
                    height,
                };
            }
            // A key smaller than all others must find its way down too.
            above[0].0 = 0;
            level = above;
            height += 1;
        }
    }
}

/// Distinct sorted keys with gaps between them.
fn sorted_keys(count: u32, random: &mut Random) -> Vec<u32> {
    let mut key = 0;
    (0..count)
        .map(|_| {
            key += 1 + random.below(100) as u32;
            key
        })
        .collect()
}

/// Tree, keys, and the buffers that both queries need.
struct Setup {
    sorted: Vec<u32>,
    height: u32,
    keys: u64,
    children: u64,
    /// Every query starts at the root.
    at_root: Vec<u32>,
}

impl Setup {
    fn new(
        parameters: &Parameters,
        random: &mut Random,
        session: &mut Session<'_>,
    ) -> Result<Setup, DeviceError> {
        let sorted = sorted_keys(parameters.get_u32("records"), random);
        let tree = Tree::build(&sorted, random);
        Ok(Setup {
            height: tree.height,
            keys: session.upload_u32("node keys", &tree.keys)?,
            children: session.upload_u32("node children", &tree.children)?,
            at_root: vec![tree.root; parameters.get_u32("queries") as usize],
            sorted,
        })
    }
}

impl Workload for FindK {
    fn info(&self) -> &'static Info {
        &FIND
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(seed, FIND.name);
        let module = session.load(&FIND.kernel)?;
        let setup = Setup::new(parameters, &mut random, session)?;
        let records: Vec<u32> = setup
            .sorted
            .iter()
            .map(|_| random.next_u32() >> 1)
            .collect();
        // Most queries hit, as in the original; the others fall into gaps.
        let queries: Vec<u32> = (0..setup.at_root.len())
            .map(|_| {
                let key = setup.sorted[random.below(records.len() as u64) as usize];
                key - u32::from(random.below(4) == 0)
            })
            .collect();
        let answers = session.upload_u32("answers", &vec![ABSENT; queries.len()])?;
        let pointers = [
            setup.keys,
            setup.children,
            session.upload_u32("records", &records)?,
            session.upload_u32("queries", &queries)?,
            session.upload_u32("current", &setup.at_root)?,
            session.upload_u32("next", &setup.at_root)?,
            answers,
        ];
        let shape = Shape::linear(queries.len() as u32, ORDER as u32);
        let args = arguments(&pointers, &[Arg::u32(setup.height)]);
        match parameters.get_u32("registers") {
            0 => session.launch(&module, "btree_find_k", shape, &args)?,
            n => session.launch_with_registers(&module, "btree_find_k", shape, &args, n)?,
        }
        let expected: Vec<u32> = queries
            .iter()
            .map(|key| match setup.sorted.binary_search(key) {
                Ok(at) => records[at],
                Err(_) => ABSENT,
            })
            .collect();
        let answers = check_u32(session, "answers", answers, &expected)?;
        Ok(Outcome::of([answers]))
    }
}

impl Workload for Range {
    fn info(&self) -> &'static Info {
        &RANGE
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(seed, RANGE.name);
        let module = session.load(&RANGE.kernel)?;
        let setup = Setup::new(parameters, &mut random, session)?;
        // Ranges of up to 1000 records between keys that are there.
        let count = setup.sorted.len() as u64;
        let ranges: Vec<(u32, u32)> = (0..setup.at_root.len())
            .map(|_| {
                let first = random.below(count);
                let length = 1 + random.below((count - first).min(1000));
                (first as u32, length as u32)
            })
            .collect();
        let key = |at: u32| setup.sorted[at as usize];
        let from: Vec<u32> = ranges.iter().map(|(first, _)| key(*first)).collect();
        let to: Vec<u32> = ranges.iter().map(|(f, n)| key(f + n - 1)).collect();
        let bytes = ranges.len() as u64 * 4;
        let starts = session.zeroed("starts", bytes)?;
        let lengths = session.zeroed("lengths", bytes)?;
        let mut pointers = vec![
            setup.keys,
            setup.children,
            session.upload_u32("from", &from)?,
            session.upload_u32("to", &to)?,
        ];
        for label in ["current", "next", "last current", "last next"] {
            pointers.push(session.upload_u32(label, &setup.at_root)?);
        }
        pointers.extend([starts, lengths]);
        let shape = Shape::linear(ranges.len() as u32, ORDER as u32);
        let args = arguments(&pointers, &[Arg::u32(setup.height)]);
        let kernel = (&RANGE.kernel, "btree_range");
        session.launch_counted(
            &module,
            kernel,
            shape,
            &args,
            parameters.get_u32("registers"),
        )?;
        let (first, length): (Vec<u32>, Vec<u32>) = ranges.into_iter().unzip();
        Ok(Outcome::of([
            check_u32(session, "starts", starts, &first)?,
            check_u32(session, "lengths", lengths, &length)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_by_walking_down() {
        let mut random = Random::new(1, "btree");
        let sorted = sorted_keys(70_000, &mut random);
        let tree = Tree::build(&sorted, &mut random);
        assert_eq!(tree.height, 2);
        for (record, key) in sorted.iter().enumerate().step_by(997) {
            let mut node = tree.root as usize;
            for _ in 0..=tree.height {
                let keys = &tree.keys[node * (ORDER + 1)..][..ORDER + 1];
                assert!(keys.is_sorted() && keys[ORDER] == UNUSED);
                let place = keys.iter().rposition(|k| k <= key).unwrap();
                node = tree.children[node * ORDER + place] as usize;
            }
            assert_eq!(node, record);
        }
    }

    #[test]
    fn keys_are_distinct_and_repeat() {
        let make = |seed| sorted_keys(1000, &mut Random::new(seed, "btree"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert!(make(1).is_sorted_by(|a, b| a < b));
    }
}
