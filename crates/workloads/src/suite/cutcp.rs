//! Coulomb potential with a cutoff.
//!
//! Stands for Parboil's cutcp: 128 threads per block for 8x8x8 lattice points, four per thread; atoms in bins of
//! eight places; the offsets of the bins within reach in constant memory; bins staged in shared memory between
//! barriers; a launch per layer of blocks. 11x11 blocks and 8 per SM are the virtual-warps paper's. The cutoff is
//! one bin's side instead of three, so that a launch stays affordable.
//!
//! First measurement (small, `lrr`, gtx480-v3): 87 million thread instructions, SIMD efficiency 95.3%,
//! 0.7% of warp time at barriers.

use super::host::{check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Lattice points along a block's side, places of a bin, and threads per block, as in the kernel.
const SIDE: u32 = 8;
const DEPTH: usize = 8;
const BLOCK: u32 = 128;
/// Distance of lattice points; a bin is as large as a block's cube.
const SPACING: f32 = 0.5;
const BIN: f64 = SIDE as f64 * SPACING as f64;
const CUTOFF: f64 = BIN;
/// An empty place: no charge, and far from every point, since a distance of nothing would make it count.
const EMPTY: Atom = [-1e6, -1e6, -1e6, 0.0];
/// Atoms stay away from lattice points by this, which bounds the potential.
const NEAREST: f64 = 0.05;

/// Sums of some dozen terms of at most 20 in single precision, with approximate roots.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "cutcp",
    algorithm: "potential of point charges on a lattice up to a cutoff, from bins around each cube of points",
    known_for: "coherent and compute bound: bins staged in shared memory, their offsets in constant memory",
    shape: "128 threads per block for 8x8x8 points, one launch per layer",
    papers: &["vtw: cu_cutoff_pot_lat"],
    comparison: "within 1e-3 or 1e-4 of the value, against sums in double precision",
    parameters: &[
        Parameter::new("across", "blocks along x and y", [2, 11, 22], (1, 64)),
        Parameter::new("layers", "layers of blocks", [1, 1, 4], (1, 64)),
        Parameter::new(
            "density",
            "filled places of the bins, in per cent",
            [60, 80, 80],
            (0, 100),
        ),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("cutcp"),
};

/// The workload.
pub struct Cutcp;

/// An atom: position and charge.
type Atom = [f32; 4];

/// Bins in x, y and z, with a border of empty ones.
type Size = [u32; 3];

/// Atoms of both charges in all bins but the border.
fn bins(size: Size, density: u64, random: &mut Random) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for index in 0..size.iter().product::<u32>() {
        let bin = [
            index % size[0],
            index / size[0] % size[1],
            index / (size[0] * size[1]),
        ];
        let border = (0..3).any(|k| bin[k] == 0 || bin[k] == size[k] - 1);
        for _ in 0..DEPTH {
            if border || random.below(100) >= density {
                atoms.push(EMPTY);
                continue;
            }
            let [x, y, z] = bin.map(|b| {
                // In a cell of the lattice, away from its corners.
                let cell = random.below(u64::from(SIDE)) as f64 * f64::from(SPACING);
                let within = random.float(NEAREST, f64::from(SPACING) - NEAREST);
                (f64::from(b - 1) * BIN + cell + within) as f32
            });
            let charge = random.float(0.2, 1.0) * [1.0, -1.0][random.below(2) as usize];
            atoms.push([x, y, z, charge as f32]);
        }
    }
    atoms
}

/// Offsets of the bins within reach of any point of a cube.
fn neighbours() -> Vec<[u32; 4]> {
    let around = [u32::MAX, 0, 1];
    let of = |z: u32| {
        around
            .into_iter()
            .flat_map(move |y| around.map(|x| [x, y, z, 0]))
    };
    around.into_iter().flat_map(of).collect()
}

