//! Streaming clustering: what opening a centre would gain.
//!
//! Stands for Rodinia's streamcluster: 512 threads per block, one thread per point; the first thread
//! stages the candidate's coordinates in shared memory while the block waits at a barrier, then every
//! thread runs down the dimensions (stored one after the other, so that loads coalesce) and takes one
//! of two short branches. The host sums up and opens the centre when that pays. Points scatter around
//! hidden centres.
//!
//! First measurement (small, `lrr`, gtx480-v3): 21.2 million thread instructions, SIMD efficiency
//! 93.6%, 27.6% of warp time at the one barrier: waiting for the thread that stages. (The barrier
//! paper does not use it, so it is not in that set.)

use super::host::{arguments, check_f32, check_u32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Threads per block.
const BLOCK: u32 = 512;
/// Costs that differ by less than this share are equal: a point may move or stay.
const TIE: f64 = 1e-5;

/// Sums of up to 256 squares in single precision, and differences of such sums.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 2e-3,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "stream-cluster",
    algorithm: "streaming k-median: the gain of opening a centre at candidate points",
    known_for: "coherent: coalesced distances, one thread stages for its block, two short branches",
    shape: "512 threads per block, one thread per point, a launch per candidate",
    papers: &["tbc: STMCL (coherent)", "vtw: streamcluster"],
    comparison: "exact moves, savings within 2e-3 or 1e-5 of the value; near ties may go either way",
    parameters: &[
        Parameter::new("points", "points", [700, 122_880, 122_880], (2, 1 << 20)),
        Parameter::new("dimensions", "dimensions", [12, 32, 256], (1, 256)),
        Parameter::new("candidates", "candidates tried", [2, 1, 8], (1, 64)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("stream-cluster"),
};

/// The workload.
pub struct StreamCluster;

/// Points and the clustering as it stands.
struct Clustering {
    count: usize,
    /// Dimension by dimension.
    coordinates: Vec<f32>,
    weights: Vec<f32>,
    /// The centre of each point, and what that costs.
    assigned: Vec<u32>,
    costs: Vec<f32>,
    centres: Vec<u32>,
}

impl Clustering {
    /// Points around eight hidden centres; the first point is the only centre.
    fn generate(count: usize, dimensions: usize, random: &mut Random) -> Clustering {
        let hidden: Vec<f64> = (0..8 * dimensions).map(|_| random.unit()).collect();
        let kinds: Vec<usize> = (0..count).map(|_| random.below(8) as usize).collect();
        let mut coordinates = Vec::with_capacity(count * dimensions);
        for d in 0..dimensions {
            coordinates.extend(
                kinds
                    .iter()
                    .map(|kind| (hidden[kind * dimensions + d] + random.float(-0.2, 0.2)) as f32),
            );
        }
        let mut clustering = Clustering {
            count,
            coordinates,
            weights: (0..count).map(|_| 1.0 + random.below(3) as f32).collect(),
            assigned: vec![0; count],
            costs: Vec::new(),
            centres: vec![0],
        };
        clustering.costs = (0..count).map(|p| clustering.cost(p, 0) as f32).collect();
        clustering
    }

    /// What assigning point `p` to a centre at point `to` costs.
    fn cost(&self, p: usize, to: usize) -> f64 {
        let planes = self.coordinates.chunks_exact(self.count);
        let squares = planes.map(|plane| (f64::from(plane[p]) - f64::from(plane[to])).powi(2));
        squares.sum::<f64>() * f64::from(self.weights[p])
    }

    /// For each point whether it would move to the candidate, and its row of savings: one for each
    /// centre and the candidate's at the end. Near ties go as `got` has them.
    fn gains(&self, candidate: usize, got: &[u32]) -> (Vec<u32>, Vec<f32>) {
        let width = self.centres.len() + 1;
        let mut moves = vec![0; self.count];
        let mut rows = vec![0.0; self.count * width];
        for p in 0..self.count {
            let (cost, present) = (self.cost(p, candidate), f64::from(self.costs[p]));
            let tie = (cost - present).abs() <= TIE * present;
            if if tie { got[p] == 1 } else { cost < present } {
                moves[p] = 1;
                rows[(p + 1) * width - 1] = (cost - present) as f32;
            } else {
                let centre = self.centres.iter().position(|c| *c == self.assigned[p]);
                rows[p * width + centre.unwrap_or(0)] = (present - cost) as f32;
            }
        }
        (moves, rows)
    }

    /// Opens the candidate when what the moving points save is worth `price`.
    fn open(&mut self, candidate: u32, moves: &[u32], price: f64) {
        let movers = || (0..self.count).filter(|p| moves[*p] == 1);
        let saved: f64 = movers()
            .map(|p| f64::from(self.costs[p]) - self.cost(p, candidate as usize))
            .sum();
        if saved <= price || self.centres.contains(&candidate) {
            return;
        }
        let changed: Vec<(usize, f32)> = movers()
            .map(|p| (p, self.cost(p, candidate as usize) as f32))
            .collect();
        for (p, cost) in changed {
            self.assigned[p] = candidate;
            self.costs[p] = cost;
        }
        self.centres.push(candidate);
    }
}

impl Workload for StreamCluster {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [count, dimensions, candidates] =
            ["points", "dimensions", "candidates"].map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "stream-cluster");
        let mut state = Clustering::generate(count as usize, dimensions as usize, &mut random);
        let module = session.load(&INFO.kernel)?;
        let coordinates = session.upload_f32("coordinates", &state.coordinates)?;
        let weights = session.upload_f32("weights", &state.weights)?;
        let shape = Shape::cover(count, BLOCK);
        let price = f64::from(count) / 100.0;
        let mut outcomes = Vec::new();
        for _ in 0..candidates {
            let candidate = random.below(u64::from(count)) as u32;
            let centres = state.centres.len() as u32;
            let mut numbers = vec![0; count as usize];
            for (number, centre) in (0..).zip(&state.centres) {
                numbers[*centre as usize] = number;
            }
            let bytes = 4 * u64::from(count);
            let moves = session.zeroed("moves", bytes)?;
            let lower = session.zeroed("savings", bytes * u64::from(centres + 1))?;
            let pointers = [
                coordinates,
                weights,
                session.upload_f32("costs", &state.costs)?,
                session.upload_u32("assigned", &state.assigned)?,
                session.upload_u32("centre numbers", &numbers)?,
                moves,
                lower,
            ];
            let scalars = [count, dimensions, candidate, centres].map(Arg::u32);
            let args = arguments(&pointers, &scalars);
            session.launch(&module, "stream_cluster", shape, &args)?;
            let words = session.device.read(moves, bytes)?;
            let (words, _) = words.as_chunks();
            let got: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
            let (expected, rows) = state.gains(candidate as usize, &got);
            outcomes.push(check_u32(session, "moves", moves, &expected)?);
            outcomes.push(check_f32(session, "savings", lower, &rows, &TOLERANCE)?);
            state.open(candidate, &expected, price);
        }
        Ok(Outcome::of(outcomes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_near_the_candidate_move_and_it_opens() {
        // On a line: 0, 1, 10, 11, all assigned to the first.
        let mut state = Clustering {
            count: 4,
            coordinates: vec![0.0, 1.0, 10.0, 11.0],
            weights: vec![1.0, 1.0, 1.0, 2.0],
            assigned: vec![0; 4],
            costs: vec![0.0, 1.0, 100.0, 242.0],
            centres: vec![0],
        };
        let (moves, rows) = state.gains(2, &[0; 4]);
        assert_eq!(moves, [0, 0, 1, 1]);
        assert_eq!(rows, [-100.0, 0.0, -80.0, 0.0, 0.0, -100.0, 0.0, -240.0]);
        state.open(2, &moves, 400.0);
        assert_eq!(state.centres, [0]);
        state.open(2, &moves, 300.0);
        assert_eq!(state.centres, [0, 2]);
        assert_eq!(state.assigned, [0, 0, 2, 2]);
        assert_eq!(state.costs, [0.0, 1.0, 0.0, 2.0]);
    }

    #[test]
    fn points_repeat() {
        let make = |seed| Clustering::generate(50, 3, &mut Random::new(seed, "x")).coordinates;
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }
}
