//! Tracking by definition: every place's correlation coefficient from the pixels themselves.

use super::Place;

/// Two scores within this are equally good.
const TIE: f64 = 1e-4;

/// Sides of frame, template and window, all square.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) frame: i32,
    pub(super) template: i32,
    pub(super) window: i32,
}

fn pixel(frame: &[f32], side: i32, row: i32, column: i32) -> f64 {
    if row < 0 || column < 0 || row >= side || column >= side {
        return 0.0;
    }
    f64::from(frame[(column * side + row) as usize])
}

/// What a template's square covers of a frame, column by column.
pub(super) fn cut(frame: &[f32], sides: Sides, place: &Place) -> Vec<f32> {
    let (side, reach) = (sides.template, sides.template / 2);
    let at = |e: i32| {
        let (row, column) = (
            place.row - reach + e % side,
            place.column - reach + e / side,
        );
        pixel(frame, sides.frame, row, column) as f32
    };
    (0..side * side).map(at).collect()
}

/// The correlation coefficient of a template and the window around a place, `down` and `right` of
/// it. Beyond the window all is dark.
fn coefficient(
    frame: &[f32],
    sides: Sides,
    template: &[f32],
    place: &Place,
    down: i32,
    right: i32,
) -> f64 {
    let (side, half) = (sides.template, sides.window / 2);
    let [mut s, mut ss, mut t, mut tt, mut st] = [0.0; 5];
    for e in 0..side * side {
        let (row, column) = (down - side / 2 + e % side, right - side / 2 + e / side);
        let v = if row.abs() <= half && column.abs() <= half {
            pixel(frame, sides.frame, place.row + row, place.column + column)
        } else {
            0.0
        };
        let m = f64::from(template[e as usize]);
        s += v;
        ss += v * v;
        t += m;
        tt += m * m;
        st += v * m;
    }
    let share = 1.0 / f64::from(side * side);
    let under = (ss - s * s * share) * (tt - t * t * share);
    if under > 1.0 {
        (st - s * t * share) / under.sqrt()
    } else {
        0.0
    }
}

/// Where the point is in this frame: the best place, or `got` where that is as good.
pub(super) fn track(
    frame: &[f32],
    sides: Sides,
    template: &[f32],
    place: &Place,
    (inner, spread): (bool, f32),
    got: &Place,
) -> Place {
    let half = sides.window / 2;
    let width = sides.window;
    let all: Vec<f64> = (0..width * width)
        .map(|e| {
            let (down, right) = (e % width - half, e / width - half);
            coefficient(frame, sides, template, place, down, right)
        })
        .collect();
    let inside = |row: i32, column: i32| row.abs() <= half && column.abs() <= half;
    let score = |down: i32, right: i32| {
        let far = (down - place.down).pow(2) + (right - place.right).pow(2);
        if !inside(down, right) || far as f32 > spread {
            return None;
        }
        let (mut sum, mut weight) = (0.0, 0.0);
        for (r, c) in (-1..=1).flat_map(|r| (-1..=1).map(move |c| (r, c))) {
            let corner = r != 0 && c != 0;
            if inside(down + r, right + c) && (inner || !corner) {
                let w = if !inner && r == 0 && c == 0 { 2.0 } else { 1.0 };
                sum += w * all[((right + c + half) * width + down + r + half) as usize];
                weight += w;
            }
        }
        Some(sum / weight)
    };
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for right in -half..=half {
        for down in -half..=half {
            match score(down, right) {
                Some(s) if s > best.0 => best = (s, down, right),
                _ => (),
            }
        }
    }
    let as_good = score(got.down, got.right).is_some_and(|s| s >= best.0 - TIE);
    let (down, right) = if as_good {
        (got.down, got.right)
    } else {
        (best.1, best.2)
    };
    Place {
        row: place.row + down,
        column: place.column + right,
        down,
        right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_pattern_is_found() {
        let side = 40;
        let shape = |row: i32, column: i32| (row * 37 + column * 101 + row * column * 13) % 97;
        let frame = |down: i32, right: i32| -> Vec<f32> {
            let at = |e: i32| shape(e % side - down, e / side - right).abs() as f32;
            (0..side * side).map(at).collect()
        };
        let sides = Sides {
            frame: side,
            template: 5,
            window: 15,
        };
        let place = |row, column, down, right| Place {
            row,
            column,
            down,
            right,
        };
        let start = place(20, 20, 0, 0);
        let template = cut(&frame(0, 0), sides, &start);
        let moved = frame(2, -3);
        for inner in [true, false] {
            let nowhere = place(0, 0, 100, 100);
            let found = track(&moved, sides, &template, &start, (inner, 30.0), &nowhere);
            assert_eq!(found, place(22, 17, 2, -3), "{inner}");
        }
        // Too far away from its motion, it is not looked for there.
        let near = track(&moved, sides, &template, &start, (true, 4.0), &start);
        assert_ne!((near.down, near.right), (2, -3));
    }
}
