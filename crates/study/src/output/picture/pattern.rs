//! Patterns, which tell variants apart that have the same colour, and all of them in grey: lines in the page's
//! colour on bars, shapes for points.

use super::colour::Paint;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};
use std::fmt::Write;
use warpsim_present::svg::{Element, Svg};

/// Lines of a tile with sides of six; the first has none.
const LINES: [&str; 8] = [
    "",
    "M-1 1L1-1M0 6L6 0M5 7L7 5",
    "M0 3H6",
    "M-1 5L1 7M0 0L6 6M5-1L7 1",
    "M3 0V6",
    "M0 3H6M3 0V6",
    "M0 0L6 6M0 6L6 0",
    "M2 3H4",
];
const TILE: f64 = 6.0;

/// So many patterns there are, none among them.
pub const PATTERNS: usize = LINES.len();

/// The patterns of one picture. Their names are its own: several stand on a page, and some of them are hidden.
pub struct Patterns(String);

impl Patterns {
    /// Of a picture with this name.
    pub fn new(picture: &str) -> Patterns {
        Patterns(picture.to_string())
    }

    fn name(&self, paint: Paint) -> String {
        format!("{}-{}-{}", self.0, paint.hue.0, paint.pattern)
    }

    /// Fills an element.
    pub fn fill<'s>(&self, element: Element<'s>, paint: Paint) -> Element<'s> {
        let fill = match paint.pattern {
            0 => paint.hue.paint(),
            _ => format!("url(#{})", self.name(paint)),
        };
        element.attr("fill", fill)
    }

    /// Defines what `paints` need.
    pub fn define(&self, svg: &mut Svg, paints: impl Iterator<Item = Paint>) {
        let patterned = paints.filter(|p| p.pattern > 0);
        let all: BTreeMap<String, Paint> = patterned.map(|p| (self.name(p), p)).collect();
        if all.is_empty() {
            return;
        }
        svg.element("defs").content(|svg| {
            for (name, paint) in &all {
                let pattern = svg.element("pattern").attr("id", name);
                let pattern = pattern.attr("patternUnits", "userSpaceOnUse");
                let pattern = pattern.attr("width", TILE).attr("height", TILE);
                pattern.content(|svg| {
                    let tile = svg.element("rect").attr("width", TILE);
                    let tile = tile.attr("height", TILE);
                    tile.attr("fill", paint.hue.paint()).empty();
                    let lines = svg.element("path").attr("d", LINES[paint.pattern]);
                    lines
                        .attr("stroke", "var(--page)")
                        .attr("stroke-width", "1.7")
                        .empty();
                });
            }
        });
    }
}

/// The outline of a point: a circle without a pattern, a shape of its own with one.
pub fn shape(paint: Paint, [x, y]: [f64; 2], radius: f64) -> String {
    // Corners and the direction of the first.
    let (corners, turn) = match paint.pattern {
        0 => (24, 0.0),
        1 => (4, FRAC_PI_4),
        2 => (3, -FRAC_PI_2),
        3 => (4, 0.0),
        4 => (3, FRAC_PI_2),
        5 => (5, -FRAC_PI_2),
        6 => (6, 0.0),
        _ => (2, FRAC_PI_4),
    };
    // Shapes with few corners are as large as others that reach further.
    let reach = match corners {
        24 => radius,
        _ => radius * 1.3,
    };
    let mut path = String::new();
    for corner in 0..corners {
        let angle = turn + TAU * f64::from(corner) / f64::from(corners);
        let (x, y) = (x + reach * angle.cos(), y + reach * angle.sin());
        let sign = if corner == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{sign}{x:.1} {y:.1}");
    }
    path + "Z"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use warpsim_present::palette;

    #[test]
    fn every_pattern_is_drawn_otherwise() {
        let paint = |pattern| Paint {
            pattern,
            ..Paint::plain(palette::series(0))
        };
        let lines: HashSet<&str> = LINES.into_iter().collect();
        let shapes = (0..PATTERNS).map(|pattern| shape(paint(pattern), [10.0, 10.0], 5.0));
        let shapes: HashSet<String> = shapes.collect();
        assert_eq!((lines.len(), shapes.len()), (PATTERNS, PATTERNS));
    }
}
