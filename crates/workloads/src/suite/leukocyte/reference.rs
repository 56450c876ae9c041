//! The three kernels' results by definition, in double precision.

use super::vessel::Frame;
use super::{Circles, HEIGHT, WIDTH};

/// Two circles are equally good when their answers' squares differ by less than this share.
const TIE: f64 = 1e-3;

/// The best gradient inverse coefficient of variation of each pixel off the borders; zero there. Of
/// circles that are equally good, the one nearest to what was `got`.
pub(super) fn gicov(
    (gradient_x, gradient_y): (&Frame, &Frame),
    circles: &Circles,
    border: usize,
    got: &[f32],
) -> Vec<f32> {
    let (rows, columns) = (gradient_x.rows, gradient_x.columns);
    let mut answers = vec![0.0; rows * columns];
    for x in border..columns - border {
        for y in border..rows - border {
            let at = x * rows + y;
            let answer = |circle: &[(i32, i32)]| {
                let along = |((sine, cosine), (down, right)): (&(f32, f32), &(i32, i32))| {
                    let (x, y) = (x as isize + *right as isize, y as isize + *down as isize);
                    f64::from(gradient_x.at(x, y)) * f64::from(*cosine)
                        + f64::from(gradient_y.at(x, y)) * f64::from(*sine)
                };
                let samples: Vec<f64> = circles.directions.iter().zip(circle).map(along).collect();
                let count = samples.len() as f64;
                let mean = samples.iter().sum::<f64>() / count;
                let squares: f64 = samples.iter().map(|s| (s - mean).powi(2)).sum();
                mean / (squares / (count - 1.0)).sqrt()
            };
            let all = circles.places.chunks(circles.directions.len()).map(answer);
            let all: Vec<f64> = all.collect();
            let most = all.iter().map(|a| a * a).fold(0.0, f64::max);
            let off = |a: &f64| (a - f64::from(got[at])).abs();
            let good = all.into_iter().filter(|a| a * a >= most * (1.0 - TIE));
            answers[at] = good.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0.0) as f32;
        }
    }
    answers
}

/// The largest value under a disc around each pixel, at least 0.
pub(super) fn dilated(answers: &Frame, disc: &[(isize, isize)]) -> Vec<f32> {
    let (rows, columns) = (answers.rows as isize, answers.columns as isize);
    let mut out = Vec::with_capacity(answers.pixels.len());
    for x in 0..columns {
        for y in 0..rows {
            let inside = disc.iter().map(|(dx, dy)| (x + dx, y + dy));
            let inside = inside.filter(|(x, y)| (0..columns).contains(x) && (0..rows).contains(y));
            out.push(inside.map(|(x, y)| answers.at(x, y)).fold(0.0, f32::max));
        }
    }
    out
}

fn flow(difference: f64, along: f64) -> f64 {
    let x = difference * along;
    let part = match x {
        x if x > 1e-4 => 1.0,
        x if x > -1e-4 => 0.5,
        _ => 0.0,
    };
    difference * part
}

/// The field of a cell after it came to rest or after `most` steps, and how many it took; where it
/// is undecided whether it rests, as many as `got`.
pub(super) fn field(
    edges: &[f32],
    (vx, vy): (f64, f64),
    (most, rest): (u32, f64),
    got: u32,
) -> (Vec<f32>, u32) {
    let edges: Vec<f64> = edges.iter().map(|e| f64::from(*e)).collect();
    let mut field = edges.clone();
    for step in 1..=most {
        let mut next = field.clone();
        let mut moved = 0.0;
        for row in 0..HEIGHT {
            for column in 0..WIDTH {
                let at = row * WIDTH + column;
                let mut sum = 0.0;
                for (dy, dx) in [
                    (-1, -1),
                    (-1, 0),
                    (-1, 1),
                    (0, -1),
                    (0, 1),
                    (1, -1),
                    (1, 0),
                    (1, 1),
                ] {
                    let y = (row as isize + dy).clamp(0, HEIGHT as isize - 1) as usize;
                    let x = (column as isize + dx).clamp(0, WIDTH as isize - 1) as usize;
                    let along = vx * dx as f64 + vy * dy as f64;
                    sum += flow(field[y * WIDTH + x] - field[at], along);
                }
                let spread = field[at] + 0.1 * sum;
                next[at] = spread - 0.2 * edges[at] * (spread - edges[at]);
                moved += (next[at] - field[at]).abs();
            }
        }
        field = next;
        let change = moved / field.len() as f64;
        let rests = if (change - rest).abs() < 1e-3 * rest {
            got == step
        } else {
            change < rest
        };
        if rests || step == most {
            return (field.iter().map(|v| *v as f32).collect(), step);
        }
    }
    (field.iter().map(|v| *v as f32).collect(), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_field_rests_at_once_and_an_edge_spreads() {
        let plain = vec![0.25; HEIGHT * WIDTH];
        let (same, steps) = field(&plain, (1.0, 1.0), (50, 1e-5), 1);
        assert_eq!((steps, &same), (1, &plain));
        let mut edge = vec![0.0; HEIGHT * WIDTH];
        edge[20 * WIDTH + 40] = 1.0;
        let (spread, steps) = field(&edge, (1.0, 1.0), (5, 1e-9), 5);
        assert_eq!(steps, 5);
        let around = |dy: isize, dx: isize| spread[((20 + dy) * WIDTH as isize + 40 + dx) as usize];
        // It flows against the direction, to where the source lies along it.
        assert!(around(-1, -1) > 0.05 && around(1, 1) < around(-1, -1));
    }

    #[test]
    fn a_disc_is_spread_within_the_frame() {
        let mut frame = Frame {
            rows: 3,
            columns: 4,
            pixels: vec![0.0; 12],
        };
        frame.pixels[0] = 2.0;
        let out = dilated(&frame, &[(0, 0), (1, 0), (-1, 0)]);
        assert_eq!(out.iter().filter(|v| **v == 2.0).count(), 2);
        assert_eq!(out[3], 2.0);
    }
}
