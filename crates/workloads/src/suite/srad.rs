//! Speckle-reducing anisotropic diffusion: what both versions have in common.

use crate::host::compare::Tolerance;
use crate::input::random::Random;

use super::images::speckled;

/// A handful of iterations of some thirty operations in single precision, with divisions.
pub(super) const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-4,
    relative: 2e-4,
    ulp: 0,
};

/// How far a step goes.
pub(super) const LAMBDA: f32 = 0.5;

/// An image of `rows` rows.
pub(super) struct Image {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Row by row.
    pub(super) pixels: Vec<f64>,
}

impl Image {
    /// A speckled image of brightness between 1 and 255.
    pub(super) fn generate(rows: u32, columns: u32, random: &mut Random) -> Image {
        let pixels = speckled(rows, columns, random);
        Image {
            rows: rows as usize,
            columns: columns as usize,
            pixels: pixels.into_iter().map(f64::from).collect(),
        }
    }

    /// One iteration, by the published equations, in double precision.
    pub(super) fn diffuse(&mut self, q0: f64, lambda: f64) {
        let (rows, columns) = (self.rows, self.columns);
        let at = |y: usize, x: usize| y * columns + x;
        let mut coefficient = vec![0.0; rows * columns];
        let mut differences = vec![[0.0; 4]; rows * columns];
        for y in 0..rows {
            for x in 0..columns {
                let here = self.pixels[at(y, x)];
                let around = [
                    at(y.saturating_sub(1), x),
                    at((y + 1).min(rows - 1), x),
                    at(y, x.saturating_sub(1)),
                    at(y, (x + 1).min(columns - 1)),
                ];
                let d = around.map(|i| self.pixels[i] - here);
                let gradient = d.iter().map(|d| d * d).sum::<f64>() / (here * here);
                let laplacian = d.iter().sum::<f64>() / here;
                let q = (gradient / 2.0 - laplacian * laplacian / 16.0)
                    / (1.0 + laplacian / 4.0).powi(2);
                let c = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)));
                coefficient[at(y, x)] = c.clamp(0.0, 1.0);
                differences[at(y, x)] = d;
            }
        }
        for y in 0..rows {
            for x in 0..columns {
                let [n, s, w, e] = differences[at(y, x)];
                let c = coefficient[at(y, x)];
                let south = coefficient[at((y + 1).min(rows - 1), x)];
                let east = coefficient[at(y, (x + 1).min(columns - 1))];
                self.pixels[at(y, x)] += lambda / 4.0 * (c * n + south * s + c * w + east * e);
            }
        }
    }
}

/// Variance over squared mean: how grainy these pixels are.
pub(super) fn graininess(pixels: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = pixels.clone().count() as f64;
    let mean = pixels.clone().sum::<f64>() / count;
    let variance = pixels.map(|p| p * p).sum::<f64>() / count - mean * mean;
    variance / (mean * mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffusion_smooths_and_leaves_plain_images_alone() {
        let mut plain = Image {
            rows: 4,
            columns: 5,
            pixels: vec![7.0; 20],
        };
        plain.diffuse(0.1, 0.5);
        assert_eq!(plain.pixels, [7.0; 20]);

        let mut image = Image::generate(48, 48, &mut Random::new(1, "srad"));
        let quarter = |image: &Image| {
            let rows = image.pixels.chunks(48).take(12);
            graininess(
                rows.flat_map(|r| r[..12].to_vec())
                    .collect::<Vec<_>>()
                    .into_iter(),
            )
        };
        let before = quarter(&image);
        for _ in 0..3 {
            image.diffuse(quarter(&image), 0.5);
        }
        assert!(quarter(&image) < before / 2.0);
    }

    #[test]
    fn graininess_is_relative_variance() {
        let g = graininess([1.0, 3.0].into_iter());
        assert!((g - 0.25).abs() < 1e-12);
    }
}
