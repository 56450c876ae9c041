//! 3-D 7-point stencil, one launch per step or all steps in one launch.
//!
//! Stands for Parboil's stencil: blocks of 32x16 threads (16 warps, two blocks per SM) go up through
//! the planes of a tile with two columns per thread; the centre plane is shared between two barriers a
//! plane, and neighbours outside the tile come from global memory, which makes the tile's first and
//! last rows and columns slower than the rest. `stencil-global` is the variant that the barrier
//! paper describes (its STN "employs global synchronization across TBs"): all steps in one launch of
//! resident blocks that count their arrivals in global memory and spin until all are there.
//!
//! Residency is the launch bounds' 2 blocks per SM; the estimate of 37 registers (64-bit pointers and
//! parameters in registers) would allow 1.
//!
//! First measurements (small, `lrr`, gtx480-v3): `stencil` 26.5 million thread instructions, SIMD
//! efficiency 95.5%, 20.5% of warp time at barriers; `stencil-global` 27.7 million, 94.8%, 33.9%.

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Columns of a tile in x and y, as in the kernel.
const TILE: (u32, u32) = (64, 16);
/// Threads per block: two columns each.
const BLOCK: [u32; 3] = [32, 16, 1];
/// Weight of the centre and of each neighbour, subtracted and added.
const WEIGHTS: (f32, f32) = (1.0 / 6.0, 1.0 / 6.0 / 6.0);

/// Few steps of a handful of operations each in single precision on values of about 1.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-5,
    relative: 1e-5,
    ulp: 0,
};

const NX: Parameter =
    Parameter::new("nx", "cells in x", [64, 512, 512], (64, 4096)).multiple_of(TILE.0 as u64);
const NY: Parameter =
    Parameter::new("ny", "cells in y", [32, 256, 512], (16, 4096)).multiple_of(TILE.1 as u64);

