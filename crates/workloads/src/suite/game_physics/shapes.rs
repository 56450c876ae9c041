//! Shapes of bodies and where two of them touch, with the kernel's arithmetic.

use crate::suite::vector::{Vector, vector};

/// The kernel has the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u32)]
pub enum Shape {
    Sphere,
    Capsule,
    Box,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    pub shape: Shape,
    pub centre: Vector,
    /// Two axes; the third is their product.
    pub u: Vector,
    pub v: Vector,
    /// Half of a box's sides, or of a capsule's length in `x`.
    pub half: Vector,
    /// Of a sphere or capsule.
    pub radius: f32,
    /// Of the smallest sphere around it.
    pub bound: f32,
}

impl Body {
    /// As four float4.
    pub fn words(&self) -> [f32; 16] {
        let (c, u, v, h) = (self.centre, self.u, self.v, self.half);
        let shape = f32::from_bits(self.shape as u32);
        [
            c.x,
            c.y,
            c.z,
            self.bound,
            u.x,
            u.y,
            u.z,
            shape,
            v.x,
            v.y,
            v.z,
            self.radius,
            h.x,
            h.y,
            h.z,
            0.0,
        ]
    }

    fn w(&self) -> Vector {
        self.u.cross(self.v)
    }

    /// Of a capsule's middle line the point nearest to `p`.
    fn on_line(&self, p: Vector) -> Vector {
        let t = (p - self.centre).dot(self.u);
        self.centre + self.u * clamp(t, self.half.x)
    }

    /// In a box the point nearest to `p`.
    fn in_box(&self, p: Vector) -> Vector {
        let (d, w) = (p - self.centre, self.w());
        self.centre
            + self.u * clamp(d.dot(self.u), self.half.x)
            + self.v * clamp(d.dot(self.v), self.half.y)
            + w * clamp(d.dot(w), self.half.z)
    }

    /// How far a box reaches along a direction.
    fn reach(&self, along: Vector) -> f32 {
        self.half.x * self.u.dot(along).abs()
            + self.half.y * self.v.dot(along).abs()
            + self.half.z * self.w().dot(along).abs()
    }
}

fn clamp(x: f32, most: f32) -> f32 {
    x.max(-most).min(most)
}

/// Normal from the first to the second, and depth.
type Contact = Option<(Vector, f32)>;

fn balls(a: Vector, ra: f32, b: Vector, rb: f32) -> Contact {
    let d = b - a;
    let distance = d.dot(d).sqrt();
    let normal = if distance > 1e-5 {
        d * (1.0 / distance)
    } else {
        vector(0.0, 1.0, 0.0)
    };
    (distance < ra + rb).then_some((normal, ra + rb - distance))
}

fn capsules(a: &Body, b: &Body) -> Contact {
    let r = a.centre - b.centre;
    let (along, c, f) = (a.u.dot(b.u), a.u.dot(r), b.u.dot(r));
    let across = 1.0 - along * along;
    let mut s = 0.0;
    if across > 1e-4 {
        s = clamp((along * f - c) / across, a.half.x);
    }
    let mut t = along * s + f;
    if t.abs() > b.half.x {
        t = b.half.x.copysign(t);
        s = clamp(along * t - c, a.half.x);
    }
    balls(a.centre + a.u * s, a.radius, b.centre + b.u * t, b.radius)
}

fn ball_box(p: Vector, radius: f32, b: &Body) -> Contact {
    let d = p - b.centre;
    let axes = [b.u, b.v, b.w()];
    let at = axes.map(|axis| d.dot(axis));
    let h = b.half.words();
    let within = [0, 1, 2].map(|i| h[i] - at[i].abs());
    let least = within[0].min(within[1]).min(within[2]);
    if least < 0.0 {
        return balls(p, radius, b.in_box(p), 0.0);
    }
    let face = within.iter().position(|o| *o == least).unwrap_or(2);
    let sign = if at[face] > 0.0 { -1.0 } else { 1.0 };
    Some((axes[face] * sign, radius + least))
}

