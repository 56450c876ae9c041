//! The same paths on the CPU, without the grid: every ray tries every sphere.

use super::scene::{Kind, NOISE, Scene};
use crate::suite::vector::{Vector, vector};

const NEAR: f32 = 1e-3;

/// The kernel's random numbers.
struct Dice(u32);

impl Dice {
    fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((self.0 >> ((self.0 >> 28) + 4)) ^ self.0).wrapping_mul(277_803_737);
        ((word >> 22 ^ word) >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    fn in_ball(&mut self) -> Vector {
        let mut p = Vector::default();
        for _ in 0..16 {
            let mut one = || 2.0 * self.roll() - 1.0;
            p = vector(one(), one(), one());
            if p.dot(p) < 1.0 {
                break;
            }
        }
        p
    }

    fn scattered(&mut self, normal: Vector) -> Vector {
        (normal + self.in_ball() * 0.98).unit()
    }
}

fn mirrored(d: Vector, normal: Vector) -> Vector {
    d - normal * (2.0 * d.dot(normal))
}

fn veins(noise: &[f32], at: Vector) -> f32 {
    let (mut sum, mut weight, mut scale) = (0.0, 0.5, 4.0);
    let mut octaves = 3;
    let mut octave = 0;
    while octave < octaves {
        let [x, y, z] = at.words().map(|c| (c * scale).floor() as i32 as u32);
        let place =
            (x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791))
                .wrapping_add(octave * 977);
        sum += weight * noise[place as usize % NOISE];
        weight *= 0.5;
        scale *= 2.0;
        if octave == 2 && sum < 0.4 {
            octaves = 8;
        }
        octave += 1;
    }
    0.3 + 0.7 * sum
}

/// What a ray meets first: its surface's number, the place, the normal against the ray, and whether
/// the ray was within a sphere.
fn meet(scene: &Scene, o: Vector, d: Vector) -> (usize, Vector, Vector, bool) {
    let (mut nearest, mut hit) = (1.0e20, None);
    for (i, s) in scene.spheres.iter().enumerate() {
        let to = s.centre - o;
        let middle = to.dot(d);
        let inside = middle * middle - to.dot(to) + s.radius * s.radius;
        if inside >= 0.0 {
            let half = inside.sqrt();
            let enter = middle - half;
            let t = if enter < NEAR { middle + half } else { enter };
            if t >= NEAR && t < nearest {
                (nearest, hit) = (t, Some(i));
            }
        }
    }
    let room = scene.side as f32;
    let walls = [(o.x, d.x), (o.y, d.y), (o.z, d.z)].map(|(from, along)| {
        let along = if along.abs() < 1e-6 { 1e-6 } else { along };
        let up = along > 0.0;
        ((if up { room } else { 0.0 } - from) * (1.0 / along), up)
    });
    let leave = walls[0].0.min(walls[1].0).min(walls[2].0);
    let (surface, at, normal, within) = match hit {
        Some(i) if nearest <= leave => {
            let at = o + d * nearest;
            let s = scene.spheres[i];
            let normal = (at - s.centre) * (1.0 / s.radius);
            let within = normal.dot(d) > 0.0;
            (i, at, if within { normal * -1.0 } else { normal }, within)
        }
        _ => {
            let axis = walls.iter().position(|w| w.0 == leave).unwrap_or(2);
            let up = walls[axis].1;
            let towards = if up { -1.0 } else { 1.0 };
            let mut normal = [0.0; 3];
            normal[axis] = towards;
            let wall = scene.spheres.len() + 2 * axis + usize::from(up);
            let at = o + d * leave.max(0.0);
            (wall, at, vector(normal[0], normal[1], normal[2]), false)
        }
    };
    let keep = |c: f32| c.max(0.0).min(room);
    (
        surface,
        vector(keep(at.x), keep(at.y), keep(at.z)),
        normal,
        within,
    )
}

