//! Spheres above a floor, with reflections.
//!
//! Stands for RAY: 16x8 blocks, a thread per pixel, recursion written as a loop, spheres in constant
//! memory that every lane tries in the same order. Neighbouring pixels mostly see the same things
//! and reflect as often, so it is coherent in the thread-block-compaction paper's sense; edges,
//! shadows and mirrors are what divergence there is.
//!
//! First measurement (`small`, pdom): SIMD efficiency 93.4% on fx5800 and gtx480, 9.5 million thread
//! instructions, no barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, f32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

/// What the rays meet agrees to the bit, since kernel and reference do the same arithmetic in the
/// same order; colours are put together in another order.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-5,
    relative: 1e-5,
    ulp: 0,
};

static INFO: Info = Info {
    name: "raytrace",
    algorithm: "picture of spheres and a floor with shadows and reflections, a loop a reflection",
    known_for: "little divergence: neighbouring pixels see the same things; compute bound",
    shape: "16x8 threads per block, one thread per pixel",
    papers: &[
        "tbc: RAY (coherent)",
        "vtw: RAY",
        "vws: Raytracing (divergent)",
    ],
    comparison: "within 1e-5: the colour of every pixel",
    parameters: &[
        Parameter::new("width", "pixels in a row", [32, 240, 512], (1, 8192)),
        Parameter::new("height", "rows of pixels", [16, 224, 512], (1, 8192)),
        Parameter::new("spheres", "spheres", [3, 6, 12], (0, 16)),
        Parameter::new("bounces", "reflections at most", [2, 4, 6], (0, 16)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("raytrace"),
};

/// The workload.
pub struct Raytrace;

type Vector = [f32; 3];

const EYE: Vector = [0.0, 2.0, -6.0];
const LIGHT: Vector = [-0.48, 0.8, -0.36];
const FAR: f32 = 1.0e20;

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The point at `t` along a ray.
fn along(origin: Vector, direction: Vector, t: f32) -> Vector {
    std::array::from_fn(|i| origin[i] + t * direction[i])
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sphere {
    centre: Vector,
    radius: f32,
    mirror: f32,
    colour: Vector,
}

impl Sphere {
    fn words(&self) -> [f32; 10] {
        let (c, k) = (self.centre, self.colour);
        let r = self.radius;
        [
            c[0],
            c[1],
            c[2],
            r * r,
            1.0 / r,
            self.mirror,
            k[0],
            k[1],
            k[2],
            0.0,
        ]
    }

    /// Where a ray first meets it.
    fn meet(&self, origin: Vector, direction: Vector) -> Option<f32> {
        let to: Vector = std::array::from_fn(|i| self.centre[i] - origin[i]);
        let middle = dot(to, direction);
        let inside = middle * middle - dot(to, to) + self.radius * self.radius;
        let t = middle - inside.max(0.0).sqrt();
        (inside >= 0.0 && t > 0.001).then_some(t)
    }
}

/// Spheres that stand on the floor, in front of the eye.
fn scene(count: u32, random: &mut Random) -> Vec<Sphere> {
    (0..count)
        .map(|i| {
            let radius = random.float(0.4, 1.1) as f32;
            Sphere {
                centre: [
                    random.float(-3.5, 3.5) as f32,
                    radius,
                    random.float(-1.0, 7.0) as f32,
                ],
                radius,
                // Every third is nearly a mirror.
                mirror: if i.is_multiple_of(3) { 0.7 } else { 0.1 },
                colour: std::array::from_fn(|_| random.float(0.2, 1.0) as f32),
            }
        })
        .collect()
}

/// The picture's frame: left, top, a pixel's size, distance from the eye.
fn frame(width: u32, height: u32) -> [f32; 4] {
    let step = 1.6 / width.max(height) as f32;
    let half = |n: u32| 0.5 * (n as f32 - 1.0) * step;
    [-half(width), half(height) - 0.15, step, 1.0]
}

/// The colour a ray sees, recursively, and what is left of its share when it is not followed on.
fn colour(
    spheres: &[Sphere],
    origin: Vector,
    direction: Vector,
    share: f32,
    bounces: u32,
) -> (Vector, f32) {
    let floor = if direction[1] < -0.0001 {
        -origin[1] / direction[1]
    } else {
        FAR
    };
    let mut nearest = (floor, None);
    for sphere in spheres {
        if let Some(t) = sphere.meet(origin, direction)
            && t < nearest.0
        {
            nearest = (t, Some(sphere));
        }
    }
    let (t, hit) = nearest;
    if t >= 100.0 {
        let up = 0.5 + 0.5 * direction[1];
        return ([1.0 - 0.5 * up, 1.0 - 0.3 * up, 1.0], share);
    }
    let at = along(origin, direction, t);
    let (normal, mirror, surface) = match hit {
        Some(s) => {
            let scale = 1.0 / s.radius;
            let normal = std::array::from_fn(|i| (at[i] - s.centre[i]) * scale);
            (normal, s.mirror, s.colour)
        }
        None => {
            let odd = (at[0].floor() as i32 + at[2].floor() as i32) & 1 == 1;
            ([0.0, 1.0, 0.0], 0.2, [if odd { 0.9 } else { 0.2 }; 3])
        }
    };
    let mut light = dot(normal, LIGHT).max(0.0);
    if spheres.iter().any(|s| s.meet(at, LIGHT).is_some()) {
        light = 0.0;
    }
    let own = (1.0 - mirror) * (0.15 + 0.85 * light);
    let left = share * mirror;
    if left < 0.05 || bounces == 0 {
        return (surface.map(|c| own * c), left);
    }
    let twice = 2.0 * dot(direction, normal);
    let onward = std::array::from_fn(|i| direction[i] - twice * normal[i]);
    let (seen, left) = colour(spheres, at, onward, left, bounces - 1);
    (
        std::array::from_fn(|i| own * surface[i] + mirror * seen[i]),
        left,
    )
}

fn reference(spheres: &[Sphere], width: u32, height: u32, bounces: u32) -> Vec<f32> {
    let [left, top, step, depth] = frame(width, height);
    let mut picture = Vec::with_capacity(4 * width as usize * height as usize);
    for y in 0..height {
        for x in 0..width {
            let through = [left + x as f32 * step, top - y as f32 * step, depth];
            let length = dot(through, through).sqrt();
            let ([r, g, b], share) =
                colour(spheres, EYE, through.map(|c| c / length), 1.0, bounces);
            picture.extend([r, g, b, share]);
        }
    }
    picture
}

impl Workload for Raytrace {
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
        let bounces = parameters.get_u32("bounces");
        let mut random = Random::new(seed, "raytrace");
        let spheres = scene(parameters.get_u32("spheres"), &mut random);
        let module = session.load(&INFO.kernel)?;
        let words: Vec<f32> = spheres.iter().flat_map(Sphere::words).collect();
        session.set_symbol(&module, "spheres", &f32_bytes(&words))?;
        let bytes = 16 * u64::from(width) * u64::from(height);
        let picture = session.zeroed("picture", bytes)?;
        let mut view = f32_bytes(&[EYE, LIGHT].concat());
        view.extend(f32_bytes(&frame(width, height)));
        view.extend((spheres.len() as u32).to_le_bytes());
        view.extend(bounces.to_le_bytes());
        let shape = Shape {
            grid: [width.div_ceil(16), height.div_ceil(8), 1],
            block: [16, 8, 1],
        };
        let arguments = [
            Arg::Pointer(picture),
            Arg::u32(width),
            Arg::u32(height),
            Arg::Bytes(view),
        ];
        session.launch(&module, "render", shape, &arguments)?;
        let got = session.device.read(picture, bytes)?;
        Ok(Outcome::of([compare(
            "picture",
            Element::F32,
            &f32_bytes(&reference(&spheres, width, height, bounces)),
            &got,
            &TOLERANCE,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALL: Sphere = Sphere {
        centre: [0.0, 2.0, 0.0],
        radius: 1.0,
        mirror: 0.5,
        colour: [1.0, 0.0, 0.0],
    };

    #[test]
    fn rays_meet_the_front_of_a_sphere() {
        let ahead = [0.0, 0.0, 1.0];
        assert_eq!(BALL.meet([0.0, 2.0, -5.0], ahead), Some(4.0));
        assert_eq!(BALL.meet([0.0, 3.5, -5.0], ahead), None);
        assert_eq!(BALL.meet([0.0, 2.0, 5.0], ahead), None, "it lies behind");
    }

    #[test]
    fn mirrors_show_what_is_behind_and_shadows_are_dark() {
        let ahead = [0.0, 0.0, 1.0];
        let (sky, left) = colour(&[], EYE, ahead, 1.0, 3);
        assert_eq!((sky, left), ([0.75, 0.85, 1.0], 1.0));
        let (seen, left) = colour(&[BALL], EYE, ahead, 1.0, 3);
        assert!(
            seen[2] > 0.4 && seen[0] > seen[2] && left == 0.5,
            "{seen:?}"
        );
        let down = [0.0, -1.0, 0.0];
        // Below the ball on the far side from the light, and well away from it.
        let (dark, _) = colour(&[BALL], [1.2, 0.5, 0.9], down, 1.0, 0);
        let (bright, _) = colour(&[BALL], [1.2, 0.5, -8.1], down, 1.0, 0);
        assert!(dark[0] < bright[0], "{dark:?} {bright:?}");
    }

    #[test]
    fn scenes_repeat() {
        let make = |seed| scene(5, &mut Random::new(seed, "raytrace"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }
}
