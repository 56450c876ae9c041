//! Ray tracing by persistent threads.
//!
//! Stands for NVRT, the ray caster that the thread-block-compaction paper runs on the "Conference"
//! scene: a bounding volume hierarchy over triangles, loops over inner nodes and leaves in turn
//! ("while-while"), 32x6 blocks that stay and fetch work. Here the scene is a generated conference
//! room, and the rays are what such a program traces: one from the camera through every pixel,
//! then one scattered from each hit, which share little with their neighbours, and one from each
//! hit to the lamp. Such a shadow ray ends at the first triangle in its way, as the original's
//! rays do where any hit will do. That `break` out of the loop over a leaf's triangles is what
//! likely-convergence points are for: without it the sides of the tests in the loop must meet
//! before its end, with it only behind.
//!
//! What the paper needs it for is kept to the letter: one lane of each warp takes the next range of
//! rays from a global counter and leaves it in shared memory, where the others read it with no
//! barrier. A test checks that the compiled kernel reconverges in between. Where a machine lets
//! lanes run ahead of their warp (dynamic warp formation), they read an obsolete index and rays are
//! left out; every ray's distance and triangle is compared, so that shows.
//!
//! The grid does not grow with the work: `small` has 90 blocks, three (the paper's number, which
//! the kernel's launch bounds ask for) for each of the 30 SMs of fx5800.
//!
//! First measurement (`small`, pdom): SIMD efficiency 46.5% on fx5800 and gtx480, 26.1 million
//! thread instructions, no barriers. Since then with shadow rays: 44.3%, 29.3 million.

mod bvh;
mod scene;

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use bvh::Bvh;
use scene::{ROOM, Triangle, Vector, add, cross, dot, sub};

/// The number of a ray's triangle when it hits none.
const MISS: u32 = u32::MAX;

static INFO: Info = Info {
    name: "raytrace-persistent",
    algorithm: "closest hits of rays and blocked shadow rays, through a bounding volume hierarchy over triangles; a lane a warp fetches work",
    known_for: "divergent traversal; relies on the implicit synchronisation of a static warp",
    shape: "32x6 threads per block, as many blocks as stay resident, rays from a global counter",
    papers: &["tbc: NVRT (divergent; wrong under dwf)", "vws: figure 19"],
    comparison: "exact: distance and triangle of every ray",
    parameters: &[
        Parameter::new("width", "pixels in a row", [16, 192, 512], (8, 4096)).multiple_of(8),
        Parameter::new("height", "rows of pixels", [8, 108, 384], (4, 4096)).multiple_of(4),
        Parameter::new("chairs", "chairs in the scene", [2, 8, 24], (1, 28)),
        Parameter::new("blocks", "blocks", [1, 90, 120], (1, 65_535)),
    ],
    sets: &[Set::Divergent],
    exceptions: &[],
    kernel: kernel!("raytrace-persistent"),
};

/// The same for warps of 4 threads, which on narrow warps the other is wrong for by construction.
static INFO_4: Info = Info {
    name: "raytrace-persistent-4",
    known_for: "divergent traversal; relies on the implicit synchronisation of 4 threads of a static warp",
    papers: &["vws: NVRT (figure 19)"],
    sets: &[],
    kernel: kernel!("raytrace-persistent-4"),
    ..INFO
};

/// The workload.
pub struct RaytracePersistent;

/// Compiled for warps of 4 threads.
pub struct RaytracePersistent4;

/// A ray: hits count from `shortest` to `farthest` times its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ray {
    origin: Vector,
    direction: Vector,
    shortest: f32,
    farthest: f32,
    /// Any hit will do.
    shadow: bool,
}

impl Ray {
    fn new(origin: Vector, direction: Vector) -> Ray {
        Ray {
            origin,
            // The kernel divides by every component.
            direction: direction.map(|x| if x.abs() < 1e-6 { 1e-6 } else { x }),
            shortest: 1e-3,
            farthest: 100.0,
            shadow: false,
        }
    }

    /// A ray that asks whether there is anything between two places.
    fn shadow(from: Vector, to: Vector) -> Ray {
        Ray {
            farthest: 0.999,
            shadow: true,
            ..Ray::new(from, sub(to, from))
        }
    }

    fn words(&self) -> [f32; 8] {
        let (o, d) = (self.origin, self.direction);
        [
            o[0],
            o[1],
            o[2],
            self.shortest,
            d[0],
            d[1],
            d[2],
            if self.shadow {
                -self.farthest
            } else {
                self.farthest
            },
        ]
    }
}

/// Where the lamp hangs: under the ceiling, above the table.
const LAMP: Vector = [0.5 * ROOM[0], 0.95 * ROOM[1], 0.5 * ROOM[2]];

/// Rays from a corner of the room through every pixel, in tiles of 8x4: a warp takes a tile.
fn camera(width: u32, height: u32) -> Vec<Ray> {
    let eye = [1.0, 2.2, 7.8];
    let forward = sub([7.0, 0.7, 4.0], eye);
    let right = cross(forward, [0.0, 1.0, 0.0]);
    let up = cross(right, forward).map(|x| x * 0.14);
    let mut rays = Vec::with_capacity(width as usize * height as usize);
    for tile in 0..(width / 8) * (height / 4) {
        let (left, top) = (tile % (width / 8) * 8, tile / (width / 8) * 4);
        for pixel in 0..32 {
            let (x, y) = (left + pixel % 8, top + pixel / 8);
            let across = (2 * x + 1) as f32 / width as f32 - 1.0;
            let down = (2 * y + 1) as f32 / height as f32 - 1.0;
            let direction = std::array::from_fn(|i| forward[i] + across * right[i] - down * up[i]);
            rays.push(Ray::new(eye, direction));
        }
    }
    rays
}