static PLAIN: Info = Info {
    name: "stencil",
    algorithm: "Jacobi steps of a 7-point stencil in 3-D, plane by plane with the centre plane in shared memory",
    known_for: "two barriers per plane, tile borders that load more than the inside; barrier-intensive",
    shape: "32x16 threads per block for 64x16 columns, one launch per step",
    papers: &[
        "baws: STN (barrier-intensive, 16 warps per block, 2 blocks per SM)",
        "vtw: stencil",
    ],
    comparison: "within 1e-5 or 1e-5 of the value, against steps in double precision",
    parameters: &[
        NX,
        NY,
        Parameter::new("nz", "cells in z", [4, 10, 64], (3, 1024)),
        Parameter::new("steps", "steps", [2, 1, 4], (1, 1000)),
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("stencil"),
};

static GLOBAL: Info = Info {
    name: "stencil-global",
    algorithm: "the 7-point stencil with all steps in one launch and a barrier across blocks between them",
    known_for: "a global barrier by atomics and spinning, on top of two barriers per plane",
    shape: "32x16 threads per block, no more blocks than fit on the machine at once",
    papers: &["baws: STN (barrier-intensive, global synchronisation)"],
    comparison: "within 1e-5 or 1e-5 of the value, against steps in double precision",
    parameters: &[
        NX,
        NY,
        Parameter::new("nz", "cells in z", [4, 4, 32], (3, 1024)),
        Parameter::new("steps", "steps", [2, 2, 6], (1, 1000)),
        Parameter::new(
            "blocks",
            "blocks; all must fit on the GPU at once",
            [2, 30, 30],
            (1, 1024),
        ),
    ],
    sets: &[Set::Coherent, Set::BarrierIntensive],
    exceptions: &[],
    kernel: kernel!("stencil"),
};

/// One launch per step.
pub struct Stencil;
/// All steps in one launch.
pub struct StencilGlobal;

/// Cells in x, y and z.
#[derive(Clone, Copy)]
struct Grid {
    nx: u32,
    ny: u32,
    nz: u32,
}

impl Grid {
    fn of(parameters: &Parameters) -> Result<Grid, DeviceError> {
        let [nx, ny, nz] = ["nx", "ny", "nz"].map(|name| parameters.get_u32(name));
        match u64::from(nx) * u64::from(ny) * u64::from(nz) {
            0..=0x0fff_ffff => Ok(Grid { nx, ny, nz }),
            cells => Err(DeviceError::bad_input(format!(
                "stencil: {nx} x {ny} x {nz} = {cells} cells are too many; at most 2^28"
            ))),
        }
    }

    /// A warm ball in a cool medium with a little noise.
    fn heat(self, random: &mut Random) -> Vec<f32> {
        let centre = |n: u32, random: &mut Random| f64::from(n) * random.float(0.3, 0.7);
        let (cx, cy, cz) = (
            centre(self.nx, random),
            centre(self.ny, random),
            centre(self.nz, random),
        );
        let away = |at: u32, centre: f64, n: u32| ((f64::from(at) - centre) / f64::from(n)).powi(2);
        let mut cells = Vec::with_capacity((self.nx * self.ny * self.nz) as usize);
        for z in 0..self.nz {
            for y in 0..self.ny {
                for x in 0..self.nx {
                    let far = away(x, cx, self.nx) + away(y, cy, self.ny) + away(z, cz, self.nz);
                    let warm = 1.0 / (1.0 + 20.0 * far);
                    cells.push((warm + random.float(-0.05, 0.05)) as f32);
                }
            }
        }
        cells
    }

    /// A step in double precision, by the definition.
    fn step(self, cells: &[f64]) -> Vec<f64> {
        let (nx, ny, nz) = (self.nx as usize, self.ny as usize, self.nz as usize);
        let (c0, c1) = (f64::from(WEIGHTS.0), f64::from(WEIGHTS.1));
        let mut out = cells.to_vec();
        for z in 1..nz - 1 {
            for y in 1..ny - 1 {
                for x in 1..nx - 1 {
                    let at = (z * ny + y) * nx + x;
                    let around = [at - 1, at + 1, at - nx, at + nx, at - nx * ny, at + nx * ny];
                    let sum: f64 = around.iter().map(|i| cells[*i]).sum();
                    out[at] = c1 * sum - c0 * cells[at];
                }
            }
        }
        out
    }

    fn reference(self, cells: &[f32], steps: u32) -> Vec<f32> {
        let mut now: Vec<f64> = cells.iter().map(|c| f64::from(*c)).collect();
        for _ in 0..steps {
            now = self.step(&now);
        }
        now.iter().map(|c| *c as f32).collect()
    }

    fn scalars(self) -> [Arg; 3] {
        [self.nx, self.ny, self.nz].map(Arg::u32)
    }

    fn tiles(self) -> (u32, u32) {
        (self.nx / TILE.0, self.ny / TILE.1)
    }
}

/// Uploads the grid twice (borders are never written), runs, and compares what the last step left.
fn run(
    info: &'static Info,
    parameters: &Parameters,
    seed: u64,
    session: &mut Session<'_>,
    steps: impl Fn(&mut Session<'_>, Grid, [u64; 2]) -> Result<(), DeviceError>,
) -> Result<Outcome, DeviceError> {
    let grid = Grid::of(parameters)?;
    let cells = grid.heat(&mut Random::new(seed, info.name));
    let buffers = [
        session.upload_f32("grid", &cells)?,
        session.upload_f32("next grid", &cells)?,
    ];
    steps(session, grid, buffers)?;
    let count = parameters.get_u32("steps");
    let expected = grid.reference(&cells, count);
    let last = buffers[count as usize % 2];
    let grid = check_f32(session, "grid", last, &expected, &TOLERANCE)?;
    Ok(Outcome::of([grid]))
}

impl Workload for Stencil {
    fn info(&self) -> &'static Info {
        &PLAIN
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let module = session.load(&PLAIN.kernel)?;
        let steps = parameters.get_u32("steps") as usize;
        run(
            &PLAIN,
            parameters,
            seed,
            session,
            |session, grid, buffers| {
                let mut scalars = grid.scalars().to_vec();
                scalars.extend([float(WEIGHTS.0), float(WEIGHTS.1)]);
                let (across, down) = grid.tiles();
                let shape = Shape {
                    grid: [across, down, 1],
                    block: BLOCK,
                };
                for step in 0..steps {
                    let pointers = [buffers[step % 2], buffers[(step + 1) % 2]];
                    let args = arguments(&pointers, &scalars);
                    session.launch(&module, "stencil", shape, &args)?;
                }
                Ok(())
            },
        )
    }
}

impl Workload for StencilGlobal {
    fn info(&self) -> &'static Info {
        &GLOBAL
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let module = session.load(&GLOBAL.kernel)?;
        let steps = parameters.get_u32("steps");
        let blocks = parameters.get_u32("blocks");
        run(
            &GLOBAL,
            parameters,
            seed,
            session,
            |session, grid, buffers| {
                let arrived = session.zeroed("arrived", 4)?;
                let mut scalars = grid.scalars().to_vec();
                scalars.extend([Arg::u32(steps), float(WEIGHTS.0), float(WEIGHTS.1)]);
                let args = arguments(&[buffers[0], buffers[1], arrived], &scalars);
                let shape = Shape {
                    grid: [blocks, 1, 1],
                    block: BLOCK,
                };
                session.launch_together(&module, "stencil_global", shape, &args)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_weighs_centre_and_neighbours() {
        let grid = Grid {
            nx: 3,
            ny: 3,
            nz: 3,
        };
        let mut cells = vec![0.0; 27];
        cells[13] = 6.0; // the centre
        for (i, neighbour) in [4, 10, 12, 14, 16, 22].into_iter().enumerate() {
            cells[neighbour] = (i + 1) as f32;
        }
        cells[0] = 100.0; // a corner counts for nothing
        let out = grid.reference(&cells, 1);
        assert!((out[13] - (21.0 / 36.0 - 1.0)).abs() < 1e-6);
        assert_eq!((out[0], out[12]), (100.0, 3.0));
    }

    #[test]
    fn grids_repeat_and_are_warm_somewhere() {
        let grid = Grid {
            nx: 16,
            ny: 16,
            nz: 8,
        };
        let make = |seed| grid.heat(&mut Random::new(seed, "stencil"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let warmest = make(1).into_iter().fold(0.0, f32::max);
        assert!((0.9..1.1).contains(&warmest));
    }
}
