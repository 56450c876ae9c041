//! Heaps of bodies, and a frame of theirs on the CPU.

use super::shapes::{Body, Shape, contact};
use crate::input::random::Random;
use crate::suite::vector::{Vector, vector};

/// Neighbours of a body at most, as in the kernel.
pub const MOST: u32 = 24;
/// Seconds of a frame.
pub const STEP: f32 = 1.0 / 60.0;
/// Side of a cell: no bounding sphere is wider.
const CELL: f64 = 1.2;

/// Bodies, sorted by cell.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub bodies: Vec<Body>,
    /// Velocity, and one over the mass.
    pub velocities: Vec<[f32; 4]>,
    /// The cell of each body.
    pub cells: Vec<u32>,
    /// Cells along each side.
    pub side: u32,
}

/// What a frame makes of them.
pub struct Frame {
    /// How many others each body touches.
    pub touching: Vec<u32>,
    /// Place and bounding radius, velocity and one over the mass.
    pub places: Vec<f32>,
}

fn direction(random: &mut Random) -> Vector {
    loop {
        let v = vector(
            random.float(-1.0, 1.0) as f32,
            random.float(-1.0, 1.0) as f32,
            random.float(-1.0, 1.0) as f32,
        );
        if (0.01..1.0).contains(&v.dot(v)) {
            return v.unit();
        }
    }
}

fn random_body(centre: Vector, random: &mut Random) -> Body {
    let u = direction(random);
    let v = loop {
        let v = u.cross(direction(random));
        if v.dot(v) > 0.01 {
            break v.unit();
        }
    };
    let mut size = |low, high| random.float(low, high) as f32;
    let (radius, length) = (size(0.12, 0.3), size(0.1, 0.3));
    let sides = vector(size(0.12, 0.33), size(0.12, 0.33), size(0.12, 0.33));
    let (shape, half, radius, bound) = match random.below(10) {
        0..4 => (Shape::Sphere, Vector::default(), radius, radius),
        4..7 => (
            Shape::Capsule,
            vector(length, 0.0, 0.0),
            radius,
            radius + length,
        ),
        _ => (Shape::Box, sides, 0.0, sides.dot(sides).sqrt()),
    };
    Body {
        shape,
        centre,
        u,
        v,
        half,
        radius,
        bound,
    }
}

impl World {
    /// Two thirds of the bodies in heaps of some hundred, the others anywhere.
    pub fn new(count: u32, random: &mut Random) -> World {
        let side = (f64::from(count) / 1.2).cbrt().ceil().max(1.0) as u32;
        let room = f64::from(side) * CELL;
        let heaps: Vec<[f64; 3]> = (0..count / 200 + 1)
            .map(|_| [0, 1, 2].map(|_| random.float(0.0, room)))
            .collect();
        let mut all: Vec<(u32, Body, [f32; 4])> = (0..count)
            .map(|_| {
                let heap = heaps[random.below(heaps.len() as u64) as usize];
                let scattered = random.below(3) == 0;
                let place = heap.map(|middle| {
                    let spread = random.unit() + random.unit() + random.unit() - 1.5;
                    let at = if scattered {
                        random.float(0.0, room)
                    } else {
                        middle + 2.8 * CELL * spread
                    };
                    at.clamp(0.0, room * 0.999_99)
                });
                let cell = place.map(|at| (at / CELL) as u32);
                let [x, y, z] = place.map(|at| at as f32);
                let body = random_body(vector(x, y, z), random);
                let mut speed = || random.float(-1.0, 1.0) as f32;
                let velocity = [speed(), speed(), speed()];
                let light = random.float(0.2, 2.0) as f32;
                let [vx, vy, vz] = velocity;
                (
                    (cell[2] * side + cell[1]) * side + cell[0],
                    body,
                    [vx, vy, vz, light],
                )
            })
            .collect();
        all.sort_by_key(|(cell, ..)| *cell);
        World {
            cells: all.iter().map(|b| b.0).collect(),
            bodies: all.iter().map(|b| b.1).collect(),
            velocities: all.iter().map(|b| b.2).collect(),
            side,
        }
    }

    /// Others whose bounding spheres meet a body's, in the order of cells.
    fn near(&self, i: usize) -> Vec<usize> {
        let n = self.side as i64;
        let cell = i64::from(self.cells[i]);
        let (x, y, z) = (cell % n, cell / n % n, cell / (n * n));
        let me = &self.bodies[i];
        let mut near = Vec::new();
        for row in 0..9 {
            let (cy, cz) = (y - 1 + row % 3, z - 1 + row / 3);
            if !(0..n).contains(&cy) || !(0..n).contains(&cz) {
                continue;
            }
            // Cells of a row follow each other, and so do the bodies in them.
            let place = |cx: i64| ((cz * n + cy) * n + cx) as u32;
            let (first, last) = (place((x - 1).max(0)), place((x + 1).min(n - 1)));
            let from = self.cells.partition_point(|c| *c < first);
            let there = self.cells[from..].iter().take_while(|c| **c <= last);
            near.extend((from..).zip(there).map(|(j, _)| j).filter(|j| {
                let other = &self.bodies[*j];
                let d = other.centre - me.centre;
                let reach = me.bound + other.bound;
                *j != i && d.dot(d) < reach * reach
            }));
        }
        near.truncate(MOST as usize);
        near
    }

