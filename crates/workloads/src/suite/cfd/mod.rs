//! The Euler equations on an unstructured mesh.
//!
//! Stands for Rodinia's cfd: 192 threads per block, a thread per element, four kernels by the names of the
//! virtual-warps paper: an initial one, one that finds the step, and for each of three stages the flux and the new state.
//! The mesh is one of real tetrahedra around a plate, numbered with little order, so that neighbours' states are gathered. The paper's
//! residencies: 8 blocks per SM, 3 of the flux.

mod mesh;
mod solver;

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::element::f32_bytes;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use mesh::Mesh;
use solver::{STAGES, solve, undisturbed};

/// Threads per block.
const BLOCK: u32 = 192;

/// Single against double precision; the state's values are of the order of one.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 2e-4,
    relative: 2e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "cfd",
    algorithm: "Euler equations on a mesh of tetrahedra: step, then flux over four neighbours and new state per stage",
    known_for: "gathers of the neighbours' states, bound by memory; little divergence, at walls",
    shape: "192 threads per block, one thread per element, four kernels",
    papers: &[
        "vtw: cfd (set 2; 8 blocks per SM, 3 of cu_compute_flux)",
        "baws: cfd (others)",
    ],
    comparison: "within 2e-4, absolute or of the value, against a solver in double precision",
    parameters: &[
        Parameter::new("x", "cubes of six elements along x", [6, 33, 64], (4, 128)),
        Parameter::new("y", "along y", [6, 24, 48], (4, 128)),
        Parameter::new("z", "along z", [4, 20, 24], (4, 128)),
        Parameter::new("steps", "steps of three stages", [1, 1, 4], (1, 1000)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("cfd"),
};

/// The workload.
pub struct Cfd;

impl Workload for Cfd {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [x, y, z, steps] = ["x", "y", "z", "steps"].map(|name| parameters.get_u32(name));
        let mesh = Mesh::new([x, y, z], &mut Random::new(seed, "cfd"));
        let count = mesh.count as u32;
        let module = session.load(&INFO.kernel)?;
        let flow: Vec<f32> = undisturbed().iter().map(|v| *v as f32).collect();
        session.set_symbol(&module, "undisturbed", &f32_bytes(&flow))?;
        let neighbours = session.upload_u32("neighbours", &mesh.neighbours)?;
        let normals = session.upload_f32("normals", &mesh.normals)?;
        let volumes = session.upload_f32("volumes", &mesh.volumes)?;
        let bytes = 20 * u64::from(count);
        let variables = session.zeroed("variables", bytes)?;
        let before = session.zeroed("variables before", bytes)?;
        let fluxes = session.zeroed("fluxes", bytes)?;
        let factors = session.zeroed("step factors", bytes / 5)?;

        let shape = Shape::cover(count, BLOCK);
        let n = Arg::u32(count);
        let args = arguments(&[variables], std::slice::from_ref(&n));
        session.launch(&module, "cu_initialize_vars", shape, &args)?;
        for _ in 0..steps {
            session.device.copy(variables, before, bytes)?;
            let args = arguments(&[variables, volumes, factors], std::slice::from_ref(&n));
            session.launch(&module, "cu_comp_step_fact", shape, &args)?;
            for stage in 0..STAGES {
                let args = arguments(
                    &[neighbours, normals, variables, fluxes],
                    std::slice::from_ref(&n),
                );
                session.launch(&module, "cu_compute_flux", shape, &args)?;
                let share = float(1.0 / (STAGES - stage) as f32);
                let pointers = [before, variables, factors, fluxes];
                let args = arguments(&pointers, &[share, n.clone()]);
                session.launch(&module, "cu_time_step", shape, &args)?;
            }
        }
        let expected = solve(&mesh, steps);
        let state = check_f32(session, "variables", variables, &expected, &TOLERANCE)?;
        Ok(Outcome::of([state]))
    }
}
