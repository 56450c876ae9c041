//! A conference room: walls, a long table with things on it, chairs around, lamps, plants.

use crate::input::random::Random;

/// A point or direction.
pub type Vector = [f32; 3];

/// A triangle by a corner and the two edges from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    pub corner: Vector,
    pub edges: [Vector; 2],
}

impl Triangle {
    fn new(a: Vector, b: Vector, c: Vector) -> Triangle {
        Triangle {
            corner: a,
            edges: [sub(b, a), sub(c, a)],
        }
    }

    /// Its three corners.
    pub fn corners(&self) -> [Vector; 3] {
        let [e, f] = self.edges;
        [self.corner, add(self.corner, e), add(self.corner, f)]
    }
}

pub fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] + b[i])
}

pub fn sub(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] - b[i])
}

pub fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Where a piece of furniture stands and how it is turned (sine and cosine).
#[derive(Clone, Copy)]
struct Place {
    at: Vector,
    turn: (f32, f32),
}

impl Place {
    /// Turned by the angle with this half-angle tangent: exact everywhere, unlike sines.
    fn turned(at: Vector, t: f32) -> Place {
        let d = 1.0 + t * t;
        Place {
            at,
            turn: (2.0 * t / d, (1.0 - t * t) / d),
        }
    }

    fn put(&self, p: Vector) -> Vector {
        let (sin, cos) = self.turn;
        let turned = [cos * p[0] + sin * p[2], p[1], cos * p[2] - sin * p[0]];
        add(turned, self.at)
    }
}

#[derive(Default)]
struct Builder(Vec<Triangle>);

impl Builder {
    fn quad(&mut self, corners: [Vector; 4]) {
        let [a, b, c, d] = corners;
        self.0.push(Triangle::new(a, b, c));
        self.0.push(Triangle::new(a, c, d));
    }

    /// A box from one corner to the other, before it is put in its place.
    fn cuboid(&mut self, place: Place, low: Vector, high: Vector) {
        let p = |x: usize, y: usize, z: usize| {
            let pick = |i: usize, far: usize| if far == 1 { high[i] } else { low[i] };
            place.put([pick(0, x), pick(1, y), pick(2, z)])
        };
        for side in 0..2 {
            self.quad([p(side, 0, 0), p(side, 1, 0), p(side, 1, 1), p(side, 0, 1)]);
            self.quad([p(0, side, 0), p(1, side, 0), p(1, side, 1), p(0, side, 1)]);
            self.quad([p(0, 0, side), p(1, 0, side), p(1, 1, side), p(0, 1, side)]);
        }
    }

    /// A seat, a back and four legs.
    fn chair(&mut self, place: Place) {
        self.cuboid(place, [-0.25, 0.42, -0.25], [0.25, 0.48, 0.25]);
        self.cuboid(place, [-0.25, 0.55, 0.2], [0.25, 1.0, 0.25]);
        for (x, z) in [(-0.25, -0.25), (0.21, -0.25), (-0.25, 0.21), (0.21, 0.21)] {
            self.cuboid(place, [x, 0.0, z], [x + 0.04, 0.42, z + 0.04]);
        }
    }

    /// An octahedron, its faces split `splits` times and pushed out to a sphere.
    fn ball(&mut self, centre: Vector, radius: f32, splits: u32) {
        let out = |p: Vector| {
            let scale = radius / dot(p, p).sqrt();
            p.map(|x| x * scale)
        };
        for signs in 0..8u32 {
            let s = |axis: u32| if signs >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let mut faces = vec![[[s(0), 0.0, 0.0], [0.0, s(1), 0.0], [0.0, 0.0, s(2)]]];
            for _ in 0..splits {
                faces = faces
                    .iter()
                    .flat_map(|&[a, b, c]| {
                        let (ab, bc, ca) = (add(a, b), add(b, c), add(c, a));
                        let half = |p: Vector| p.map(|x| x / 2.0);
                        let (ab, bc, ca) = (half(ab), half(bc), half(ca));
                        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                    })
                    .collect();
            }
            for face in faces {
                let [a, b, c] = face.map(|p| add(out(p), centre));
                self.0.push(Triangle::new(a, b, c));
            }
        }
    }

    /// Leaves in all directions around a stem.
    fn plant(&mut self, at: Vector, leaves: u32, random: &mut Random) {
        for _ in 0..leaves {
            let mut any =
                |r: f64| -> Vector { std::array::from_fn(|_| random.float(-r, r) as f32) };
            let middle = add(add(at, [0.0, 0.7, 0.0]), any(0.45));
            let [a, b, c] = [any(0.12), any(0.12), any(0.12)].map(|p| add(p, middle));
            self.0.push(Triangle::new(a, b, c));
        }
    }
}

/// The room's extent: 12 by 3 by 9 metres from the origin.
pub const ROOM: Vector = [12.0, 3.0, 9.0];

/// The room with `chairs` chairs around its table.
pub fn conference(chairs: u32, random: &mut Random) -> Vec<Triangle> {
    let mut scene = Builder::default();
    let here = Place::turned([0.0; 3], 0.0);
    scene.cuboid(here, [0.0; 3], ROOM);
    let length = 0.5 + 0.4 * chairs.div_ceil(2) as f32;
    let (left, right) = (6.0 - length / 2.0, 6.0 + length / 2.0);
    scene.cuboid(here, [left, 0.7, 3.8], [right, 0.76, 5.2]);
    for (x, z) in [(left, 4.0), (left, 5.0), (right, 4.0), (right, 5.0)] {
        scene.cuboid(here, [x - 0.06, 0.0, z - 0.06], [x + 0.06, 0.7, z + 0.06]);
    }
    for chair in 0..chairs {
        let x = left + 0.25 + 0.8 * (chair / 2) as f32 * 0.5 + 0.2;
        // Half of them on the other side, turned around, and none stands straight.
        let askew = random.float(-0.25, 0.25) as f32;
        let jitter = random.float(-0.1, 0.1) as f32;
        let place = if chair.is_multiple_of(2) {
            Place::turned([x, 0.0, 5.5 + jitter], askew)
        } else {
            Place::turned([x, 0.0, 3.5 + jitter], 8.0 + 10.0 * askew)
        };
        scene.chair(place);
        let cup = [
            x + jitter,
            0.76,
            if chair.is_multiple_of(2) { 4.9 } else { 4.1 },
        ];
        scene.cuboid(
            Place::turned(cup, askew),
            [-0.04, 0.0, -0.04],
            [0.04, 0.1, 0.04],
        );
    }
    for x in [3.5, 6.0, 8.5] {
        scene.ball([x, 2.5, 4.5], 0.25, 2);
    }
    for (x, z) in [(0.8, 0.8), (11.2, 0.8), (11.2, 8.2)] {
        scene.plant([x, 0.0, z], 20 * chairs, random);
    }
    scene.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_repeat_and_everything_is_inside() {
        let make = |seed| conference(6, &mut Random::new(seed, "scene"));
        let scene = make(1);
        assert_eq!(scene, make(1));
        assert_ne!(scene, make(2));
        // Walls, table and legs, chairs and cups, lamps of 8 * 4 * 4 faces, leaves.
        assert_eq!(scene.len(), 12 + 60 + 6 * (72 + 12) + 3 * 128 + 3 * 120);
        for corner in scene.iter().flat_map(Triangle::corners) {
            for (x, most) in corner.iter().zip(ROOM) {
                assert!((-0.1..=most + 0.1).contains(x), "{corner:?}");
            }
        }
    }
}
