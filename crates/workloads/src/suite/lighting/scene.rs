//! The room: spheres of several materials, walls, and the cells they lie in.

use crate::input::random::Random;
use crate::suite::vector::{Vector, vector};

/// Values of noise for veined surfaces, as in the kernel.
pub const NOISE: usize = 4096;
/// Spheres are listed in every cell within this distance, so that rounding on the way through the cells
/// misses none.
const MARGIN: f32 = 0.01;

/// What a surface is made of; the kernel has the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Lamp,
    Matt,
    Veined,
    Metal,
    Glass,
    Lacquer,
}

/// How a surface treats light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    pub kind: Kind,
    pub colour: Vector,
    /// Roughness of metal, refractive index of glass, mirrored share of lacquer.
    pub finish: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    pub centre: Vector,
    pub radius: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub side: u32,
    pub spheres: Vec<Sphere>,
    /// Of the spheres, then of the walls at low and high x, y and z.
    pub surfaces: Vec<Surface>,
    pub noise: Vec<f32>,
}

impl Scene {
    /// A room of `side` cells along each axis with spheres anywhere but before the eye.
    pub fn new(side: u32, count: u32, random: &mut Random) -> Scene {
        let room = f64::from(side);
        let eye = [0.5 * room, 0.5 * room, 0.25];
        let (mut spheres, mut surfaces) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let radius = random.float(0.1, 0.45);
            let centre: [f64; 3] = [0, 1, 2].map(|_| random.float(radius, room - radius));
            let surface = random_surface(random);
            let away = centre.iter().zip(eye).map(|(c, e)| (c - e).powi(2));
            if away.sum::<f64>().sqrt() < radius + 0.3 {
                continue;
            }
            spheres.push(Sphere {
                centre: vector(centre[0] as f32, centre[1] as f32, centre[2] as f32),
                radius: radius as f32,
            });
            surfaces.push(surface);
        }
        let wall = |kind, finish, r, g, b| Surface {
            kind,
            colour: vector(r, g, b),
            finish,
        };
        surfaces.extend([
            wall(Kind::Matt, 0.0, 0.75, 0.25, 0.25),
            wall(Kind::Matt, 0.0, 0.25, 0.35, 0.75),
            wall(Kind::Lamp, 0.0, 1.6, 1.5, 1.3),
            wall(Kind::Veined, 0.0, 0.8, 0.8, 0.7),
            wall(Kind::Lacquer, 0.3, 0.7, 0.7, 0.7),
            wall(Kind::Metal, 0.1, 0.8, 0.8, 0.8),
        ]);
        let noise = (0..NOISE).map(|_| random.unit() as f32).collect();
        Scene {
            side,
            spheres,
            surfaces,
            noise,
        }
    }

    /// Where each cell's list of spheres begins, and the lists.
    pub fn cells(&self) -> (Vec<u32>, Vec<u32>) {
        let side = self.side as usize;
        let mut lists = vec![Vec::new(); side * side * side];
        for (i, sphere) in self.spheres.iter().enumerate() {
            let reach = sphere.radius + MARGIN;
            let [x, y, z] = sphere.centre.words().map(|c| {
                let cell = |at: f32| (at.max(0.0) as usize).min(side - 1);
                cell(c - reach)..=cell(c + reach)
            });
            for cz in z {
                for cy in y.clone() {
                    for cx in x.clone() {
                        lists[(cz * side + cy) * side + cx].push(i as u32);
                    }
                }
            }
        }
        let mut first = vec![0];
        let mut members = Vec::new();
        for list in lists {
            members.extend(list);
            first.push(members.len() as u32);
        }
        (first, members)
    }

    pub fn sphere_words(&self) -> Vec<f32> {
        let words = |s: &Sphere| [s.centre.x, s.centre.y, s.centre.z, s.radius];
        self.spheres.iter().flat_map(words).collect()
    }

    pub fn surface_words(&self) -> Vec<f32> {
        let words = |s: &Surface| {
            let kind = f32::from_bits(s.kind as u32);
            let c = s.colour;
            [c.x, c.y, c.z, kind, s.finish, 0.0, 0.0, 0.0]
        };
        self.surfaces.iter().flat_map(words).collect()
    }
}

fn random_surface(random: &mut Random) -> Surface {
    let (kind, finish) = match random.below(12) {
        0 => (Kind::Lamp, 0.0),
        1..4 => (Kind::Matt, 0.0),
        4..6 => (Kind::Veined, 0.0),
        6..8 => (Kind::Metal, random.float(0.0, 0.4)),
        8..10 => (Kind::Glass, random.float(1.3, 1.7)),
        _ => (Kind::Lacquer, random.float(0.1, 0.6)),
    };
    let mut shade = |low, high| random.float(low, high) as f32;
    let colour = match kind {
        Kind::Lamp => vector(shade(2.0, 6.0), shade(2.0, 6.0), shade(2.0, 6.0)),
        Kind::Glass => vector(shade(0.9, 1.0), shade(0.9, 1.0), shade(0.9, 1.0)),
        _ => vector(shade(0.3, 0.95), shade(0.3, 0.95), shade(0.3, 0.95)),
    };
    Surface {
        kind,
        colour,
        finish: finish as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_repeat_and_cells_list_what_lies_in_them() {
        let make = |seed| Scene::new(5, 80, &mut Random::new(seed, "lighting"));
        let scene = make(1);
        assert_eq!(scene, make(1));
        assert_ne!(scene, make(2));
        assert_eq!(scene.surfaces.len(), scene.spheres.len() + 6);
        let (first, members) = scene.cells();
        assert_eq!(first.len(), 126);
        for (i, sphere) in scene.spheres.iter().enumerate() {
            let [x, y, z] = sphere.centre.words().map(|c| c as usize);
            let cell = (z * 5 + y) * 5 + x;
            let list = &members[first[cell] as usize..first[cell + 1] as usize];
            assert!(list.contains(&(i as u32)));
        }
    }
}
