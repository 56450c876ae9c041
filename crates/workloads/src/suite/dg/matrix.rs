//! Small dense matrices.

/// Row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    pub(super) fn of(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
        let values = (0..rows * columns).map(|at| value(at / columns, at % columns));
        Matrix {
            rows,
            columns,
            values: values.collect(),
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub(super) fn transposed(&self) -> Matrix {
        Matrix::of(self.columns, self.rows, |r, c| self.at(c, r))
    }

    pub(super) fn times(&self, other: &Matrix) -> Matrix {
        Matrix::of(self.rows, other.columns, |r, c| {
            (0..self.columns)
                .map(|k| self.at(r, k) * other.at(k, c))
                .sum()
        })
    }

    /// The inverse, by elimination with pivots.
    pub(super) fn inverse(&self) -> Matrix {
        let n = self.rows;
        let width = 2 * n;
        let mut m = Matrix::of(n, width, |r, c| match c.checked_sub(n) {
            None => self.at(r, c),
            Some(c) => f64::from(u8::from(r == c)),
        })
        .values;
        for k in 0..n {
            let largest = |a: &usize, b: &usize| {
                let size = |r: &usize| m[r * width + k].abs();
                size(a).total_cmp(&size(b))
            };
            let pivot = (k..n).max_by(largest).unwrap_or(k);
            for c in 0..width {
                m.swap(k * width + c, pivot * width + c);
            }
            let by = m[k * width + k];
            for c in k..width {
                m[k * width + c] /= by;
            }
            for r in (0..n).filter(|r| *r != k) {
                let by = m[r * width + k];
                for c in k..width {
                    m[r * width + c] -= by * m[k * width + c];
                }
            }
        }
        Matrix::of(n, n, |r, c| m[r * width + n + c])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_invert() {
        let m = Matrix::of(5, 5, |r, c| ((r * 7 + c * c * 3) % 11) as f64);
        let one = m.times(&m.inverse());
        for r in 0..5 {
            for c in 0..5 {
                let expected = f64::from(u8::from(r == c));
                assert!((one.at(r, c) - expected).abs() < 1e-9);
            }
        }
        assert_eq!(m.transposed().at(1, 3), m.at(3, 1));
    }
}
