//! Laplace's equation in three dimensions.
//!
//! Stands for LPS (the 3-D Laplace solver): 32x4 blocks that go through the grid plane by plane,
//! three planes with a rim in shared memory that move down by one per step, two barriers per plane.
//! Divergence has three causes, as there: the rim is moved by some of the threads, points on the
//! grid's border only copy, and the grid does not fill its last column of blocks. The original's
//! grid is 100x100x100: 4 of 32 lanes of the last blocks of a row have points. `small` scales it
//! down to 68x132x44, which leaves 4 lanes as well. With 100 points in a row (`large`) one column in
//! four is nearly empty instead of one in three, and SIMD efficiency is 77.7%: our compiler moves
//! address arithmetic out of the branches, where all lanes do it.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 71.8% on fx5800 and gtx480, 19.2 million
//! thread instructions, 10.5% (fx5800), 11.2% (gtx480) and 12.3% (gtx480-v3) of warp time at
//! barriers. Since then `small` is wider and flatter, 99 blocks for 30 SMs: 72.2%, 19.9 million,
//! 14.0% (gtx480-v3).

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// The kernel adds in single precision, the reference in double; means of neighbours do not
/// let errors grow.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-4,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "laplace3d",
    algorithm: "Jacobi iteration on a 3-D grid, a column of 32x4 points per block, plane by plane",
    known_for: "divergence at rims, borders and the grid's end; two barriers per plane",
    shape: "32x4 threads per block, one launch per iteration",
    papers: &["tbc: LPS (divergent)", "vtw: LPS"],
    comparison: "within 1e-4 or 1e-5 of the value, against sums in double precision",
    parameters: &[
        Parameter::new("nx", "points in x", [36, 100, 100], (1, 2048)),
        Parameter::new("ny", "points in y", [10, 100, 100], (1, 2048)),
        Parameter::new("nz", "points in z", [6, 100, 100], (1, 2048)),
        Parameter::new("iterations", "iterations", [2, 1, 4], (1, 1000)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[(
        Set::Divergent,
        "the compaction paper's mesh, which it counts among its divergent ones",
    )],
    kernel: kernel!("laplace3d"),
};

/// The workload.
pub struct Laplace3d;

/// A grid's extent.
#[derive(Clone, Copy)]
struct Extent {
    nx: usize,
    ny: usize,
    nz: usize,
}

impl Extent {
    fn points(&self) -> usize {
        self.nx * self.ny * self.nz
    }
}

/// A heated box: one face hot, the others cold, and a first guess inside that is a little off.
fn plate(extent: Extent, random: &mut Random) -> Vec<f32> {
    let Extent { nx, ny, nz } = extent;
    let mut grid = Vec::with_capacity(extent.points());
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let border = x == 0 || x + 1 == nx || y == 0 || y + 1 == ny || z + 1 == nz;
                grid.push(match (z == 0, border) {
                    (true, _) => 100.0,
                    (false, true) => 0.0,
                    (false, false) => {
                        (100.0 * (nz - z) as f64 / nz as f64 + random.float(-5.0, 5.0)) as f32
                    }
                });
            }
        }
    }
    grid
}

fn reference(grid: &[f32], extent: Extent, iterations: u32) -> Vec<f32> {
    let Extent { nx, ny, nz } = extent;
    let mut now: Vec<f64> = grid.iter().map(|v| f64::from(*v)).collect();
    for _ in 0..iterations {
        let mut next = now.clone();
        for z in 1..nz.saturating_sub(1) {
            for y in 1..ny.saturating_sub(1) {
                for x in 1..nx.saturating_sub(1) {
                    let at = (z * ny + y) * nx + x;
                    let sum: f64 = [1, nx, nx * ny]
                        .iter()
                        .map(|step| now[at - step] + now[at + step])
                        .sum();
                    next[at] = sum / 6.0;
                }
            }
        }
        now = next;
    }
    now.iter().map(|v| *v as f32).collect()
}

impl Workload for Laplace3d {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [nx, ny, nz] = ["nx", "ny", "nz"].map(|name| parameters.get_u32(name));
        let extent = Extent {
            nx: nx as usize,
            ny: ny as usize,
            nz: nz as usize,
        };
        let grid = plate(extent, &mut Random::new(seed, "laplace3d"));
        let iterations = parameters.get_u32("iterations");
        let bytes = 4 * extent.points() as u64;
        let module = session.load(&INFO.kernel)?;
        let mut from = session.upload_f32("from", &grid)?;
        let mut to = session.zeroed("to", bytes)?;
        let shape = Shape {
            grid: [nx.div_ceil(32), ny.div_ceil(4), 1],
            block: [32, 4, 1],
        };
        for _ in 0..iterations {
            let arguments = [
                Arg::Pointer(from),
                Arg::Pointer(to),
                Arg::u32(nx),
                Arg::u32(ny),
                Arg::u32(nz),
            ];
            session.launch(&module, "laplace3d", shape, &arguments)?;
            (from, to) = (to, from);
        }
        let got = session.device.read(from, bytes)?;
        Ok(Outcome::of([compare(
            "grid",
            Element::F32,
            &f32_bytes(&reference(&grid, extent, iterations)),
            &got,
            &TOLERANCE,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBE: Extent = Extent {
        nx: 3,
        ny: 3,
        nz: 3,
    };

    #[test]
    fn the_middle_becomes_the_mean_of_its_neighbours() {
        let mut grid = vec![0.0; 27];
        for (i, neighbour) in [12, 14, 10, 16, 4, 22].into_iter().enumerate() {
            grid[neighbour] = i as f32 + 1.0;
        }
        let next = reference(&grid, CUBE, 1);
        assert_eq!(next[13], 3.5);
        assert_eq!(next[12], 1.0, "the border stays");
        assert_eq!(reference(&grid, CUBE, 5)[13], 3.5);
    }

    #[test]
    fn plates_repeat_and_are_hot_on_one_side() {
        let make = |seed| plate(CUBE, &mut Random::new(seed, "laplace3d"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert!(make(1)[..9].iter().all(|v| *v == 100.0) && make(1)[18] == 0.0);
    }
}
