//! Sizes of gangs over time as a picture: warps stacked by the size of their gang, big gangs below.

use super::sizes::{MOST, Sizes};
use crate::pictures::page::{Head, cycles, page, round_step, upwards};
use std::fmt::Write;
use std::ops::RangeInclusive;
use warpsim_present::palette::Hue;
use warpsim_present::svg::Svg;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 310.0;

/// Sizes that are shown together, as the paper does: their class and what they are called.
const BINS: [(RangeInclusive<usize>, &str, &str); 5] = [
    (8..=8, "g8", "gangs of 8"),
    (5..=7, "g5", "5 to 7"),
    (4..=4, "g4", "4"),
    (2..=3, "g2", "2 or 3"),
    (1..=1, "g1", "single warps"),
];

/// From single warps to whole gangs, as lanes at work are everywhere.
const RULES: [(&str, &str, Hue); 5] = [
    (".g8", "fill", Hue("r7")),
    (".g5", "fill", Hue("r6")),
    (".g4", "fill", Hue("r5")),
    (".g2", "fill", Hue("r2")),
    (".g1", "fill", Hue("r0")),
];

/// `sizes` as an SVG document with `title` above it.
pub fn svg(sizes: &Sizes, title: &str) -> String {
    let steps = sizes.averages();
    let end = steps.last().map_or(1, |(from, _)| from + sizes.width());
    let total = |warps: &[f64; MOST]| warps.iter().sum::<f64>();
    let most = steps.iter().map(|(_, w)| total(w)).fold(1.0, f64::max);
    let head = Head {
        title: title.to_string(),
        legend: &BINS.map(|(_, class, text)| (class, text)),
        rules: &RULES,
        style: "",
    };
    page([WIDTH, HEIGHT], &head, |svg| {
        axes(svg, end, most);
        let mut below = vec![0.0; steps.len()];
        for (range, class, _) in BINS {
            let its = |w: &[f64; MOST]| range.clone().map(|size| w[size - 1]).sum::<f64>();
            let above: Vec<f64> = below
                .iter()
                .zip(&steps)
                .map(|(b, (_, w))| b + its(w))
                .collect();
            area(svg, class, &below, &above, end, most);
            below = above;
        }
    })
}

fn x(cycle: f64, end: u64) -> f64 {
    LEFT + cycle / end as f64 * (WIDTH - LEFT - RIGHT)
}

fn y(warps: f64, most: f64) -> f64 {
    BOTTOM - warps / most * (BOTTOM - TOP)
}

/// The area between two lines with a value for each step.
fn area(svg: &mut Svg, class: &str, below: &[f64], above: &[f64], end: u64, most: f64) {
    if below == above {
        return;
    }
    let step = end as f64 / below.len() as f64;
    let mut path = String::new();
    // Steps are flat: up the left side of each, along its top. Writing to a String cannot fail.
    for (i, warps) in above.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let (from, to) = (x(i as f64 * step, end), x((i + 1) as f64 * step, end));
        let y = y(*warps, most);
        let _ = write!(path, "{command}{from:.1} {y:.1}H{to:.1}");
    }
    for (i, warps) in below.iter().enumerate().rev() {
        let (from, to) = (x(i as f64 * step, end), x((i + 1) as f64 * step, end));
        let y = y(*warps, most);
        let _ = write!(path, "L{to:.1} {y:.1}H{from:.1}");
    }
    path.push('Z');
    svg.element("path")
        .attr("class", class)
        .attr("d", &path)
        .empty();
    svg.line();
}

fn axes(svg: &mut Svg, end: u64, most: f64) {
    for tick in cycles(0, end) {
        let x = x(tick as f64, end);
        let number = svg.element("text").fixed("x", x, 1);
        let number = number.attr("y", BOTTOM + 14.0);
        number.attr("text-anchor", "middle").text(tick);
        svg.line();
    }
    let by = round_step(most, 8.0).max(1.0) as usize;
    for tick in (0..=most as u64).step_by(by) {
        let y = y(tick as f64, most);
        svg.element("line")
            .attr("x1", LEFT)
            .fixed("y1", y, 1)
            .attr("x2", WIDTH - RIGHT)
            .fixed("y2", y, 1)
            .attr("class", "grid")
            .empty();
        let number = svg.element("text").attr("x", LEFT - 6.0);
        let number = number.fixed("y", y + 4.0, 1);
        number.attr("text-anchor", "end").text(tick);
        svg.line();
    }
    let unit = svg.element("text").attr("x", (LEFT + WIDTH - RIGHT) / 2.0);
    let unit = unit.attr("y", BOTTOM + 32.0);
    unit.attr("text-anchor", "middle").text("cycles");
    svg.line();
    upwards(svg, 16.0, (TOP + BOTTOM) / 2.0, "resident warps");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_an_area_for_each_size_that_occurs() {
        let mut sizes = Sizes::default();
        for slot in 0..8 {
            sizes.set(0, 0, slot, 8);
            sizes.set(50, 0, slot, if slot < 4 { 4 } else { 1 });
        }
        sizes.finish(100);
        let picture = svg(&sizes, "k <on> vws");
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("k &lt;on&gt; vws"));
        let count = |class: &str| picture.matches(&format!("<path class=\"{class}\"")).count();
        assert_eq!(["g8", "g5", "g4", "g2", "g1"].map(count), [1, 0, 1, 0, 1]);
    }
}