    /// A frame with so many steps of the solver.
    pub fn frame(&self, steps: u32) -> Frame {
        let contacts: Vec<Vec<(usize, Vector, f32)>> = (0..self.bodies.len())
            .map(|i| {
                let near = self.near(i).into_iter();
                near.filter_map(|j| {
                    let (normal, depth) = contact(&self.bodies[i], &self.bodies[j])?;
                    Some((j, normal, depth))
                })
                .collect()
            })
            .collect();
        let mut velocities = self.velocities.clone();
        for _ in 0..steps {
            velocities = contacts
                .iter()
                .enumerate()
                .map(|(i, touching)| solved(i, touching, &velocities))
                .collect();
        }
        let places = self.bodies.iter().zip(&velocities);
        Frame {
            touching: contacts.iter().map(|c| c.len() as u32).collect(),
            places: places.flat_map(|(b, v)| moved(b, *v)).collect(),
        }
    }
}

/// A body's velocity after a step of the solver.
fn solved(i: usize, touching: &[(usize, Vector, f32)], velocities: &[[f32; 4]]) -> [f32; 4] {
    let [x, y, z, light] = velocities[i];
    let v = vector(x, y, z);
    let mut sum = v;
    for (j, normal, depth) in touching {
        let [ox, oy, oz, other] = velocities[*j];
        let relative = v - vector(ox, oy, oz);
        let approach = relative.dot(*normal);
        let wanted = 0.2 * depth - approach;
        if wanted > 0.0 {
            let push = 0.5 * wanted * (light / (light + other));
            sum = sum + *normal * push;
            let sliding = relative - *normal * approach;
            let speed = sliding.dot(sliding).sqrt();
            if speed > 1e-4 {
                sum = sum - sliding * ((0.3 * push).min(0.5 * speed) / speed);
            }
        }
    }
    [sum.x, sum.y, sum.z, light]
}

/// Where a body is after the frame, and how fast.
fn moved(body: &Body, [vx, vy, vz, light]: [f32; 4]) -> [f32; 8] {
    let at = body.centre;
    let mut fall = vy - 9.8 * STEP;
    let mut y = at.y + fall * STEP;
    if y < body.bound {
        (y, fall) = (body.bound, 0.0);
    }
    let (x, z) = (at.x + vx * STEP, at.z + vz * STEP);
    [x, y, z, body.bound, vx, fall, vz, light]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_repeat_and_bodies_differ_in_how_many_they_touch() {
        let make = |seed| World::new(800, &mut Random::new(seed, "game-physics"));
        let world = make(1);
        assert_eq!(world, make(1));
        assert_ne!(world, make(2));
        assert!(world.cells.is_sorted());
        assert!(
            world
                .bodies
                .iter()
                .all(|b| f64::from(2.0 * b.bound) <= CELL)
        );
        let frame = world.frame(2);
        let alone = frame.touching.iter().filter(|t| **t == 0).count();
        let crowded = frame.touching.iter().filter(|t| **t >= 4).count();
        assert!(
            alone > 80 && crowded > 40,
            "{alone} alone, {crowded} crowded"
        );
        // Lists are long enough for nearly all, and neighbours are found from both sides.
        let near: Vec<Vec<usize>> = (0..800).map(|i| world.near(i)).collect();
        let full = near.iter().filter(|n| n.len() == MOST as usize).count();
        assert!(full < 40, "{full} lists are full");
        let open = |i: usize| near[i].len() < MOST as usize;
        for (i, list) in near.iter().enumerate() {
            for j in list.iter().filter(|j| open(**j)) {
                assert!(near[*j].contains(&i));
            }
        }
    }

    #[test]
    fn the_solver_pushes_apart_and_bodies_rest_on_the_floor() {
        let towards = [(1, vector(-1.0, 0.0, 0.0), 0.1)];
        let velocities = [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]];
        let [x, ..] = solved(0, &towards, &velocities);
        assert!((x - (1.0 - 0.25 * 1.02)).abs() < 1e-6);
        let mut random = Random::new(1, "game-physics");
        let body = random_body(vector(0.0, 0.0, 0.0), &mut random);
        let [_, y, _, bound, _, fall, ..] = moved(&body, [0.0; 4]);
        assert_eq!((y, fall), (bound, 0.0));
    }
}
