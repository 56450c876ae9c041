//! A mesh of tetrahedra around a body.

use crate::input::random::Random;
use std::collections::HashMap;

/// Beyond a face: nothing passes, or the undisturbed flow.
pub const WALL: u32 = u32::MAX;
pub const FAR: u32 = u32::MAX - 1;

/// Elements are shuffled within so many, as the numbering of a mesh is local but not regular.
const SHUFFLED: usize = 256;

/// The corners of the six tetrahedra of a cube, as bits along x, y and z: one for each order of the axes.
const CUBE: [[u32; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 1, 5, 7],
    [0, 2, 3, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 4, 6, 7],
];

/// Tetrahedra, in planes: the value of element `i` is at `plane * count + i`.
pub struct Mesh {
    pub count: usize,
    /// Of each face the element beyond it, or [`WALL`] or [`FAR`].
    pub neighbours: Vec<u32>,
    /// Of each face its normal outwards, as long as its area is large.
    pub normals: Vec<f32>,
    pub volumes: Vec<f32>,
}

type Point = [f64; 3];

fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|k| a[k] - b[k])
}

fn cross(a: Point, b: Point) -> Point {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i] * b[j] - a[j] * b[i]
    })
}

fn dot(a: Point, b: Point) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl Mesh {
    /// A box of so many cubes with a body of an eighth of its size left out in the middle; corners
    /// are moved a little.
    pub fn new(cubes: [u32; 3], random: &mut Random) -> Mesh {
        let corners = cubes.map(|n| n + 1);
        let number = |c: [u32; 3]| (c[2] * corners[1] + c[1]) * corners[0] + c[0];
        let points: Vec<Point> = (0..corners.iter().product())
            .map(|i: u32| {
                let at = [
                    i % corners[0],
                    i / corners[0] % corners[1],
                    i / (corners[0] * corners[1]),
                ];
                at.map(|c| f64::from(c) + random.float(-0.15, 0.15))
            })
            .collect();
        let mut elements: Vec<[u32; 4]> = Vec::new();
        for i in 0..cubes.iter().product() {
            let at = [
                i % cubes[0],
                i / cubes[0] % cubes[1],
                i / (cubes[0] * cubes[1]),
            ];
            // A thin plate: a quarter of the box along x and y, a sixth along z.
            let share = [(3, 8), (3, 8), (5, 12)];
            if (0..3).all(|k| {
                let (low, of) = share[k];
                let (a, n) = (at[k], cubes[k]);
                a >= n * low / of && a < (n * (of - low)).div_ceil(of)
            }) {
                continue;
            }
            elements.extend(CUBE.map(|tetrahedron| {
                tetrahedron
                    .map(|c| number([at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)]))
            }));
        }
        for part in elements.chunks_mut(SHUFFLED) {
            for i in (1..part.len()).rev() {
                part.swap(i, random.below(i as u64 + 1) as usize);
            }
        }
        let outer = |face: &[u32; 3]| {
            let place = |p: u32, k: usize| match k {
                0 => p % corners[0],
                1 => p / corners[0] % corners[1],
                _ => p / (corners[0] * corners[1]),
            };
            (0..3).any(|k| {
                [0, cubes[k]]
                    .iter()
                    .any(|end| face.iter().all(|p| place(*p, k) == *end))
            })
        };
        Mesh::connect(&points, &elements, outer)
    }

    /// Finds neighbours by the faces that elements share.
    fn connect(points: &[Point], elements: &[[u32; 4]], outer: impl Fn(&[u32; 3]) -> bool) -> Mesh {
        let count = elements.len();
        let face_of = |element: &[u32; 4], without: usize| -> [u32; 3] {
            let mut face = [0; 3];
            let rest = element.iter().enumerate().filter(|(k, _)| *k != without);
            for (corner, (_, p)) in face.iter_mut().zip(rest) {
                *corner = *p;
            }
            face.sort_unstable();
            face
        };
        let mut sides: HashMap<[u32; 3], Vec<u32>> = HashMap::new();
        for (i, element) in elements.iter().enumerate() {
            for k in 0..4 {
                sides.entry(face_of(element, k)).or_default().push(i as u32);
            }
        }
        let mut mesh = Mesh {
            count,
            neighbours: vec![WALL; 4 * count],
            normals: vec![0.0; 12 * count],
            volumes: vec![0.0; count],
        };
        for (i, element) in elements.iter().enumerate() {
            for k in 0..4 {
                let face = face_of(element, k);
                let other = sides[&face].iter().find(|other| **other != i as u32);
                mesh.neighbours[k * count + i] = match other {
                    Some(other) => *other,
                    None if outer(&face) => FAR,
                    None => WALL,
                };
                let [a, b, c] = face.map(|p| points[p as usize]);
                let inwards = minus(points[element[k] as usize], a);
                let normal = cross(minus(b, a), minus(c, a)).map(|x| 0.5 * x);
                let depth = dot(normal, inwards);
                for (axis, n) in normal.into_iter().enumerate() {
                    let outwards = if depth > 0.0 { -n } else { n };
                    mesh.normals[(3 * k + axis) * count + i] = outwards as f32;
                }
                mesh.volumes[i] = (depth.abs() / 3.0) as f32;
            }
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_repeat_are_closed_and_neighbours_agree() {
        let make = |seed| Mesh::new([8, 8, 6], &mut Random::new(seed, "cfd"));
        let mesh = make(1);
        assert_eq!(mesh.normals, make(1).normals);
        assert_ne!(mesh.normals, make(2).normals);
        let n = mesh.count;
        assert!(n < 6 * 8 * 8 * 6 && n.is_multiple_of(6));
        let (mut walls, mut far) = (0, 0);
        for i in 0..n {
            // The faces of an element close it.
            for axis in 0..3 {
                let sum: f32 = (0..4).map(|k| mesh.normals[(3 * k + axis) * n + i]).sum();
                assert!(sum.abs() < 1e-5);
            }
            for k in 0..4 {
                match mesh.neighbours[k * n + i] {
                    WALL => walls += 1,
                    FAR => far += 1,
                    j => {
                        let back = (0..4).any(|k| mesh.neighbours[k * n + j as usize] == i as u32);
                        assert!(back);
                    }
                }
            }
        }
        assert_eq!(far, 2 * 2 * (8 * 8 + 8 * 6 + 8 * 6));
        assert!(walls > 0);
        let body = (6.0 * 64.0 - n as f32 / 6.0).round();
        let volume: f32 = mesh.volumes.iter().sum();
        assert!((volume - (6.0 * 64.0 - body)).abs() < 20.0);
    }
}
