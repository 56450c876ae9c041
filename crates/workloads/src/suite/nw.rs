//! Needleman-Wunsch alignment of two sequences.
//!
//! Stands for Rodinia's nw: tiles of 16x16 on a diagonal of the matrix are the blocks of a launch,
//! blocks have 16 threads (half a warp), and a tile is filled diagonal by diagonal with a barrier
//! after each, so that on average half of the threads work. The launches grow to the main diagonal
//! and shrink again: few blocks at first and at last, which is why `small` cannot give every SM
//! several blocks (32 blocks at most). The second sequence is the first with mutations, insertions
//! and deletions. `nw-64` has tiles of 64x64 and 33 KB of shared memory, so that an SM holds one block
//! of two warps, as the virtual-warps paper's.
//!
//! First measurement (small, `lrr`, gtx480-v3): 10.3 million thread instructions, SIMD efficiency
//! 38.0%; no time at barriers, since a block is one warp.

use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Side of a tile, and threads per block, in both variants.
const SIDE: u32 = 16;
const WIDE: u32 = 64;
/// What a gap costs.
const PENALTY: i32 = 10;

static INFO: Info = Info {
    name: "nw",
    algorithm: "Needleman-Wunsch alignment scores by tiles: a launch per diagonal of tiles, diagonals within a tile",
    known_for: "half-empty warps, a barrier per diagonal, launches of few blocks",
    shape: "16 threads per block, one block per tile of a diagonal",
    papers: &["origami: nw"],
    comparison: "exact: the whole matrix of scores",
    parameters: &[
        Parameter::new("n", "length of the sequences", [64, 512, 2048], (16, 8192))
            .multiple_of(SIDE as u64),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("nw"),
};

static WIDE_INFO: Info = Info {
    name: "nw-64",
    algorithm: "Needleman-Wunsch alignment scores by tiles of 64x64",
    known_for: "one block of two warps per SM by its shared memory, a barrier per diagonal, launches of few blocks",
    shape: "64 threads per block, one block per tile of a diagonal",
    papers: &["vtw: needle_cu_shared_1"],
    parameters: &[Parameter::new(
        "n",
        "length of the sequences",
        [128, 2048, 4096],
        (64, 8192),
    )
    .multiple_of(WIDE as u64)],
    sets: &[Set::Coherent],
    kernel: kernel!("nw-64"),
    ..INFO
};

/// The workload.
pub struct Nw;

/// The variant with wide tiles.
pub struct Nw64;

/// A sequence of twenty kinds of residues, and one related to it.
fn sequences(n: usize, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let mut residue = || random.below(20) as u8;
    let first: Vec<u8> = (0..n).map(|_| residue()).collect();
    let mut second = Vec::with_capacity(n + 1);
    let mut from = first.iter();
    while second.len() < n {
        match random.below(20) {
            0 => drop(from.next()),                   // a deletion
            1 => second.push(random.below(20) as u8), // an insertion
            2 | 3 => {
                from.next();
                second.push(random.below(20) as u8); // a mutation
            }
            _ => second.push(from.next().copied().unwrap_or(0)),
        }
    }
    (first, second)
}

/// What aligning two residues gains: residues come in classes of four that resemble each other.
fn similarity(a: u8, b: u8) -> i32 {
    match (a == b, a / 4 == b / 4) {
        (true, _) => 5,
        (false, true) => 1,
        (false, false) => -4,
    }
}

/// The matrix row by row, from its definition; row and column 0 are gaps only.
fn reference(first: &[u8], second: &[u8]) -> Vec<i32> {
    let width = second.len() + 1;
    let mut scores: Vec<i32> = (0..width as i32).map(|x| -x * PENALTY).collect();
    for (y, a) in first.iter().enumerate() {
        scores.push(-(y as i32 + 1) * PENALTY);
        for (x, b) in second.iter().enumerate() {
            let above = y * width + x;
            let aligned = scores[above] + similarity(*a, *b);
            let gap = scores[above + 1].max(scores[above + width]) - PENALTY;
            scores.push(aligned.max(gap));
        }
    }
    scores
}

fn words(values: impl IntoIterator<Item = i32>) -> Vec<u32> {
    values.into_iter().map(i32::cast_unsigned).collect()
}

/// Runs a variant, whose kernel has that name and tiles of that side.
fn run(
    info: &'static Info,
    (kernel, side): (&str, u32),
    parameters: &Parameters,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Outcome, DeviceError> {
    let n = parameters.get_u32("n");
    let (first, second) = sequences(n as usize, &mut Random::new(seed, "nw"));
    let table = first
        .iter()
        .flat_map(|a| second.iter().map(|b| similarity(*a, *b)));
    let width = n as usize + 1;
    let mut start = vec![0; width * width];
    for i in 0..width {
        start[i] = -(i as i32) * PENALTY;
        start[i * width] = start[i];
    }
    let module = session.load(&info.kernel)?;
    let gains = session.upload_u32("similarity", &words(table))?;
    let scores = session.upload_u32("scores", &words(start))?;
    let tiles = n / side;
    for diagonal in 0..2 * tiles - 1 {
        let top = diagonal.saturating_sub(tiles - 1);
        let blocks = diagonal.min(tiles - 1) - top + 1;
        let scalars = [n, diagonal, top, PENALTY as u32].map(Arg::u32);
        let args = arguments(&[gains, scores], &scalars);
        session.launch(&module, kernel, Shape::linear(blocks, side), &args)?;
    }
    let expected = words(reference(&first, &second));
    let scores = check_u32(session, "scores", scores, &expected)?;
    Ok(Outcome::of([scores]))
}

impl Workload for Nw {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        run(&INFO, ("nw", SIDE), parameters, seed, session)
    }
}

impl Workload for Nw64 {
    fn info(&self) -> &'static Info {
        &WIDE_INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        run(&WIDE_INFO, ("nw_64", WIDE), parameters, seed, session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_aligns() {
        // The same but for a residue that is missing: three matches and a gap.
        let scores = reference(&[0, 7, 9, 15], &[0, 9, 15]);
        assert_eq!(scores.last(), Some(&(3 * 5 - PENALTY)));
        assert_eq!(&scores[..5], [0, -10, -20, -30, -10]);
        assert_eq!(reference(&[1], &[2]).last(), Some(&1));
    }

    #[test]
    fn sequences_repeat_and_are_related() {
        let make = |seed| sequences(256, &mut Random::new(seed, "nw"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let (first, second) = make(1);
        assert_eq!(first.len(), second.len());
        let related = *reference(&first, &second).last().unwrap();
        let (other, _) = make(2);
        assert!(related > *reference(&first, &other).last().unwrap() + 300);
    }
}
