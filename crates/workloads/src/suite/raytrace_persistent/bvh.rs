//! A bounding volume hierarchy over triangles, in the layout the kernel reads.

use super::scene::{Triangle, Vector};

/// Triangles a leaf holds at most.
const LEAF: usize = 4;

/// Below this depth halves are made equal in number rather than cheap to traverse, which bounds
/// the depth, and with it the kernel's stack, for any scene of up to 2^20 triangles.
const EVEN_BELOW: u32 = 24;

/// Boxes are this much larger on every side: more than rounding can move a hit, so that leaving
/// out a box never leaves out a hit.
const MARGIN: f32 = 1e-3;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: Vector,
    high: Vector,
}

impl Bounds {
    const EMPTY: Bounds = Bounds {
        low: [f32::INFINITY; 3],
        high: [f32::NEG_INFINITY; 3],
    };

    fn of(triangle: &Triangle) -> Bounds {
        triangle
            .corners()
            .iter()
            .fold(Bounds::EMPTY, |b, p| b.union(&Bounds { low: *p, high: *p }))
    }

    fn union(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: std::array::from_fn(|i| self.low[i].min(other.low[i])),
            high: std::array::from_fn(|i| self.high[i].max(other.high[i])),
        }
    }

    fn area(&self) -> f32 {
        let [x, y, z] = std::array::from_fn(|i| (self.high[i] - self.low[i]).max(0.0));
        x * y + y * z + z * x
    }

    /// Twice the middle along an axis.
    fn middle(&self, axis: usize) -> f32 {
        self.low[axis] + self.high[axis]
    }
}

/// The hierarchy as two arrays of float4.
#[derive(Default)]
pub struct Bvh {
    /// Four float4 a node: bounds of two children, their z bounds, their indices.
    pub nodes: Vec<[f32; 4]>,
    /// Three float4 a triangle: corner and number, edge and "last of its leaf", edge.
    pub triangles: Vec<[f32; 4]>,
    /// How deep the deepest leaf lies.
    pub depth: u32,
}

/// A number in the bits of a float, as the kernel takes it out.
fn bits(number: i32) -> f32 {
    f32::from_bits(number as u32)
}

impl Bvh {
    /// Builds it; there must be more triangles than fit one leaf.
    pub fn new(scene: &[Triangle]) -> Bvh {
        let bounds: Vec<Bounds> = scene.iter().map(Bounds::of).collect();
        let mut order: Vec<usize> = (0..scene.len()).collect();
        let mut bvh = Bvh::default();
        bvh.build(scene, &bounds, &mut order, 0);
        bvh
    }

    /// Makes the subtree of these triangles; returns its index (a leaf's complemented).
    fn build(
        &mut self,
        scene: &[Triangle],
        all: &[Bounds],
        order: &mut [usize],
        depth: u32,
    ) -> i32 {
        self.depth = self.depth.max(depth);
        if order.len() <= LEAF {
            let first = self.triangles.len() / 3;
            for (i, &number) in order.iter().enumerate() {
                let Triangle {
                    corner: c,
                    edges: [e, f],
                } = scene[number];
                let last = i32::from(i + 1 == order.len());
                self.triangles.push([c[0], c[1], c[2], bits(number as i32)]);
                self.triangles.push([e[0], e[1], e[2], bits(last)]);
                self.triangles.push([f[0], f[1], f[2], 0.0]);
            }
            return !(first as i32);
        }
        let at = split(all, order, depth);
        let node = self.nodes.len() / 4;
        self.nodes.extend([[0.0; 4]; 4]);
        let (left, right) = order.split_at_mut(at);
        let [a, b] = [&*left, &*right].map(|part| {
            let tight = part.iter().fold(Bounds::EMPTY, |b, i| b.union(&all[*i]));
            Bounds {
                low: tight.low.map(|x| x - MARGIN),
                high: tight.high.map(|x| x + MARGIN),
            }
        });
        let children = [left, right].map(|part| self.build(scene, all, part, depth + 1));
        self.nodes[4 * node] = [a.low[0], a.high[0], a.low[1], a.high[1]];
        self.nodes[4 * node + 1] = [b.low[0], b.high[0], b.low[1], b.high[1]];
        self.nodes[4 * node + 2] = [a.low[2], a.high[2], b.low[2], b.high[2]];
        self.nodes[4 * node + 3] = [bits(children[0]), bits(children[1]), 0.0, 0.0];
        node as i32
    }
}

/// Sorts along the best axis and says where to cut: by the surface area heuristic, or in half.
fn split(all: &[Bounds], order: &mut [usize], depth: u32) -> usize {
    let sort = |order: &mut [usize], axis: usize| {
        order.sort_by(|a, b| {
            let key = |i: &usize| all[*i].middle(axis);
            key(a).total_cmp(&key(b)).then(a.cmp(b))
        });
    };
    let n = order.len();
    if depth >= EVEN_BELOW {
        sort(order, depth as usize % 3);
        return n / 2;
    }
    let mut best = (f32::INFINITY, 0, n / 2);
    for axis in 0..3 {
        sort(order, axis);
        let mut behind = vec![0.0; n];
        let mut box_behind = Bounds::EMPTY;
        for i in (1..n).rev() {
            box_behind = box_behind.union(&all[order[i]]);
            behind[i] = box_behind.area() * (n - i) as f32;
        }
        let mut ahead = Bounds::EMPTY;
        for (i, cost_behind) in behind.iter().enumerate().skip(1) {
            ahead = ahead.union(&all[order[i - 1]]);
            let cost = ahead.area() * i as f32 + cost_behind;
            if cost < best.0 {
                best = (cost, axis, i);
            }
        }
    }
    sort(order, best.1);
    best.2
}

#[cfg(test)]
mod tests {
    use super::super::scene::conference;
    use super::*;
    use crate::input::random::Random;

    #[test]
    fn every_triangle_is_in_one_leaf_inside_its_boxes() {
        let scene = conference(4, &mut Random::new(1, "scene"));
        let bvh = Bvh::new(&scene);
        assert!(bvh.depth < 44);
        let mut seen = vec![0; scene.len()];
        let all = Bounds {
            low: [-100.0; 3],
            high: [100.0; 3],
        };
        let mut work = vec![(0i32, all)];
        while let Some((index, inside)) = work.pop() {
            if index >= 0 {
                let n = &bvh.nodes[4 * index as usize..][..4];
                let child = |k: usize| Bounds {
                    low: [n[k][0], n[k][2], n[2][2 * k]],
                    high: [n[k][1], n[k][3], n[2][2 * k + 1]],
                };
                work.push((n[3][0].to_bits() as i32, child(0)));
                work.push((n[3][1].to_bits() as i32, child(1)));
                continue;
            }
            for t in bvh.triangles[3 * !index as usize..].chunks_exact(3) {
                let number = t[0][3].to_bits() as usize;
                seen[number] += 1;
                let own = Bounds::of(&scene[number]);
                for i in 0..3 {
                    assert!(own.low[i] > inside.low[i] && own.high[i] < inside.high[i]);
                }
                if t[1][3].to_bits() != 0 {
                    break;
                }
            }
        }
        assert!(seen.iter().all(|n| *n == 1));
    }
}
