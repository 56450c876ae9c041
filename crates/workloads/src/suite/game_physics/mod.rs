//! One frame of rigid bodies in a game.
//!
//! Stands for GamePhysics of the variable-warp-sizing paper, of which nothing but its name and its
//! behaviour is public: divergent, with structure (gangs split where bodies differ and there is much that all
//! do). Bodies lie in heaps, so that some have a dozen neighbours and some none; a neighbour's shape
//! decides which of six routines a pair needs. Kernel and reference do the same arithmetic in the same
//! order.

mod shapes;
mod world;

use super::host::{arguments, check_f32, check_u32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape as Launch};
use crate::input::random::Random;
use world::{MOST, STEP, World};

/// Threads per block.
const BLOCK: u32 = 64;

static INFO: Info = Info {
    name: "game-physics",
    algorithm: "a frame of rigid bodies: neighbours by a grid, contacts by a routine per pair of shapes, iterative solver",
    known_for: "divergent: six routines of very different length, zero to a dozen neighbours, gathers of their velocities",
    shape: "64 threads per block, one thread per body, four kernels and one launch per step of the solver",
    papers: &["vws: GamePhysics (divergent)"],
    comparison: "exact: every body's contacts, place and velocity",
    parameters: &[
        Parameter::new("bodies", "bodies", [300, 30_720, 100_000], (2, 1 << 20)),
        Parameter::new("steps", "steps of the solver", [2, 3, 10], (1, 100)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("game-physics"),
};

/// The workload.
pub struct GamePhysics;

impl Workload for GamePhysics {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let steps = parameters.get_u32("steps");
        let mut random = Random::new(seed, "game-physics");
        let world = World::new(parameters.get_u32("bodies"), &mut random);
        let count = world.bodies.len() as u32;
        let module = session.load(&INFO.kernel)?;
        let words: Vec<f32> = world.bodies.iter().flat_map(|b| b.words()).collect();
        let bodies = session.upload_f32("bodies", &words)?;
        let cells = session.upload_u32("cells", &world.cells)?;
        let mut from = session.upload_f32("velocities", world.velocities.as_flattened())?;
        let mut to = session.zeroed("new velocities", 16 * u64::from(count))?;
        let room = u64::from(world.side).pow(3);
        let begin = session.zeroed("begin", 4 * room)?;
        let end = session.zeroed("end", 4 * room)?;
        let lists = u64::from(MOST) * u64::from(count);
        let near = session.zeroed("near", 4 * lists)?;
        let neighbours = session.zeroed("neighbours", 4 * u64::from(count))?;
        let contacts = session.zeroed("contacts", 16 * lists)?;
        let partners = session.zeroed("partners", 4 * lists)?;
        let touching = session.zeroed("touching", 4 * u64::from(count))?;
        let places = session.zeroed("places", 32 * u64::from(count))?;

        let shape = Launch::cover(count, BLOCK);
        let n = Arg::u32(count);
        let mut launch = |kernel: &str, pointers: &[u64], scalars: &[Arg]| {
            session.launch(&module, kernel, shape, &arguments(pointers, scalars))
        };
        launch(
            "cell_bounds",
            &[cells, begin, end],
            std::slice::from_ref(&n),
        )?;
        let scalars = [n.clone(), Arg::u32(world.side)];
        let pointers = [bodies, cells, begin, end, near, neighbours];
        launch("broad_phase", &pointers, &scalars)?;
        let pointers = [bodies, near, neighbours, contacts, partners, touching];
        launch("narrow_phase", &pointers, std::slice::from_ref(&n))?;
        for _ in 0..steps {
            let pointers = [contacts, partners, touching, from, to];
            launch("solve_contacts", &pointers, std::slice::from_ref(&n))?;
            (from, to) = (to, from);
        }
        launch("move_bodies", &[bodies, from, places], &[float(STEP), n])?;

        let expected = world.frame(steps);
        Ok(Outcome::of([
            check_u32(session, "touching", touching, &expected.touching)?,
            check_f32(
                session,
                "places",
                places,
                &expected.places,
                &Tolerance::EXACT,
            )?,
        ]))
    }
}
