//! What the pictures of a run have in common: the page with its title, the keys of a legend, and round
//! numbers along an axis.

use std::fmt::Display;
use warpsim_present::palette::{self, Hue};
use warpsim_present::svg::Svg;
use warpsim_present::wrapped;

const STYLE: &str = "
svg { max-width: 100%; height: auto }
text { font: 11px sans-serif }
.title { font-size: 14px; font-weight: bold }
.grid { stroke-width: 1 }
";

/// Colours that every picture uses, as rules of a style sheet.
const RULES: [(&str, &str, Hue); 5] = [
    ("text", "fill", Hue("ink")),
    (".soft", "fill", Hue("soft")),
    (".grid", "stroke", Hue("faint")),
    (".page", "fill", Hue("page")),
    (".key", "stroke", Hue("faint")),
];

/// Widths of a letter of the title and of everything else, as far as can be told without the font.
const TITLE_LETTER: f64 = 8.2;
const LETTER: f64 = 6.8;
const MARGIN: f64 = 12.0;
/// Height of a line of the title and of the legend.
const LINE: f64 = 18.0;

/// What is above a picture and what its classes look like.
pub struct Head<'a> {
    /// What it is of.
    pub title: String,
    /// Classes and what they stand for.
    pub legend: &'a [(&'a str, &'a str)],
    /// Rules of the style sheet: selectors, properties, colours.
    pub rules: &'a [(&'a str, &'a str, Hue)],
    /// More rules, without colours.
    pub style: &'a str,
}

/// A document of this width and height. What `draw` draws is moved down as far as the title and the legend
/// take more than a line each, which it leaves room for.
pub fn page([width, height]: [f64; 2], head: &Head, draw: impl FnOnce(&mut Svg)) -> String {
    let title = wrapped(
        &head.title,
        ((width - 2.0 * MARGIN) / TITLE_LETTER) as usize,
    );
    let (keys, rows) = keys(head.legend, width);
    let more = LINE * (title.len().max(1) + rows.max(1) - 2) as f64;
    let height = height + more;
    let mut rules = RULES.to_vec();
    rules.extend(head.rules);
    let style = format!("{STYLE}{}{}", palette::rules(&rules), head.style);
    let mut out = Svg::document(
        &[
            ("width", &format_args!("{width:.0}")),
            ("height", &format_args!("{height:.0}")),
            ("viewBox", &format_args!("0 0 {width:.0} {height:.0}")),
        ],
        |svg| {
            svg.line().style(&style);
            let page = svg.line().element("rect");
            let page = page.attr("width", "100%").attr("height", "100%");
            page.attr("class", "page").empty();
            for (i, line) in title.iter().enumerate() {
                let y = 22.0 + LINE * i as f64;
                let heading = svg.line().element("text").attr("x", MARGIN);
                heading.attr("y", y).attr("class", "title").text(line);
            }
            let below = LINE * title.len().saturating_sub(1) as f64;
            for (x, row, class, text) in keys {
                key(svg, x, below + LINE * row as f64, class, text);
            }
            svg.line();
            if more > 0.0 {
                let moved = svg.element("g");
                let moved = moved.attr("transform", format_args!("translate(0 {more})"));
                moved.content(draw);
            } else {
                draw(svg);
            }
        },
    );
    out.push('\n');
    out
}

/// Where each key of a legend goes (x, row), side by side as far as the page is wide; and how many rows there are.
fn keys<'a>(
    legend: &[(&'a str, &'a str)],
    width: f64,
) -> (Vec<(f64, usize, &'a str, &'a str)>, usize) {
    let (mut x, mut row) = (MARGIN, 0);
    let mut keys = Vec::new();
    for (class, text) in legend {
        let wide = 38.0 + text.chars().count() as f64 * LETTER;
        if x > MARGIN && x + wide > width {
            (x, row) = (MARGIN, row + 1);
        }
        keys.push((x, row, *class, *text));
        x += wide;
    }
    (keys, row + 1)
}

/// A key of the legend: what is filled like `class` is called `text`.
fn key(svg: &mut Svg, x: f64, below: f64, class: &str, text: &str) {
    svg.line()
        .element("rect")
        .fixed("x", x, 1)
        .attr("y", 34.0 + below)
        .attr("width", 16)
        .attr("height", 8)
        .attr("class", format_args!("{class} key"))
        .empty();
    svg.element("text")
        .fixed("x", x + 22.0, 1)
        .attr("y", 42.0 + below)
        .text(text);
}

/// What an axis is of, beside its middle and upwards.
pub fn upwards(svg: &mut Svg, x: f64, middle: f64, text: impl Display) {
    let label = svg.line().element("text").fixed("x", x, 1);
    let label = label.fixed("y", middle, 1).attr("text-anchor", "middle");
    let turn = format_args!("rotate(-90 {x:.1} {middle:.1})");
    label
        .attr("class", "soft")
        .attr("transform", turn)
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
    fn a_page_has_its_title_and_its_colours() {
        let head = Head {
            title: "a < b".into(),
            legend: &[("a", "things")],
            rules: &[(".a", "fill", Hue("barrier"))],
            style: ".b { opacity: 1 }",
        };
        let page = page([100.0, 20.0], &head, |svg| upwards(svg, 1.0, 2.0, "W"));
        assert!(page.starts_with("<svg") && page.ends_with("</svg>\n"));
        assert!(page.contains(">a &lt; b</text>") && page.contains("class=\"a key\""));
        assert!(page.contains(".a { fill: #c8345e }") && page.contains(".b { opacity: 1 }"));
        assert!(page.contains("height=\"20\"") && !page.contains("translate"));
    }

    #[test]
    fn long_titles_and_legends_take_more_lines() {
        let head = Head {
            title: "one two three four five six seven eight nine ten".into(),
            legend: &[("a", "things that lie about"), ("b", "things that stand")],
            rules: &[],
            style: "",
        };
        let page = page([200.0, 100.0], &head, |_| {});
        // Three lines of title and two of legend, where there is room for one each.
        assert!(page.contains("translate(0 54)"), "{page}");
        assert!(page.contains("height=\"154\""), "{page}");
        let (keys, rows) = keys(head.legend, 200.0);
        assert_eq!((keys[1].0, keys[1].1, rows), (MARGIN, 1, 2));
    }
}
