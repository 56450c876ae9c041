//! Forces between atoms up to a cutoff.
//!
//! Stands for NAMD's non-bonded forces: 64 threads per block, a block per pair of neighbouring cells, a
//! thread per atom of the one that goes through the atoms of the other in shared memory, and a
//! second kernel of 64 threads that sums an atom's parts. Cells are as wide as the cutoff, so about
//! 15% of pairs are near enough: nearly every warp enters the branch for nearly every pair, with
//! few of its lanes. Atoms form a liquid of uneven density, so cells hold different numbers.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 59.6% on fx5800 and gtx480, 25.0
//! million thread instructions, 0.2% (fx5800) to 0.5% (gtx480-v3) of warp time at barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Places along a cell's side of the lattice that atoms sit near. Their distance is the unit.
const PLACES: u32 = 4;
const CUTOFF: f64 = PLACES as f64;
const SIGMA: f64 = 0.8;
const EPSILON: f64 = 0.1;
const COULOMB: f64 = 1.5;

/// Single precision and an approximate reciprocal root against double precision. Forces are of
/// the order of ten.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "nbody-cutoff",
    algorithm: "pair forces up to a cutoff between the atoms of a periodic box, by cell lists",
    known_for: "a divergent branch in the inner loop: about one pair in six is near enough",
    shape: "64 threads per block, one block per pair of cells, one thread per atom; then one block per cell",
    papers: &["tbc: NAMD (divergent)", "vws: CoMD"],
    comparison: "within 1e-3 or 1e-4 of the value, against all pairs in double precision",
    parameters: &[
        Parameter::new(
            "cells",
            "cells along each side of the box",
            [2, 4, 8],
            (2, 40),
        ),
        Parameter::new(
            "density",
            "filled places of the lattice, in per cent",
            [15, 65, 90],
            (1, 100),
        ),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("nbody-cutoff"),
};

/// The workload.
pub struct NbodyCutoff;

/// Atoms sorted by cell: position and charge, and where each cell's begin.
struct Atoms {
    atoms: Vec<[f32; 4]>,
    first: Vec<u32>,
}

/// A liquid: atoms near the places of a lattice, thinner in some regions, of alternating charge.
fn liquid(cells: u32, density: u64, random: &mut Random) -> Atoms {
    let mut atoms = Vec::new();
    let mut first = vec![0];
    for cell in 0..cells * cells * cells {
        let corner = [cell % cells, cell / cells % cells, cell / (cells * cells)];
        // Every fourth cell or so holds a third less.
        let filled = if random.below(4) == 0 {
            density * 2 / 3
        } else {
            density
        };
        for place in 0..PLACES.pow(3) {
            let at = [
                place % PLACES,
                place / PLACES % PLACES,
                place / (PLACES * PLACES),
            ];
            if random.below(100) >= filled {
                continue;
            }
            let mut position = [0, 1, 2].map(|axis| {
                let middle = f64::from(corner[axis] * PLACES + at[axis]) + 0.5;
                (middle + random.float(-0.12, 0.12)) as f32
            });
            // Rounding must not move an atom out of its cell.
            for (axis, x) in position.iter_mut().enumerate() {
                *x = x.clamp(
                    (corner[axis] * PLACES) as f32,
                    ((corner[axis] + 1) * PLACES) as f32,
                );
            }
            let charge = if at.iter().sum::<u32>().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
            atoms.push([position[0], position[1], position[2], charge]);
        }
        first.push(atoms.len() as u32);
    }
    Atoms { atoms, first }
}

