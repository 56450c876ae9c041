//! A beating heart as ultrasound shows it, and points on its walls.

use crate::input::random::Random;
use std::f64::consts::TAU;

/// Steps of the speckle along a radius and around the heart.
const RINGS: usize = 48;
const SECTORS: usize = 160;

/// A heart in the middle of square frames.
pub(super) struct Heart {
    side: u32,
    /// Graininess of the tissue, which moves with it.
    speckle: Vec<f64>,
    /// How much smaller it is in the middle of a beat.
    beat: f64,
}

impl Heart {
    pub(super) fn new(side: u32, random: &mut Random) -> Heart {
        Heart {
            side,
            speckle: (0..RINGS * SECTORS).map(|_| random.unit()).collect(),
            beat: random.float(0.08, 0.12),
        }
    }

    /// How large the heart is in a frame: 1 in the first.
    fn size(&self, frame: u32) -> f64 {
        1.0 - self.beat * (0.5 - 0.5 * (f64::from(frame) * TAU / 20.0).cos()) * 4.0
    }

    /// A frame, column by column, of whole brightnesses from 0 to 127, so that sums of products are
    /// exact in single precision.
    pub(super) fn frame(&self, number: u32) -> Vec<f32> {
        let middle = f64::from(self.side) / 2.0;
        let size = self.size(number);
        let mut pixels = Vec::with_capacity((self.side * self.side) as usize);
        for column in 0..self.side {
            for row in 0..self.side {
                let (y, x) = (f64::from(row) - middle, f64::from(column) - middle);
                // The radius in the tissue's own measure: 1 is the edge of the frame.
                let radius = y.hypot(x * 0.9) / (middle * size);
                let angle = y.atan2(x) / TAU + 0.5;
                // Blood is dark, the wall bright, what surrounds it between.
                let brightness = match radius {
                    r if r < INNER => 12.0,
                    r if r < OUTER => 80.0,
                    _ => 35.0,
                };
                let ring = ((radius * 0.6 * RINGS as f64) as usize).min(RINGS - 1);
                let sector = ((angle * SECTORS as f64) as usize).min(SECTORS - 1);
                let grain = 0.5 + self.speckle[ring * SECTORS + sector];
                pixels.push((brightness * grain).round().min(127.0) as f32);
            }
        }
        pixels
    }

    /// Points on the inner wall, then on the outer one: row and column.
    pub(super) fn points(&self, inner: u32, outer: u32) -> Vec<(i32, i32)> {
        let middle = f64::from(self.side) / 2.0;
        let on = |count: u32, radius: f64| {
            (0..count).map(move |i| {
                let angle = TAU * f64::from(i) / f64::from(count);
                let (y, x) = (angle.sin() * radius, angle.cos() * radius / 0.9);
                (
                    (middle + middle * y).round() as i32,
                    (middle + middle * x).round() as i32,
                )
            })
        };
        on(inner, INNER).chain(on(outer, OUTER)).collect()
    }
}

/// Radii of the wall, as parts of half a frame.
const INNER: f64 = 0.4;
const OUTER: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hearts_repeat_and_beat() {
        let make = |seed| Heart::new(64, &mut Random::new(seed, "heartwall"));
        assert_eq!(make(1).frame(3), make(1).frame(3));
        assert_ne!(make(1).frame(3), make(2).frame(3));
        let bright = |f: u32| make(1).frame(f).iter().filter(|p| **p > 40.0).count();
        assert!(bright(10) < bright(0));
        assert_eq!(make(1).frame(0), make(1).frame(20));
        let points = make(1).points(4, 4);
        assert_eq!((points[0], points[4]), ((32, 46), (32, 57)));
    }
}
