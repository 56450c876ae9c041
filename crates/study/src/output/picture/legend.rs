//! The legend of a chart, and how it and the bars are painted.

use super::chart::Chart;
use super::colour::Paint;
use super::layout::{LETTER, wrapped};
use super::pattern::Patterns;
use warpsim_present::svg::{Element, Svg};

/// The legend and how high it is; the field below it has so much room on its left and right.
pub fn legend(
    chart: &Chart,
    patterns: &Patterns,
    [left, right]: [f64; 2],
    page: f64,
) -> (Svg, f64) {
    let mut svg = Svg::new();
    // Where there is little room the legend takes that of the axis too.
    let left = if page < 500.0 { right } else { left };
    let (mut x, mut y) = (left, 8.0);
    for entry in &chart.legend {
        let width = 32.0 + entry.title.chars().count() as f64 * LETTER;
        if x + width > page - right && x > left {
            (x, y) = (left, y + 18.0);
        }
        let patch = svg.element("rect").fixed("x", x, 1).fixed("y", y, 1);
        let patch = patch.attr("width", 11).attr("height", 11).attr("rx", 2);
        painted(patch, patterns, entry.paint, entry.outlined).empty();
        svg.element("text")
            .fixed("x", x + 16.0, 1)
            .fixed("y", y + 10.0, 1)
            .attr("fill", "var(--ink)")
            .text(&entry.title);
        x += width;
    }
    y += 18.0;
    for line in wrapped(&chart.remark, page - left - right) {
        svg.element("text")
            .attr("x", left)
            .fixed("y", y + 10.0, 1)
            .attr("fill", "var(--soft)")
            .text(line);
        y += 18.0;
    }
    (svg, y)
}

/// An element in its colour and pattern; the paper's values are outlined.
pub fn painted<'s>(
    element: Element<'s>,
    patterns: &Patterns,
    paint: Paint,
    outlined: bool,
) -> Element<'s> {
    let element = patterns.fill(element, paint);
    if outlined {
        element
            .attr("fill-opacity", ".2")
            .attr("stroke", paint.hue.paint())
            .attr("stroke-width", 1.4)
            .attr("stroke-dasharray", "3 2")
    } else if paint.strength < 1.0 {
        element.fixed("fill-opacity", paint.strength, 2)
    } else {
        element
    }
}
