//! A fluid by the lattice Boltzmann method.
//!
//! Stands for Parboil's lbm: nineteen directions in three dimensions, a thread per cell and a block per row of
//! 120 cells, a cavity whose lid drags the fluid along. Walls at both ends of every row make its outer
//! warps run both sides of the branch for obstacles, which is the instruction divergence that the
//! virtual-warps paper finds in nearly all blocks; a few balls in the fluid add to it, and a box in which
//! whole warps lie, on request. Bound by memory.
//! Launch bounds keep the paper's 7 blocks per SM.

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Cells of a row and threads of a block.
const WIDTH: usize = 120;
const OBSTACLE: u32 = 1;
const LID: u32 = 2;
const OMEGA: f32 = 1.95;

/// Directions with their weights' denominators; an odd one's opposite follows it.
const DIRECTIONS: [([i64; 3], f64); 19] = [
    ([0, 0, 0], 3.0),
    ([1, 0, 0], 18.0),
    ([-1, 0, 0], 18.0),
    ([0, 1, 0], 18.0),
    ([0, -1, 0], 18.0),
    ([0, 0, 1], 18.0),
    ([0, 0, -1], 18.0),
    ([1, 1, 0], 36.0),
    ([-1, -1, 0], 36.0),
    ([1, -1, 0], 36.0),
    ([-1, 1, 0], 36.0),
    ([1, 0, 1], 36.0),
    ([-1, 0, -1], 36.0),
    ([1, 0, -1], 36.0),
    ([-1, 0, 1], 36.0),
    ([0, 1, 1], 36.0),
    ([0, -1, -1], 36.0),
    ([0, 1, -1], 36.0),
    ([0, -1, 1], 36.0),
];

