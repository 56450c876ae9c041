//! Coulomb potential on a grid.
//!
//! Stands for CP: 16x8 blocks, several points of a row per thread, atoms in constant memory that all
//! lanes read in step, a reciprocal root a pair. Nothing diverges and hardly anything is loaded:
//! what is measured is issue and arithmetic.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 100% on fx5800 and gtx480, 21.0
//! million thread instructions, no barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// Distance of grid points.
const SPACING: f32 = 0.125;

/// Sums of some hundred terms of at most two in single precision, with approximate roots.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-3,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "coulomb",
    algorithm: "potential of point charges in a plane of a grid, by direct summation",
    known_for: "no divergence, hardly any memory: compute bound",
    shape: "16x8 threads per block, eight points per thread",
    papers: &["tbc: CP (coherent)", "vtw: CP", "origami: CP"],
    comparison: "within 1e-3 or 1e-5 of the value, against sums in double precision",
    parameters: &[
        Parameter::new("width", "points in a row", [128, 1024, 1024], (128, 16_384))
            .multiple_of(128),
        Parameter::new("height", "rows of points", [16, 960, 960], (8, 16_384)).multiple_of(8),
        Parameter::new("atoms", "charges", [10, 16, 512], (1, 512)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("coulomb"),
};

/// The workload.
pub struct Coulomb;

/// Charges anywhere in the plane, at least half a unit above it: position, square of the height,
/// charge.
fn molecule(atoms: u32, width: u32, height: u32, random: &mut Random) -> Vec<[f32; 4]> {
    let extent = |n: u32| f64::from(n) * f64::from(SPACING);
    (0..atoms)
        .map(|i| {
            let above = random.float(0.5, 4.0);
            let charge = random.float(0.2, 1.0) * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            [
                random.float(0.0, extent(width)) as f32,
                random.float(0.0, extent(height)) as f32,
                (above * above) as f32,
                charge as f32,
            ]
        })
        .collect()
}

fn reference(atoms: &[[f32; 4]], width: u32, height: u32) -> Vec<f32> {
    let mut potential = Vec::with_capacity(width as usize * height as usize);
    for row in 0..height {
        for column in 0..width {
            let at = [column, row].map(|n| f64::from(n) * f64::from(SPACING));
            let sum: f64 = atoms
                .iter()
                .map(|atom| {
                    let [x, y, above, charge] = atom.map(f64::from);
                    let (dx, dy) = (at[0] - x, at[1] - y);
                    charge / (dx * dx + dy * dy + above).sqrt()
                })
                .sum();
            potential.push(sum as f32);
        }
    }
    potential
}

impl Workload for Coulomb {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (width, height) = (parameters.get_u32("width"), parameters.get_u32("height"));
        let count = parameters.get_u32("atoms");
        let atoms = molecule(count, width, height, &mut Random::new(seed, "coulomb"));
        let module = session.load(&INFO.kernel)?;
        session.set_symbol(&module, "atoms", &f32_bytes(atoms.as_flattened()))?;
        let bytes = 4 * u64::from(width) * u64::from(height);
        let potential = session.zeroed("potential", bytes)?;
        let shape = Shape {
            grid: [width / 128, height / 8, 1],
            block: [16, 8, 1],
        };
        let arguments = [
            Arg::Pointer(potential),
            Arg::u32(width),
            Arg::u32(count),
            Arg::Scalar("f32", SPACING.to_le_bytes().to_vec()),
        ];
        session.launch(&module, "coulomb", shape, &arguments)?;
        let got = session.device.read(potential, bytes)?;
        Ok(Outcome::of([compare(
            "potential",
            Element::F32,
            &f32_bytes(&reference(&atoms, width, height)),
            &got,
            &TOLERANCE,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn potential_falls_with_the_distance() {
        let p = reference(&[[0.0, 0.0, 4.0, 3.0]], 16, 1);
        assert_eq!(p[0], 1.5);
        assert_eq!(p[12], 3.0 / 2.5, "1.5 away and 2 above");
    }

    #[test]
    fn molecules_repeat_and_have_both_charges() {
        let make = |seed| molecule(20, 128, 8, &mut Random::new(seed, "coulomb"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert_eq!(make(1).iter().filter(|a| a[3] < 0.0).count(), 10);
        assert!(
            make(1)
                .iter()
                .all(|a| a[0] < 16.0 && a[1] < 1.0 && a[2] >= 0.25)
        );
    }
}