/// The potential at each point, from every atom within the cutoff.
fn reference(atoms: &[Atom], size: Size) -> Vec<f32> {
    let points = size.map(|n| (n - 2) * SIDE);
    let mut potential = vec![0.0f64; points.iter().map(|n| *n as usize).product()];
    let spacing = f64::from(SPACING);
    for atom in atoms.iter().filter(|a| a[3] != 0.0) {
        let at = atom.map(f64::from);
        let reach = |k: usize| {
            let low = ((at[k] - CUTOFF) / spacing).floor().max(0.0) as u32;
            let high = ((at[k] + CUTOFF) / spacing).ceil() as u32;
            low..=high.min(points[k] - 1)
        };
        for z in reach(2) {
            for y in reach(1) {
                for x in reach(0) {
                    let place = [x, y, z].map(|n| f64::from(n) * spacing);
                    let r2: f64 = (0..3).map(|k| (at[k] - place[k]).powi(2)).sum();
                    if r2 < CUTOFF * CUTOFF {
                        let fade = (1.0 - r2 / (CUTOFF * CUTOFF)).powi(2);
                        let index = (z * points[1] + y) * points[0] + x;
                        potential[index as usize] += at[3] / r2.sqrt() * fade;
                    }
                }
            }
        }
    }
    potential.into_iter().map(|x| x as f32).collect()
}

impl Workload for Cutcp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [across, layers] = ["across", "layers"].map(|name| parameters.get_u32(name));
        let size = [across + 2, across + 2, layers + 2];
        let density = parameters.get("density");
        let atoms = bins(size, density, &mut Random::new(seed, "cutcp"));
        let neighbours = neighbours();
        let module = session.load(&INFO.kernel)?;
        let offsets: Vec<u8> = neighbours
            .iter()
            .flatten()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        session.set_symbol(&module, "neighbours", &offsets)?;
        let bins = session.upload_f32("bins", atoms.as_flattened())?;
        let points = u64::from(across * SIDE).pow(2) * u64::from(layers * SIDE);
        let potential = session.zeroed("potential", 4 * points)?;
        let shape = Shape {
            grid: [across, across, 1],
            block: [BLOCK, 1, 1],
        };
        for layer in 0..layers {
            let args = [
                Arg::Pointer(bins),
                Arg::Pointer(potential),
                Arg::u32(neighbours.len() as u32),
                Arg::u32(size[0]),
                Arg::u32(size[1]),
                Arg::u32(layer),
                float(SPACING),
                float((CUTOFF * CUTOFF) as f32),
            ];
            session.launch(&module, "cu_cutoff_pot_lat", shape, &args)?;
        }
        let expected = reference(&atoms, size);
        let result = check_f32(session, "potential", potential, &expected, &TOLERANCE)?;
        Ok(Outcome::of([result]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn potential_fades_to_the_cutoff() {
        let mut atoms = vec![EMPTY; 27 * DEPTH];
        atoms[13 * DEPTH] = [0.5, 0.5, 1.5, 2.0];
        let potential = reference(&atoms, [3, 3, 3]);
        let at = |x: usize, y: usize, z: usize| potential[(z * 8 + y) * 8 + x];
        // One away: fifteen sixteenths, squared.
        assert!((at(1, 1, 1) - 2.0 * 0.9375f32.powi(2)).abs() < 1e-6);
        assert!(at(7, 7, 7) == 0.0 && at(1, 1, 7) > 0.0);
    }

    #[test]
    fn bins_repeat_and_hold_their_atoms() {
        let size = [4, 4, 3];
        let make = |seed| bins(size, 50, &mut Random::new(seed, "cutcp"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        for (index, atom) in make(1).iter().enumerate().filter(|(_, a)| a[3] != 0.0) {
            let bin = (index / DEPTH) as u32;
            assert_eq!((f64::from(atom[0]) / BIN) as u32 + 1, bin % 4);
            assert_eq!((f64::from(atom[2]) / BIN) as u32 + 1, bin / 16);
        }
        assert_eq!(neighbours().len(), 27);
    }
}
