//! Light transport by random paths through a room of spheres.
//!
//! Stands for Lighting of the variable-warp-sizing paper, of which nothing but its name and its
//! behaviour is public: divergent, with gangs that split until most narrow warps run alone, and helped
//! by splitting on memory divergence. Paths start in step and part at the first sphere: the
//! cells they walk through, the spheres they try, the material they meet and when they end are all
//! data. Kernel and reference do the same arithmetic in the same order, but the reference knows no grid
//! and tries every sphere.

mod reference;
mod scene;

use super::host::{arguments, check_f32};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use reference::picture;
use scene::Scene;

/// Threads of a block in x and y.
const BLOCK: [u32; 2] = [8, 8];

static INFO: Info = Info {
    name: "lighting",
    algorithm: "Monte-Carlo light transport: random paths through a room of spheres of six materials, by a grid of cells",
    known_for: "divergent in all it does: length of the walk, material met, end of the path; incoherent loads",
    shape: "8x8 threads per block, one thread per pixel",
    papers: &["vws: Lighting (divergent)"],
    comparison: "exact: the light of every pixel and its number of events",
    parameters: &[
        Parameter::new("width", "pixels in a row", [32, 192, 512], (1, 4096)),
        Parameter::new("height", "rows of pixels", [16, 160, 512], (1, 4096)),
        Parameter::new("samples", "paths per pixel", [1, 1, 4], (1, 1024)),
        Parameter::new("bounces", "events of a path at most", [4, 5, 16], (1, 64)),
        Parameter::new(
            "side",
            "cells along each side of the room",
            [6, 8, 16],
            (2, 64),
        ),
        Parameter::new("spheres", "spheres", [60, 160, 1600], (0, 65_536)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("lighting"),
};

/// The workload.
pub struct Lighting;

impl Workload for Lighting {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [width, height, samples, bounces, side, spheres] =
            ["width", "height", "samples", "bounces", "side", "spheres"]
                .map(|name| parameters.get_u32(name));
        let mut random = Random::new(seed, "lighting");
        let scene = Scene::new(side, spheres, &mut random);
        let start = random.next_u32();
        let (first, members) = scene.cells();
        let module = session.load(&INFO.kernel)?;
        let pixels = width as usize * height as usize;
        let pointers = [
            session.upload_f32("spheres", &scene.sphere_words())?,
            session.upload_f32("surfaces", &scene.surface_words())?,
            session.upload_u32("first", &first)?,
            session.upload_u32("members", &members)?,
            session.upload_f32("noise", &scene.noise)?,
            session.zeroed("picture", 16 * pixels as u64)?,
        ];
        let count = scene.spheres.len() as u32;
        let scalars = [count, side, width, height, samples, bounces, start].map(Arg::u32);
        let shape = Shape {
            grid: [width.div_ceil(BLOCK[0]), height.div_ceil(BLOCK[1]), 1],
            block: [BLOCK[0], BLOCK[1], 1],
        };
        let args = arguments(&pointers, &scalars);
        session.launch(&module, "light_paths", shape, &args)?;
        let expected = picture(&scene, [width, height], samples, bounces, start);
        let light = check_f32(session, "light", pointers[5], &expected, &Tolerance::EXACT)?;
        Ok(Outcome::of([light]))
    }
}