/// Forces and energies from all pairs, each with the nearest image of the other atom.
fn reference(atoms: &[[f32; 4]], side: f64) -> Vec<f32> {
    let mut result = Vec::with_capacity(4 * atoms.len());
    for (i, a) in atoms.iter().enumerate() {
        let mut sum = [0.0f64; 4];
        for (j, b) in atoms.iter().enumerate() {
            let d: [f64; 3] = std::array::from_fn(|k| {
                let d = f64::from(a[k]) - f64::from(b[k]);
                d - side * (d / side).round()
            });
            let r2 = d.iter().map(|x| x * x).sum::<f64>();
            if i == j || r2 >= CUTOFF * CUTOFF {
                continue;
            }
            let s6 = (SIGMA * SIGMA / r2).powi(3);
            let fade = (1.0 - r2 / (CUTOFF * CUTOFF)).powi(2);
            let charge = COULOMB * f64::from(a[3] * b[3]) / r2.sqrt();
            let f = (24.0 * EPSILON * s6 * (2.0 * s6 - 1.0) + charge) / r2 * fade;
            for (part, along) in sum.iter_mut().zip(d) {
                *part += f * along;
            }
            sum[3] += charge * fade;
        }
        result.extend(sum.map(|x| x as f32));
    }
    result
}

impl Workload for NbodyCutoff {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let cells = parameters.get_u32("cells");
        let mut random = Random::new(seed, "nbody-cutoff");
        let Atoms { atoms, first } = liquid(cells, parameters.get("density"), &mut random);
        let side = f64::from(cells * PLACES);
        let module = session.load(&INFO.kernel)?;
        let positions = session.upload_f32("atoms", atoms.as_flattened())?;
        let start = session.upload_u32("first", &first)?;
        let bytes = 16 * atoms.len() as u64;
        let force = session.zeroed("force", bytes)?;
        let partial = session.zeroed("partial", 27 * bytes)?;
        let count = atoms.len() as u32;
        let mut sizes = cells.to_le_bytes().to_vec();
        sizes.extend(count.to_le_bytes());
        let factors = [
            side,
            CUTOFF * CUTOFF,
            SIGMA * SIGMA,
            24.0 * EPSILON,
            COULOMB,
        ];
        sizes.extend(f32_bytes(&factors.map(|x| x as f32)));
        let (input, start) = (Arg::Pointer(positions), Arg::Pointer(start));
        let (parts, sums) = (Arg::Pointer(partial), Arg::Pointer(force));
        let mut shape = Shape::linear(cells.pow(3), 64);
        shape.grid[1] = 27;
        let arguments = [input, start.clone(), parts.clone(), Arg::Bytes(sizes)];
        session.launch(&module, "pair_forces", shape, &arguments)?;
        shape.grid[1] = 1;
        let arguments = [parts, start, sums, Arg::u32(count)];
        session.launch(&module, "sum_forces", shape, &arguments)?;
        let got = session.device.read(force, bytes)?;
        Ok(Outcome::of([compare(
            "force",
            Element::F32,
            &f32_bytes(&reference(&atoms, side)),
            &got,
            &TOLERANCE,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_atoms_push_and_pull_each_other_across_the_border() {
        let side = 12.0;
        let near = reference(&[[0.25, 4.0, 4.0, 1.0], [11.75, 4.0, 4.0, 1.0]], side);
        // Half a unit apart through the border: the first is pushed up, the second down.
        assert!(near[0] > 10.0 && near[0] == -near[4] && near[1] == 0.0);
        let far = reference(&[[0.0, 4.0, 4.0, 1.0], [4.0, 4.0, 4.0, 1.0]], side);
        assert_eq!(far, [0.0; 8]);
        let apart = reference(&[[1.0, 4.0, 4.0, 1.0], [3.0, 4.0, 4.0, -1.0]], side);
        assert!(apart[0] > 0.0 && apart[3] < 0.0, "opposite charges attract");
    }

    #[test]
    fn liquids_repeat_and_atoms_are_in_their_cells() {
        let make = |seed| liquid(3, 90, &mut Random::new(seed, "nbody-cutoff"));
        let Atoms { atoms, first } = make(1);
        assert_eq!(atoms, make(1).atoms);
        assert_ne!(atoms, make(2).atoms);
        assert_eq!(first.len(), 28);
        let counts: Vec<u32> = first.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(counts.iter().max() > counts.iter().min());
        for cell in 0..27 {
            for atom in &atoms[first[cell] as usize..first[cell + 1] as usize] {
                assert_eq!((atom[0] / 4.0) as usize, cell % 3);
                assert_eq!((atom[2] / 4.0) as usize, cell / 9);
            }
        }
    }
}
