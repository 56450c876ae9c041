//! Cheapest way through a grid, by dynamic programming over its rows.
//!
//! Stands for Rodinia's pathfinder: blocks of 256 threads take 20 rows per launch with a ghost zone of
//! 20 columns on each side, so that the outermost threads fall idle one by one, with two barriers a
//! row and a load of the next row's costs between them.
//!
//! First measurement (small, `lrr`, gtx480-v3): 16.0 million thread instructions, SIMD efficiency
//! 96.3%, 7.5% of warp time at barriers.

use super::host::{arguments, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::Outcome;
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block.
const BLOCK: u32 = 256;

static INFO: Info = Info {
    name: "pathfinder",
    algorithm: "cheapest path through a grid of costs, several rows per launch with ghost zones",
    known_for: "ghost-zone threads that fall idle, two barriers per row",
    shape: "256 threads per block, one block for what remains of them after the ghost zones",
    papers: &[
        "vtw: pathfinder",
        "baws: pathfinder (not barrier-intensive)",
    ],
    comparison: "exact: the cost of the cheapest path to every cell of the last row",
    parameters: &[
        Parameter::new("columns", "columns", [500, 77_760, 100_000], (1, 1 << 20)),
        Parameter::new("rows", "rows", [13, 21, 101], (2, 1000)),
        Parameter::new("pyramid", "rows per launch", [8, 20, 20], (1, 100)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("pathfinder"),
};

/// The workload.
pub struct Pathfinder;

/// Costs from 0 to 9, row by row.
fn wall(cells: u32, random: &mut Random) -> Vec<u32> {
    (0..cells).map(|_| random.below(10) as u32).collect()
}

fn reference(wall: &[u32], columns: usize) -> Vec<u32> {
    let (first, rest) = wall.split_at(columns);
    rest.chunks_exact(columns)
        .fold(first.to_vec(), |cost, row| {
            let cheapest = |x: usize| {
                let from = x.saturating_sub(1)..=(x + 1).min(columns - 1);
                cost[from].iter().min().copied().unwrap_or(0)
            };
            row.iter()
                .enumerate()
                .map(|(x, c)| c + cheapest(x))
                .collect()
        })
}

impl Workload for Pathfinder {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (rows, columns) = (parameters.get_u32("rows"), parameters.get_u32("columns"));
        let pyramid = parameters.get_u32("pyramid");
        let wall = wall(rows * columns, &mut Random::new(seed, "pathfinder"));
        let module = session.load(&INFO.kernel)?;
        let (first, rest) = wall.split_at(columns as usize);
        let costs = session.upload_u32("wall", rest)?;
        let mut from = session.upload_u32("cost", first)?;
        let mut to = session.zeroed("next cost", u64::from(columns) * 4)?;
        let shape = Shape::linear(columns.div_ceil(BLOCK - 2 * pyramid), BLOCK);
        let mut row = 0;
        while row < rows - 1 {
            let now = pyramid.min(rows - 1 - row);
            let args = arguments(
                &[costs, from, to],
                &[columns, row, now, pyramid].map(Arg::u32),
            );
            session.launch(&module, "pathfinder", shape, &args)?;
            (from, to) = (to, from);
            row += now;
        }
        let expected = reference(&wall, columns as usize);
        let cost = check_u32(session, "cost", from, &expected)?;
        Ok(Outcome::of([cost]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_goes_straight_and_diagonally() {
        let wall = [1, 9, 9, 5, 1, 9, 9, 9, 1];
        assert_eq!(reference(&wall, 3), [11, 11, 3]);
        assert_eq!(reference(&[2, 3], 1), [5]);
    }

    #[test]
    fn walls_repeat_and_use_all_costs() {
        let make = |seed| wall(1000, &mut Random::new(seed, "pathfinder"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert!((0..10).all(|c| make(1).contains(&c)));
    }
}
