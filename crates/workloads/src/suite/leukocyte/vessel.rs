//! A frame of video: cells rolling along a vessel.

use crate::input::random::Random;

/// A picture, column by column.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) pixels: Vec<f32>,
}

/// Where a cell is and how large.
#[derive(Clone, Copy)]
struct Cell {
    x: f64,
    y: f64,
    radius: f64,
}

impl Frame {
    fn of(rows: usize, columns: usize, mut pixel: impl FnMut(usize, usize) -> f32) -> Frame {
        let pixels = (0..rows * columns).map(|at| pixel(at / rows, at % rows));
        Frame {
            rows,
            columns,
            pixels: pixels.collect(),
        }
    }

    /// A grainy frame with a cell for every 40 columns or so.
    pub(super) fn generate(rows: usize, columns: usize, random: &mut Random) -> Frame {
        let cells: Vec<Cell> = (0..columns.div_ceil(40))
            .map(|_| Cell {
                x: random.float(0.0, columns as f64),
                y: random.float(0.15, 0.85) * rows as f64,
                radius: random.float(7.0, 13.0),
            })
            .collect();
        Frame::of(rows, columns, |x, y| {
            let near = |c: &Cell| ((x as f64 - c.x).hypot(y as f64 - c.y) - c.radius) / 1.5;
            // A cell is brighter than the blood, with a soft edge.
            let within = cells.iter().map(|c| 1.0 / (1.0 + near(c).exp()));
            let cell = within.fold(0.0, f64::max);
            (80.0 + 100.0 * cell + 12.0 * random.unit()) as f32
        })
    }

    /// The pixel, with the border repeated beyond it.
    pub(super) fn at(&self, x: isize, y: isize) -> f32 {
        let x = x.clamp(0, self.columns as isize - 1) as usize;
        let y = y.clamp(0, self.rows as isize - 1) as usize;
        self.pixels[x * self.rows + y]
    }

    /// Differences along x and along y.
    pub(super) fn gradient(&self) -> (Frame, Frame) {
        let slope = |dx: isize, dy: isize| {
            Frame::of(self.rows, self.columns, |x, y| {
                let (x, y) = (x as isize, y as isize);
                (self.at(x + dx, y + dy) - self.at(x - dx, y - dy)) / 2.0
            })
        };
        (slope(1, 0), slope(0, 1))
    }

    /// Strength of edges from 0 to 1 in a rectangle, row by row.
    pub(super) fn edges(&self, left: isize, top: isize, width: usize, height: usize) -> Vec<f32> {
        let mut edges = Vec::with_capacity(width * height);
        for y in 0..height as isize {
            for x in 0..width as isize {
                let (x, y) = (left + x, top + y);
                let dx = self.at(x + 1, y) - self.at(x - 1, y);
                let dy = self.at(x, y + 1) - self.at(x, y - 1);
                edges.push(((dx * dx + dy * dy).sqrt() / 80.0).min(1.0));
            }
        }
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_repeat_and_have_cells() {
        let make = |seed| Frame::generate(60, 80, &mut Random::new(seed, "leukocyte"));
        assert_eq!(make(1).pixels, make(1).pixels);
        assert_ne!(make(1).pixels, make(2).pixels);
        let bright = make(1).pixels.iter().filter(|p| **p > 150.0).count();
        assert!((100..2000).contains(&bright), "{bright}");
        let edges = make(1).edges(0, 0, 80, 60);
        assert!(edges.iter().any(|e| *e > 0.5) && edges.iter().all(|e| *e <= 1.0));
    }
}
