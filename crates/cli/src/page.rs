//! What the pictures of a run have in common: the page with its title, the keys of a legend, and round
//! numbers along an axis.

use std::fmt::Display;
use warpsim_present::svg::Svg;

/// Colours in light and in dark that every picture uses.
const STYLE: &str = "
text { font: 11px sans-serif; fill: #333 }
.title { font-size: 14px; font-weight: bold }
.grid { stroke: #ddd; stroke-width: 1 }
.page { fill: #fff } .key { stroke: #bbb }
@media (prefers-color-scheme: dark) {
text { fill: #d6dae2 }
.grid { stroke: #2f3746 }
.page { fill: #11151d } .key { stroke: #586172 }
}
";

/// A document of this width and height, with `style` after what all have, and a title.
pub fn page(
    [width, height]: [f64; 2],
    style: &str,
    title: impl Display,
    draw: impl FnOnce(&mut Svg),
) -> String {
    let mut out = Svg::document(
        &[
            ("width", &format_args!("{width:.0}")),
            ("height", &format_args!("{height:.0}")),
            ("viewBox", &format_args!("0 0 {width:.0} {height:.0}")),
        ],
        |svg| {
            svg.line().style(&format!("{STYLE}{style}"));
            let page = svg.line().element("rect");
            let page = page.attr("width", "100%").attr("height", "100%");
            page.attr("class", "page").empty();
            let heading = svg.line().element("text").attr("x", 12).attr("y", 22);
            heading.attr("class", "title").text(title);
            svg.line();
            draw(svg);
        },
    );
    out.push('\n');
    out
}

/// A key of the legend: what is filled like `class` is called `text`.
pub fn key(svg: &mut Svg, x: f64, class: impl Display, text: &str) {
    svg.element("rect")
        .attr("x", x)
        .attr("y", 34)
        .attr("width", 16)
        .attr("height", 8)
        .attr("class", format_args!("{class} key"))
        .empty();
    svg.element("text")
        .attr("x", x + 22.0)
        .attr("y", 42)
        .text(text);
    svg.line();
}

/// A round step for some `ticks` of them over a range.
pub fn round_step(range: f64, ticks: f64) -> f64 {
    let rough = (range / ticks).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    steps.into_iter().find(|s| *s >= rough).unwrap_or(rough)
}

/// Round numbers of cycles, some eight of them.
pub fn cycles(from: u64, to: u64) -> impl Iterator<Item = u64> {
    let step = round_step(to.saturating_sub(from) as f64, 8.0).max(1.0) as u64;
    (from.div_ceil(step) * step..=to).step_by(step as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        assert_eq!(
            cycles(0, 80).collect::<Vec<_>>(),
            [0, 10, 20, 30, 40, 50, 60, 70, 80]
        );
        assert_eq!(
            cycles(1_010, 1_900).collect::<Vec<_>>(),
            [1_200, 1_400, 1_600, 1_800]
        );
        assert_eq!(cycles(3, 3).collect::<Vec<_>>(), [3]);
        assert_eq!(round_step(42.0, 5.0), 10.0);
        assert_eq!(round_step(0.9, 5.0), 0.2);
    }

    #[test]
    fn a_page_has_its_title_and_both_styles() {
        let page = page([10.0, 20.0], ".a { fill: red }", "a < b", |svg| {
            key(svg, 1.0, "a", "things")
        });
        assert!(page.starts_with("<svg") && page.ends_with("</svg>\n"));
        assert!(page.contains(">a &lt; b</text>") && page.contains("class=\"a key\""));
        assert!(page.contains(".page { fill: #11151d }") && page.contains(".a { fill: red }"));
    }
}
