//! Vectors of three floats, with the arithmetic of `kernels/vector.cuh`: every operation rounds on its
//! own and in the same order, so that references agree with kernels to the bit.

use std::ops::{Add, Mul, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Vector {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

pub(super) const fn vector(x: f32, y: f32, z: f32) -> Vector {
    Vector { x, y, z }
}

impl Vector {
    pub fn dot(self, o: Vector) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    pub fn cross(self, o: Vector) -> Vector {
        vector(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }

    /// The same direction with length one.
    pub fn unit(self) -> Vector {
        self * (1.0 / self.dot(self).sqrt())
    }

    pub fn words(self) -> [f32; 3] {
        [self.x, self.y, self.z]
    }
}

impl Add for Vector {
    type Output = Vector;
    fn add(self, o: Vector) -> Vector {
        vector(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for Vector {
    type Output = Vector;
    fn sub(self, o: Vector) -> Vector {
        vector(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul<f32> for Vector {
    type Output = Vector;
    fn mul(self, s: f32) -> Vector {
        vector(self.x * s, self.y * s, self.z * s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_lengths() {
        let (x, y) = (vector(1.0, 0.0, 0.0), vector(0.0, 2.0, 0.0));
        assert_eq!(x.cross(y), vector(0.0, 0.0, 2.0));
        assert_eq!((x + y * 2.0).dot(x - y), 1.0 - 8.0);
        assert_eq!(y.unit().words(), [0.0, 1.0, 0.0]);
    }
}