/// The closest hit by trying every triangle: its distance and number. The arithmetic of a single
/// triangle is the kernel's, operation by operation, so that results agree to the bit.
fn closest(ray: &Ray, scene: &[Triangle]) -> (f32, u32) {
    let mut best = (ray.farthest, MISS);
    for (number, triangle) in scene.iter().enumerate() {
        let [e, f] = triangle.edges;
        let p = cross(ray.direction, f);
        let scale = 1.0 / dot(e, p);
        let s = sub(ray.origin, triangle.corner);
        let u = dot(s, p) * scale;
        if !(0.0..=1.0).contains(&u) {
            continue;
        }
        let q = cross(s, e);
        let v = dot(ray.direction, q) * scale;
        let t = dot(f, q) * scale;
        let inside = v >= 0.0 && u + v <= 1.0 && t >= ray.shortest;
        if inside && (t < best.0 || (t == best.0 && (number as u32) < best.1)) {
            best = (t, number as u32);
        }
    }
    best
}

/// Where a ray hits.
fn place(ray: &Ray, hit: (f32, u32)) -> Vector {
    std::array::from_fn(|i| ray.origin[i] + hit.0 * ray.direction[i])
}

/// What the kernel has to write for a ray with this closest hit: distance and triangle, or
/// whether a shadow ray is stopped.
fn expected(ray: &Ray, (t, number): (f32, u32)) -> [u32; 2] {
    match ray.shadow {
        true => [ray.farthest.to_bits(), u32::from(number != MISS)],
        false => [t.to_bits(), number],
    }
}

/// The ray that leaves a hit in a random direction, as light scattered by a matt surface does.
fn scattered(ray: &Ray, hit: (f32, u32), scene: &[Triangle], random: &mut Random) -> Ray {
    let centre = ROOM.map(|x| x / 2.0);
    let Some(triangle) = scene.get(hit.1 as usize) else {
        return Ray::new(centre, ray.direction);
    };
    let at = place(ray, hit);
    let unit = |v: Vector| {
        let length = dot(v, v).sqrt().max(1e-12);
        v.map(|x| x / length)
    };
    let normal = unit(cross(triangle.edges[0], triangle.edges[1]));
    let side = if dot(normal, ray.direction) > 0.0 {
        -1.0
    } else {
        1.0
    };
    let spread = loop {
        let v: Vector = std::array::from_fn(|_| random.float(-1.0, 1.0) as f32);
        if (0.01..1.0).contains(&dot(v, v)) {
            break unit(v);
        }
    };
    let direction = add(normal.map(|x| x * side), spread);
    Ray::new(
        at,
        if dot(direction, direction) < 1e-6 {
            spread
        } else {
            direction
        },
    )
}

impl Workload for RaytracePersistent {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        trace(&INFO, parameters, seed, session)
    }
}

impl Workload for RaytracePersistent4 {
    fn info(&self) -> &'static Info {
        &INFO_4
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        trace(&INFO_4, parameters, seed, session)
    }
}

/// Runs one of the kernels and compares what it found.
fn trace(
    info: &Info,
    parameters: &Parameters,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Outcome, DeviceError> {
    let mut random = Random::new(seed, "raytrace-persistent");
    let scene = scene::conference(parameters.get_u32("chairs"), &mut random);
    let bvh = Bvh::new(&scene);
    let mut rays = camera(parameters.get_u32("width"), parameters.get_u32("height"));
    let primary: Vec<(f32, u32)> = rays.iter().map(|r| closest(r, &scene)).collect();
    let second: Vec<Ray> = rays
        .iter()
        .zip(&primary)
        .map(|(ray, hit)| scattered(ray, *hit, &scene, &mut random))
        .collect();
    let shadows = rays
        .iter()
        .zip(&primary)
        .map(|(ray, hit)| Ray::shadow(place(ray, *hit), LAMP));
    let shadows: Vec<Ray> = shadows.collect();
    rays.extend(second);
    rays.extend(shadows);
    let mut hits = primary;
    hits.extend(rays[hits.len()..].iter().map(|r| closest(r, &scene)));
    let expected = rays.iter().zip(hits).flat_map(|(r, hit)| expected(r, hit));
    let expected: Vec<u32> = expected.collect();

    let module = session.load(&info.kernel)?;
    let nodes = session.upload_f32("nodes", bvh.nodes.as_flattened())?;
    let triangles = session.upload_f32("triangles", bvh.triangles.as_flattened())?;
    let words: Vec<f32> = rays.iter().flat_map(Ray::words).collect();
    let input = session.upload_f32("rays", &words)?;
    let hits = session.zeroed("hits", 8 * rays.len() as u64)?;
    let pool = session.zeroed("pool", 4)?;
    let shape = Shape {
        grid: [parameters.get_u32("blocks"), 1, 1],
        block: [32, 6, 1],
    };
    let arguments = [
        Arg::Pointer(nodes),
        Arg::Pointer(triangles),
        Arg::Pointer(input),
        Arg::Pointer(hits),
        Arg::Pointer(pool),
        Arg::u32(rays.len() as u32),
    ];
    session.launch(&module, "trace", shape, &arguments)?;
    let got = session.device.read(hits, 8 * rays.len() as u64)?;
    Ok(Outcome::of([compare(
        "hits",
        Element::U32,
        &u32_bytes(&expected),
        &got,
        &Tolerance::EXACT,
    )]))
}

#[cfg(test)]
mod tests;
