//! A block of space cut into tetrahedra, whose corners are a little off their places.

use super::element::{Element, FACE, FACES, NODES};
use crate::input::random::Random;
use std::collections::HashMap;

type Point = [f64; 3];

/// Elements, and which lie beside which.
pub(super) struct Mesh {
    /// Corners of each element.
    pub(super) elements: Vec<[Point; 4]>,
    /// How r, s and t change along x, y and z, for each element.
    pub(super) gradients: Vec<[Point; 3]>,
    /// Every face node of every element.
    pub(super) surfaces: Vec<Surface>,
}

/// A node on a face of an element.
pub(super) struct Surface {
    /// Element and node on this side and on the other; the same at the border.
    pub(super) here: (usize, usize),
    pub(super) there: (usize, usize),
    /// Outwards.
    pub(super) normal: Point,
    /// Size of the face by that of the element, both by the reference's.
    pub(super) scale: f64,
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Point, b: Point) -> Point {
    let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    [part(1, 2), part(2, 0), part(0, 1)]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn place(corners: &[Point; 4], weights: &[f64; 4]) -> Point {
    [0, 1, 2].map(|axis| (0..4).map(|c| corners[c][axis] * weights[c]).sum())
}

impl Mesh {
    /// `size` cubes along x, y and z, six elements each.
    pub(super) fn new(size: [usize; 3], element: &Element, random: &mut Random) -> Mesh {
        let points = size.map(|n| n + 1);
        let number = |p: [usize; 3]| (p[2] * points[1] + p[1]) * points[0] + p[0];
        let mut corners: Vec<Point> = Vec::new();
        for at in 0..points.iter().product() {
            let p = [
                at % points[0],
                at / points[0] % points[1],
                at / points[0] / points[1],
            ];
            // Corners at the border stay.
            corners.push([0, 1, 2].map(|axis| {
                let inside = p[axis] > 0 && p[axis] < size[axis];
                let off = random.float(-0.15, 0.15);
                p[axis] as f64 + if inside { off } else { 0.0 }
            }));
        }
        let mut ids: Vec<[usize; 4]> = Vec::new();
        for at in 0..size.iter().product() {
            let low = [at % size[0], at / size[0] % size[1], at / size[0] / size[1]];
            for axes in [
                [0, 1, 2],
                [1, 2, 0],
                [2, 0, 1],
                [0, 2, 1],
                [2, 1, 0],
                [1, 0, 2],
            ] {
                // From the lowest corner to the highest along the axes in this order.
                let mut p = low;
                let mut way = [number(p); 4];
                for (step, axis) in axes.into_iter().enumerate() {
                    p[axis] += 1;
                    way[step + 1] = number(p);
                }
                // The first three orders are turned to the right, the others to the left.
                if axes[1] != (axes[0] + 1) % 3 {
                    way.swap(1, 2);
                }
                ids.push(way);
            }
        }
        let elements: Vec<[Point; 4]> = ids.iter().map(|way| way.map(|i| corners[i])).collect();
        let gradients = elements.iter().map(gradients).collect();
        let surfaces = surfaces(&ids, &elements, element);
        Mesh {
            elements,
            gradients,
            surfaces,
        }
    }
}

/// How r, s and t change along each axis.
fn gradients(corners: &[Point; 4]) -> [Point; 3] {
    let [a, b, c] = [1, 2, 3].map(|i| minus(corners[i], corners[0]));
    let volume = dot(a, cross(b, c));
    let of = [cross(b, c), cross(c, a), cross(a, b)];
    [0, 1, 2].map(|axis| [0, 1, 2].map(|i| of[i][axis] / volume))
}

fn surfaces(ids: &[[usize; 4]], elements: &[[Point; 4]], element: &Element) -> Vec<Surface> {
    let key = |k: usize, f: usize| {
        let mut key = FACES[f].map(|c| ids[k][c]);
        key.sort_unstable();
        key
    };
    let mut faces: HashMap<[usize; 3], Vec<(usize, usize)>> = HashMap::new();
    for k in 0..ids.len() {
        for f in 0..4 {
            faces.entry(key(k, f)).or_default().push((k, f));
        }
    }
    let mut all = Vec::with_capacity(ids.len() * 4 * FACE);
    for (k, corners) in elements.iter().enumerate() {
        for (f, face) in FACES.iter().enumerate() {
            let [a, b, c] = face.map(|i| corners[i]);
            let opposite = corners[6 - face.iter().sum::<usize>()];
            let area = cross(minus(b, a), minus(c, a));
            let size = dot(area, area).sqrt();
            let outwards = if dot(area, minus(a, opposite)) > 0.0 {
                1.0
            } else {
                -1.0
            };
            let volume = dot(
                minus(corners[1], corners[0]),
                cross(minus(corners[2], corners[0]), minus(corners[3], corners[0])),
            );
            let other = faces[&key(k, f)].iter().find(|(other, _)| *other != k);
            for i in 0..FACE {
                let node = element.on_face[f * FACE + i];
                let here = place(corners, &element.nodes[node]);
                let there = other.map_or((k, node), |(k, f)| {
                    let off = |n: &usize| {
                        let gap = minus(here, place(&elements[*k], &element.nodes[*n]));
                        dot(gap, gap)
                    };
                    let nodes = element.on_face[f * FACE..][..FACE].iter();
                    let nearest = nodes.min_by(|a, b| off(a).total_cmp(&off(b)));
                    (*k, nearest.copied().unwrap_or(0))
                });
                all.push(Surface {
                    here: (k, node),
                    there,
                    normal: area.map(|v| v * outwards / size),
                    scale: size / volume,
                });
            }
        }
    }
    debug_assert_eq!(element.nodes.len(), NODES);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_fill_the_block_and_faces_meet() {
        let element = Element::new();
        let mesh = Mesh::new([2, 1, 1], &element, &mut Random::new(1, "dg"));
        assert_eq!(mesh.elements.len(), 12);
        let volume = |c: &[Point; 4]| {
            let [a, b, d] = [1, 2, 3].map(|i| minus(c[i], c[0]));
            dot(a, cross(b, d)) / 6.0
        };
        assert!(mesh.elements.iter().all(|c| volume(c) > 0.0));
        let all: f64 = mesh.elements.iter().map(volume).sum();
        assert!((all - 2.0).abs() < 1e-12);
        for s in &mesh.surfaces {
            let at = |(k, n): (usize, usize)| place(&mesh.elements[k], &element.nodes[n]);
            let gap = minus(at(s.here), at(s.there));
            assert!(dot(gap, gap) < 1e-18);
            assert!((dot(s.normal, s.normal) - 1.0).abs() < 1e-12);
        }
        // Of 48 faces 20 are at the border: two triangles on each of the block's ten squares.
        let inner = mesh
            .surfaces
            .iter()
            .filter(|s| s.here.0 != s.there.0)
            .count();
        assert_eq!(inner, 28 * FACE);
        // The gradient of x is along x.
        let (corners, gradient) = (&mesh.elements[3], &mesh.gradients[3]);
        let slope = [1, 2, 3].map(|i| corners[i][0] - corners[0][0]);
        assert!((dot(gradient[0], slope) - 1.0).abs() < 1e-12);
        assert!(dot(gradient[1], slope).abs() < 1e-12);
    }
}
