//! Power over time as a picture: the parts on top of one another, time to the right.

use super::{PARTS, Sample};
use crate::pictures::page::{Head, cycles, page, round_step, upwards};
use std::fmt::Write;
use warpsim_present::palette::Hue;
use warpsim_present::svg::Svg;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 46.0;
/// Steps drawn at most: more are not seen.
const STEPS: usize = 1200;

/// A colour for each of the parts, in their order.
const RULES: [(&str, &str, Hue); PARTS.len()] = [
    (".p0", "fill", Hue("c9")),
    (".p1", "fill", Hue("c5")),
    (".p2", "fill", Hue("c0")),
    (".p3", "fill", Hue("c3")),
    (".p4", "fill", Hue("c1")),
    (".p5", "fill", Hue("c4")),
    (".p6", "fill", Hue("c8")),
    (".p7", "fill", Hue("c2")),
];

/// `samples` as an SVG document; `setting` says what they are of.
pub fn svg(samples: &[Sample], setting: &str) -> String {
    if samples.len() > STEPS {
        return svg(&super::halved(samples), setting);
    }
    let scale = Scale::of(samples);
    let named = RULES.iter().zip(PARTS);
    let legend: Vec<(&str, &str)> = named
        .map(|(rule, part)| (rule.0.trim_start_matches('.'), part.name))
        .collect();
    let head = Head {
        title: format!("Power over time: {setting}"),
        legend: &legend,
        rules: &RULES,
        style: "",
    };
    page([WIDTH, HEIGHT], &head, |svg| {
        axes(svg, &scale);
        for part in 0..PARTS.len() {
            let area = svg.line().element("path");
            let area = area.attr("class", format_args!("p{part}"));
            area.attr("d", outline(samples, part, &scale)).empty();
        }
    })
}

struct Scale {
    from: u64,
    to: u64,
    watts: f64,
}

impl Scale {
    fn of(samples: &[Sample]) -> Scale {
        let from = samples.first().map_or(0, |s| s.from);
        let to = samples.last().map_or(0, |s| s.to).max(from + 1);
        let sums = samples.iter().map(|s| s.watts.iter().sum::<f64>());
        Scale {
            from,
            to,
            watts: sums.fold(1.0, f64::max),
        }
    }

    fn x(&self, cycle: u64) -> f64 {
        let part = (cycle - self.from) as f64 / (self.to - self.from) as f64;
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, watts: f64) -> f64 {
        HEIGHT - BOTTOM - watts / self.watts * (HEIGHT - BOTTOM - TOP)
    }
}

fn axes(svg: &mut Svg, scale: &Scale) {
    let by = round_step(scale.watts, 5.0);
    let mut watts = 0.0;
    while watts <= scale.watts {
        let y = scale.y(watts);
        let line = svg.line().element("line").attr("class", "grid");
        let line = line.attr("x1", LEFT).attr("x2", WIDTH - RIGHT);
        line.fixed("y1", y, 1).fixed("y2", y, 1).empty();
        let label = svg.element("text").attr("x", LEFT - 6.0);
        let label = label.fixed("y", y + 4.0, 1).attr("text-anchor", "end");
        label.text(watts);
        watts += by;
    }
    for cycle in cycles(scale.from, scale.to) {
        let label = svg.line().element("text").fixed("x", scale.x(cycle), 1);
        let label = label.attr("y", HEIGHT - BOTTOM + 18.0);
        label.attr("text-anchor", "middle").text(cycle);
    }
    let label = svg.line().element("text").attr("x", WIDTH / 2.0);
    let label = label.attr("y", HEIGHT - 10.0).attr("text-anchor", "middle");
    label.text("core cycle");
    upwards(svg, 16.0, (TOP + HEIGHT - BOTTOM) / 2.0, "power (W)");
}

/// The area between what the parts up to this one take and what those before it take.
fn outline(samples: &[Sample], part: usize, scale: &Scale) -> String {
    let height = |s: &Sample, parts: usize| s.watts[..parts].iter().sum::<f64>();
    let mut path = String::new();
    let mut point = |x: f64, y: f64| {
        let sign = if path.is_empty() { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{sign}{x:.1} {y:.1}");
    };
    for s in samples {
        let y = scale.y(height(s, part + 1));
        point(scale.x(s.from), y);
        point(scale.x(s.to), y);
    }
    for s in samples.iter().rev() {
        let y = scale.y(height(s, part));
        point(scale.x(s.to), y);
        point(scale.x(s.from), y);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_stand_on_one_another() {
        let mut watts = vec![0.0; PARTS.len()];
        (watts[0], watts[2]) = (10.0, 30.0);
        let samples = [Sample {
            from: 0,
            to: 100,
            watts,
        }];
        let scale = Scale::of(&samples);
        let (floor, quarter, top) = (scale.y(0.0), scale.y(10.0), scale.y(40.0));
        let at = |y: f64| format!("{y:.1}");
        let first = outline(&samples, 0, &scale);
        assert!(first.contains(&at(floor)) && first.contains(&at(quarter)));
        let third = outline(&samples, 2, &scale);
        assert!(third.contains(&at(quarter)) && third.contains(&at(top)));
        let picture = svg(&samples, "a < b");
        assert!(picture.contains("Power over time: a &lt; b"));
        assert_eq!(picture.matches("<path").count(), PARTS.len());
        assert!(svg(&[], "nothing ran").contains("</svg>"));
    }
}