fn capsule_box(a: &Body, b: &Body) -> Contact {
    let mut p = a.on_line(b.centre);
    for _ in 0..12 {
        let q = a.on_line(b.in_box(p));
        let moved = q - p;
        p = q;
        if moved.dot(moved) < 1e-6 {
            break;
        }
    }
    ball_box(p, a.radius, b)
}

fn boxes(a: &Body, b: &Body) -> Contact {
    let d = b.centre - a.centre;
    let (of_a, of_b) = ([a.u, a.v, a.w()], [b.u, b.v, b.w()]);
    let edges = of_a.iter().flat_map(|ea| of_b.map(|eb| ea.cross(eb)));
    let edges = edges.filter_map(|axis| {
        let length = axis.dot(axis);
        (length >= 1e-3).then(|| axis * (1.0 / length.sqrt()))
    });
    let mut least: Contact = None;
    for axis in of_a.into_iter().chain(of_b).chain(edges) {
        let apart = d.dot(axis);
        let overlap = a.reach(axis) + b.reach(axis) - apart.abs();
        if overlap <= 0.0 {
            return None;
        }
        if least.is_none_or(|(_, depth)| overlap < depth) {
            least = Some((axis * if apart < 0.0 { -1.0 } else { 1.0 }, overlap));
        }
    }
    least
}

/// Where two bodies touch: the normal towards the first, and the depth.
pub fn contact(me: &Body, other: &Body) -> Contact {
    let turned = me.shape > other.shape;
    let (a, b) = if turned { (other, me) } else { (me, other) };
    let found = match (a.shape, b.shape) {
        (Shape::Sphere, Shape::Sphere) => balls(a.centre, a.radius, b.centre, b.radius),
        (Shape::Sphere, Shape::Capsule) => balls(a.centre, a.radius, b.on_line(a.centre), b.radius),
        (Shape::Sphere, Shape::Box) => ball_box(a.centre, a.radius, b),
        (Shape::Capsule, Shape::Capsule) => capsules(a, b),
        (Shape::Capsule, Shape::Box) => capsule_box(a, b),
        _ => boxes(a, b),
    };
    let sign = if turned { 1.0 } else { -1.0 };
    found
        .filter(|(_, depth)| *depth > 0.0)
        .map(|(normal, depth)| (normal * sign, depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(shape: Shape, x: f32, y: f32) -> Body {
        Body {
            shape,
            centre: vector(x, y, 0.0),
            u: vector(1.0, 0.0, 0.0),
            v: vector(0.0, 1.0, 0.0),
            half: vector(1.0, 0.5, 0.5),
            radius: 0.5,
            bound: 1.5,
        }
    }

    #[test]
    fn each_pair_of_shapes_touches_where_it_should() {
        use Shape::{Box, Capsule, Sphere};
        // How far apart along x they just touch: spheres have no length, the others reach one.
        for (a, b, touch) in [
            (Sphere, Sphere, 1.0),
            (Sphere, Capsule, 2.0),
            (Sphere, Box, 1.5),
            (Capsule, Capsule, 3.0),
            (Capsule, Box, 2.5),
            (Box, Box, 2.0),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let me = at(a, 0.0, 0.0);
                let (normal, depth) = contact(&me, &at(b, touch - 0.25, 0.0)).expect("they touch");
                assert_eq!(normal.words(), [-1.0, 0.0, 0.0], "{a:?} {b:?}");
                assert!((depth - 0.25).abs() < 1e-5, "{a:?} {b:?} {depth}");
                assert_eq!(contact(&me, &at(b, touch + 0.1, 0.0)), None, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_ball_in_a_box_leaves_through_the_nearest_face() {
        let (normal, depth) =
            contact(&at(Shape::Sphere, 0.0, 0.4), &at(Shape::Box, 0.0, 0.0)).expect("inside");
        assert_eq!(normal.words(), [0.0, 1.0, 0.0]);
        assert!((depth - 0.6).abs() < 1e-6);
    }
}
