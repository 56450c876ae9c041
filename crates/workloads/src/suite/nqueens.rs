//! The n queens problem.
//!
//! Stands for NQU: 96 threads per block, each with a stack in shared memory (15 KB per block, so that
//! one block fills an SM with 16 KB), each counting the completions of one beginning that the host
//! made. Subtrees differ wildly in size and lanes finish one after the other.
//!
//! First measurement (`small`, pdom): SIMD efficiency 29.3% on fx5800 and gtx480, 9.0 million thread
//! instructions, no barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

const BLOCK: u32 = 96;

/// Rows the kernel's stack has room for.
const ROWS: u32 = 10;

static INFO: Info = Info {
    name: "nqueens",
    algorithm: "backtracking count of the ways to place n queens, a subtree a thread",
    known_for: "subtrees of very different size: pure control divergence",
    shape: "96 threads per block, one thread per placement of the first rows",
    papers: &["vtw: NQU"],
    comparison: "exact: the solutions of every subtree",
    parameters: &[
        Parameter::new("n", "queens", [7, 12, 14], (4, 16)),
        Parameter::new("placed", "rows placed by the host", [3, 6, 6], (1, 6)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("nqueens"),
};

/// The workload.
pub struct Nqueens;

/// Attacked places of the next row: columns, and diagonals going left and right.
type Attacks = [u32; 3];

/// Every way to place queens in the first rows, as the attacks they leave. Shuffled, so that a
/// block's subtrees do not all have the same beginning.
fn beginnings(n: u32, placed: u32, random: &mut Random) -> Vec<Attacks> {
    let mut rows: Vec<Attacks> = vec![[0; 3]];
    for _ in 0..placed {
        rows = rows
            .into_iter()
            .flat_map(|[c, l, r]| {
                (0..n)
                    .map(|column| 1 << column)
                    .filter(move |place| (c | l | r) & place == 0)
                    .map(move |place| [c | place, (l | place) << 1, (r | place) >> 1])
            })
            .collect();
    }
    for i in (1..rows.len()).rev() {
        rows.swap(i, random.below(i as u64 + 1) as usize);
    }
    rows
}

/// Solutions below a beginning, recursively.
fn count(n: u32, rows_left: u32, [c, l, r]: Attacks) -> u32 {
    if rows_left == 0 {
        return 1;
    }
    (0..n)
        .map(|column| 1 << column)
        .filter(|place| (c | l | r) & place == 0)
        .map(|place| {
            count(
                n,
                rows_left - 1,
                [c | place, (l | place) << 1, (r | place) >> 1],
            )
        })
        .sum()
}

impl Workload for Nqueens {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (n, placed) = (parameters.get_u32("n"), parameters.get_u32("placed"));
        if placed >= n || n - placed > ROWS {
            return Err(DeviceError::bad_input(format!(
                "of {n} rows {placed} are placed, but 1 to {ROWS} must be left for the GPU: \
                 change `n` or `placed`"
            )));
        }
        let starts = beginnings(n, placed, &mut Random::new(seed, "nqueens"));
        let total = starts.len() as u32;
        let module = session.load(&INFO.kernel)?;
        let words: Vec<u32> = starts
            .iter()
            .flat_map(|[c, l, r]| [*c, *l, *r, 0])
            .collect();
        let input = session.upload_u32("beginnings", &words)?;
        let bytes = 4 * u64::from(total).max(1);
        let solutions = session.zeroed("solutions", bytes)?;
        let arguments = [
            Arg::Pointer(input),
            Arg::Pointer(solutions),
            Arg::u32(total),
            Arg::u32(n - placed),
            Arg::u32(n),
        ];
        session.launch(&module, "nqueens", Shape::cover(total, BLOCK), &arguments)?;
        let got = session.device.read(solutions, 4 * u64::from(total))?;
        let expected: Vec<u32> = starts.iter().map(|a| count(n, n - placed, *a)).collect();
        Ok(Outcome::of([compare(
            "solutions",
            Element::U32,
            &u32_bytes(&expected),
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_of_solutions() {
        for (n, solutions) in [(4, 2), (5, 10), (6, 4), (8, 92)] {
            assert_eq!(count(n, n, [0; 3]), solutions);
            let starts = beginnings(n, 2, &mut Random::new(1, "nqueens"));
            assert_eq!(starts.len() as u32, (n - 1) * (n - 2));
            let sum: u32 = starts.iter().map(|a| count(n, n - 2, *a)).sum();
            assert_eq!(sum, solutions);
        }
    }
}