/// The light that a path brings, and its events.
fn path(
    scene: &Scene,
    mut o: Vector,
    mut d: Vector,
    bounces: u32,
    dice: &mut Dice,
) -> (Vector, u32) {
    let mut weight = vector(1.0, 1.0, 1.0);
    let times = |a: Vector, b: Vector| vector(a.x * b.x, a.y * b.y, a.z * b.z);
    let dark = Vector::default();
    for event in 1..=bounces {
        let (number, at, normal, within) = meet(scene, o, d);
        o = at;
        let surface = scene.surfaces[number];
        let mut dim = 1.0;
        match surface.kind {
            Kind::Lamp => return (times(weight, surface.colour), event),
            Kind::Matt => d = dice.scattered(normal),
            Kind::Veined => {
                dim = veins(&scene.noise, o);
                d = dice.scattered(normal);
            }
            Kind::Metal => {
                d = (mirrored(d, normal) + dice.in_ball() * surface.finish).unit();
                if d.dot(normal) <= 0.0 {
                    return (dark, event);
                }
            }
            Kind::Glass => {
                let ratio = if within {
                    surface.finish
                } else {
                    1.0 / surface.finish
                };
                let cosine = (-d.dot(normal)).min(1.0);
                let sine2 = 1.0 - cosine * cosine;
                let beyond = 1.0 - ratio * ratio * sine2;
                let least = (1.0 - ratio) / (1.0 + ratio);
                let least = least * least;
                let one = 1.0 - cosine;
                let two = one * one;
                let reflected = least + (1.0 - least) * (two * two * one);
                d = if beyond < 0.0 || dice.roll() < reflected {
                    mirrored(d, normal).unit()
                } else {
                    ((d + normal * cosine) * ratio - normal * beyond.sqrt()).unit()
                };
            }
            Kind::Lacquer => {
                d = if dice.roll() < surface.finish {
                    mirrored(d, normal).unit()
                } else {
                    dice.scattered(normal)
                };
            }
        }
        weight = times(weight, surface.colour * dim);
        let brightest = weight.x.max(weight.y).max(weight.z);
        if brightest < 0.5 {
            let chance = 2.0 * brightest;
            if dice.roll() >= chance {
                return (dark, event);
            }
            weight = weight * (1.0 / chance);
        }
    }
    (dark, bounces)
}

/// Light and events of every pixel.
pub fn picture(
    scene: &Scene,
    [width, height]: [u32; 2],
    samples: u32,
    bounces: u32,
    start: u32,
) -> Vec<f32> {
    let room = scene.side as f32;
    let eye = vector(0.5 * room, 0.5 * room, 0.25);
    let mut picture = Vec::with_capacity(4 * (width * height) as usize);
    for pixel in 0..width * height {
        let mut dice = Dice(pixel.wrapping_add(start).wrapping_mul(2_654_435_761));
        let (mut sum, mut events) = (Vector::default(), 0);
        for _ in 0..samples {
            let mut across = |at: u32, of: u32| (at as f32 + dice.roll()) / of as f32 - 0.5;
            let x = across(pixel % width, width);
            let y = across(pixel / width, height);
            let (light, met) = path(scene, eye, vector(x, y, 0.6).unit(), bounces, &mut dice);
            sum = sum + light;
            events += met;
        }
        let [r, g, b] = (sum * (1.0 / samples as f32)).words();
        picture.extend([r, g, b, events as f32]);
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::random::Random;

    #[test]
    fn rays_meet_walls_and_spheres() {
        let mut scene = Scene::new(4, 0, &mut Random::new(1, "lighting"));
        let (at, ahead) = (vector(2.0, 2.0, 1.0), vector(0.0, 0.0, 1.0));
        let (wall, there, normal, _) = meet(&scene, at, ahead);
        assert_eq!((wall, there.z, normal.z), (5, 4.0, -1.0));
        scene.spheres.push(super::super::scene::Sphere {
            centre: vector(2.0, 2.0, 3.0),
            radius: 0.5,
        });
        let (sphere, there, normal, within) = meet(&scene, at, ahead);
        assert_eq!((sphere, there.z, normal.z, within), (0, 2.5, -1.0, false));
        // From within, the far side.
        let (_, there, normal, within) = meet(&scene, vector(2.0, 2.0, 3.0), ahead);
        assert_eq!((there.z, normal.z, within), (3.5, -1.0, true));
    }

    #[test]
    fn paths_end_in_lamps_or_the_dark() {
        let scene = Scene::new(4, 30, &mut Random::new(1, "lighting"));
        let picture = picture(&scene, [16, 16], 1, 8, 7);
        let lit = picture.chunks(4).filter(|p| p[0] > 0.0).count();
        assert!((26..230).contains(&lit), "{lit} of 256");
        assert!(picture.chunks(4).all(|p| (1.0..=8.0).contains(&p[3])));
        let mut kinds = [false; 6];
        for s in &scene.surfaces {
            kinds[s.kind as usize] = true;
        }
        assert_eq!(kinds, [true; 6]);
    }
}