/// Single against double precision; values are between 0.02 and 0.4.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-6,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "lbm",
    algorithm: "lattice Boltzmann fluid of nineteen directions in a cavity with a moving lid and obstacles",
    known_for: "bound by memory; warps with a wall in them run both sides of a long branch",
    shape: "120 threads per block, one thread per cell, one launch per step",
    papers: &["vtw: lbm (set 1, 7 blocks per SM)"],
    comparison: "within 1e-6 or 1e-5 of the value, against a fluid in double precision",
    parameters: &[
        Parameter::new(
            "rows",
            "rows of 120 cells in a layer",
            [4, 24, 120],
            (3, 512),
        ),
        Parameter::new("layers", "layers", [4, 20, 150], (3, 512)),
        Parameter::new("steps", "steps", [2, 2, 4], (1, 1000)),
        Parameter::new(
            "blocked",
            "percent of a layer's rows that run through a box half as wide as the cavity",
            [0, 0, 0],
            (0, 100),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("lbm"),
};

/// The workload.
pub struct Lbm;

/// The cavity: what each cell is, and the planes of its fluid with a margin at both ends.
struct Cavity {
    flags: Vec<u32>,
    /// Cells of a layer.
    layer: usize,
    margin: usize,
    plane: usize,
    values: Vec<f64>,
}

impl Cavity {
    fn new(rows: usize, layers: usize, blocked: usize, random: &mut Random) -> Cavity {
        let layer = rows * WIDTH;
        let margin = layer + WIDTH + 8;
        let plane = layer * layers + 2 * margin;
        let balls: Vec<[f64; 4]> = (0..3)
            .map(|_| {
                let mut along = |cells: usize| random.float(0.0, cells as f64);
                let place = [along(WIDTH), along(rows), along(layers)];
                let radius = random.float(0.1, 0.2) * rows.min(layers) as f64;
                [place[0], place[1], place[2], radius]
            })
            .collect();
        let flag = |at: usize| {
            let place = [at % WIDTH, at / WIDTH % rows, at / layer];
            let [x, y, z] = place.map(|p| p as f64);
            let ends = [WIDTH, rows, layers];
            let wall = (0..3).any(|k| place[k] == 0 || place[k] + 1 == ends[k]);
            let ball = |b: &[f64; 4]| {
                (x - b[0]).powi(2) + (y - b[1]).powi(2) + (z - b[2]).powi(2) < b[3] * b[3]
            };
            let inside =
                (WIDTH / 4..WIDTH * 3 / 4).contains(&place[0]) && place[1] * 100 < rows * blocked;
            if wall || inside || balls.iter().any(ball) {
                OBSTACLE
            } else if place[2] + 2 == layers {
                LID
            } else {
                0
            }
        };
        let flags = (0..layer * layers).map(flag).collect();
        let values = DIRECTIONS
            .iter()
            .flat_map(|(_, weight)| vec![1.0 / weight; plane])
            .map(|v| f64::from((v * random.float(0.97, 1.03)) as f32))
            .collect();
        Cavity {
            flags,
            layer,
            margin,
            plane,
            values,
        }
    }

    /// A step; what streams nowhere stays as it is in `other`, the values of two steps before.
    fn step(&self, other: &[f64]) -> Vec<f64> {
        let mut next = other.to_vec();
        for (at, flag) in self.flags.iter().enumerate() {
            let mut f: [f64; 19] =
                std::array::from_fn(|d| self.values[d * self.plane + self.margin + at]);
            if flag & OBSTACLE != 0 {
                for pair in f[1..].chunks_mut(2) {
                    pair.swap(0, 1);
                }
            } else {
                f = collided(&f, flag & LID != 0);
            }
            for (d, (c, _)) in DIRECTIONS.iter().enumerate() {
                let shift = c[0] + c[1] * WIDTH as i64 + c[2] * self.layer as i64;
                let to = (self.margin + at) as i64 + shift;
                next[d * self.plane + to as usize] = f[d];
            }
        }
        next
    }
}

fn collided(f: &[f64; 19], lid: bool) -> [f64; 19] {
    let density: f64 = f.iter().sum();
    let along = |k: usize| {
        let parts = f.iter().zip(&DIRECTIONS).map(|(f, (c, _))| c[k] as f64 * f);
        parts.sum::<f64>() / density
    };
    let u = match lid {
        true => [0.005, 0.002, 0.0],
        false => [along(0), along(1), along(2)],
    };
    let square = 1.5 * u.iter().map(|x| x * x).sum::<f64>();
    std::array::from_fn(|d| {
        let (c, weight) = DIRECTIONS[d];
        let along: f64 = (0..3).map(|k| c[k] as f64 * u[k]).sum();
        let rest = density / weight * (1.0 + along * (3.0 + 4.5 * along) - square);
        f[d] + f64::from(OMEGA) * (rest - f[d])
    })
}

impl Workload for Lbm {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [rows, layers, steps, blocked] =
            ["rows", "layers", "steps", "blocked"].map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "lbm");
        let mut cavity = Cavity::new(
            rows as usize,
            layers as usize,
            blocked as usize,
            &mut random,
        );
        let words = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
        let module = session.load(&INFO.kernel)?;
        let start = words(&cavity.values);
        let mut from = session.upload_f32("fluid", &start)?;
        let mut to = session.upload_f32("next fluid", &start)?;
        let flags = session.upload_u32("flags", &cavity.flags)?;
        let shape = Shape {
            grid: [rows, layers, 1],
            block: [WIDTH as u32, 1, 1],
        };
        let mut other = cavity.values.clone();
        for _ in 0..steps {
            let sizes = [WIDTH, cavity.plane, cavity.margin].map(|n| Arg::u32(n as u32));
            let scalars = [&sizes[..], &[float(OMEGA)]].concat();
            let args = arguments(&[from, to, flags], &scalars);
            session.launch(&module, "performStreamColl", shape, &args)?;
            (from, to) = (to, from);
            let next = cavity.step(&other);
            other = std::mem::replace(&mut cavity.values, next);
        }
        let expected = words(&cavity.values);
        let fluid = check_f32(session, "fluid", from, &expected, &TOLERANCE)?;
        Ok(Outcome::of([fluid]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_come_in_pairs_and_weights_sum_to_one() {
        for pair in DIRECTIONS[1..].chunks(2) {
            assert_eq!(pair[0].0.map(|c| -c), pair[1].0);
            assert_eq!(pair[0].1, pair[1].1);
        }
        let sum: f64 = DIRECTIONS.iter().map(|(_, w)| 1.0 / w).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn collisions_keep_mass_and_momentum() {
        let f: [f64; 19] = std::array::from_fn(|d| 0.02 + 0.01 * d as f64);
        let after = collided(&f, false);
        for weigh in [|_: [i64; 3]| 1.0, |c: [i64; 3]| c[0] as f64] {
            let sum = |f: &[f64; 19]| -> f64 {
                f.iter()
                    .zip(&DIRECTIONS)
                    .map(|(f, (c, _))| f * weigh(*c))
                    .sum()
            };
            assert!((sum(&f) - sum(&after)).abs() < 1e-12);
        }
        // The lid drags the fluid along x.
        let still: [f64; 19] = std::array::from_fn(|d| 1.0 / DIRECTIONS[d].1);
        let dragged = collided(&still, true);
        assert!(dragged[1] > dragged[2]);
    }

    #[test]
    fn cavities_repeat_and_have_walls_and_a_lid() {
        let make = |seed| Cavity::new(6, 6, 0, &mut Random::new(seed, "lbm"));
        let cavity = make(1);
        assert_eq!(cavity.values, make(1).values);
        assert_ne!(cavity.values, make(2).values);
        assert_eq!(cavity.flags[0], OBSTACLE);
        assert!(cavity.flags.contains(&LID) && cavity.flags.contains(&0));
    }

    #[test]
    fn a_box_fills_half_of_as_many_rows_as_asked_for() {
        let obstacles = |blocked| {
            let cavity = Cavity::new(10, 10, blocked, &mut Random::new(1, "lbm"));
            // A row within the third layer; balls are the same in both.
            let row = |y: usize| &cavity.flags[2 * cavity.layer + y * WIDTH..][..WIDTH];
            let of = |y| row(y).iter().filter(|f| **f == OBSTACLE).count();
            [of(1), of(2), of(3), of(8)]
        };
        let (free, boxed) = (obstacles(0), obstacles(30));
        assert!(boxed[0] > WIDTH / 2 && boxed[1] > WIDTH / 2);
        assert!(free[0] < WIDTH / 2 && free[1] < WIDTH / 2);
        assert_eq!(boxed[2..], free[2..], "rows beyond the box");
    }
}
