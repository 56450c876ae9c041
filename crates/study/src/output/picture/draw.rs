//! A chart as SVG.

use super::axis::{Axis, axis};
use super::chart::{Bar, Chart, Cluster};
use super::escaped;
use crate::words;
use std::fmt::Write;

const WIDTH: f64 = 1080.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 10.0;
/// Height of the bars' field, and of what is above and below it.
const FIELD: f64 = 210.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 34.0;
/// More of it for names that do not fit side by side.
const BELOW_TILTED: f64 = 78.0;
/// Bars side by side before another row begins.
const BARS_A_ROW: usize = 120;
/// Space between clusters, in bars.
const GAP: f64 = 1.1;
const WIDEST_BAR: f64 = 42.0;
/// Width of a letter, as far as can be told without the font.
const LETTER: f64 = 6.7;

// Writing to a String cannot fail, hence the ignored results below.

/// The picture, in colours of the page it stands on.
pub fn draw(chart: &Chart) -> String {
    let rows = rows(&chart.clusters);
    let (legend, legend_height) = legend(chart);
    let tilted = rows.iter().any(|row| crowded(row));
    let below = if tilted { BELOW_TILTED } else { BELOW };
    let height = legend_height + rows.len() as f64 * (ABOVE + FIELD + below);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\">\
         <title>{}</title>{legend}",
        escaped(&chart.title)
    );
    let scale = axis(heights(chart), chart.baseline);
    for (i, row) in rows.iter().enumerate() {
        let top = legend_height + ABOVE + i as f64 * (ABOVE + FIELD + below);
        let mut field = Field {
            chart,
            scale: &scale,
            top,
            out: &mut out,
        };
        field.lines();
        field.clusters(row, tilted);
        field.base();
    }
    out += "</svg>";
    out
}

/// Where bars end.
fn heights(chart: &Chart) -> impl Iterator<Item = f64> + '_ {
    let bars = chart.clusters.iter().flat_map(|c| &c.bars);
    bars.filter(|b| !b.layers.is_empty())
        .map(|b| b.layers.iter().map(|l| l.0).sum())
}

/// Clusters in rows, so that bars stay wide enough to see.
fn rows(clusters: &[Cluster]) -> Vec<&[Cluster]> {
    let all: usize = clusters.iter().map(|c| c.bars.len()).sum();
    let rows = all.div_ceil(BARS_A_ROW).max(1);
    let share = all.div_ceil(rows);
    let mut out = Vec::new();
    let (mut start, mut bars) = (0, 0);
    for (i, cluster) in clusters.iter().enumerate() {
        if bars > 0 && bars + cluster.bars.len() > share {
            out.push(&clusters[start..i]);
            (start, bars) = (i, 0);
        }
        bars += cluster.bars.len();
    }
    out.push(&clusters[start..]);
    out
}

/// The width of a bar with its share of the space around it.
fn slot(clusters: &[Cluster]) -> f64 {
    let bars: f64 = clusters.iter().map(|c| c.bars.len() as f64 + GAP).sum();
    ((WIDTH - LEFT - RIGHT) / bars.max(1.0)).min(WIDEST_BAR)
}

/// Whether some name is wider than its bars.
fn crowded(clusters: &[Cluster]) -> bool {
    let slot = slot(clusters);
    clusters.iter().any(|c| {
        let room = (c.bars.len() as f64 + GAP) * slot;
        room < c.label.chars().count() as f64 * LETTER + 4.0
    })
}

fn legend(chart: &Chart) -> (String, f64) {
    let mut out = String::new();
    let (mut x, mut y) = (LEFT, 8.0);
    for entry in &chart.legend {
        let width = 32.0 + entry.title.chars().count() as f64 * LETTER;
        if x + width > WIDTH - RIGHT && x > LEFT {
            (x, y) = (LEFT, y + 18.0);
        }
        let _ = write!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"11\" height=\"11\" rx=\"2\" {}/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"var(--ink)\">{}</text>",
            paint(&entry.hue.paint(), entry.strength, entry.outlined),
            x + 16.0,
            y + 10.0,
            escaped(&entry.title)
        );
        x += width;
    }
    y += 18.0;
    if !chart.remark.is_empty() {
        let _ = write!(
            out,
            "<text x=\"{LEFT}\" y=\"{:.1}\" fill=\"var(--soft)\">{}</text>",
            y + 10.0,
            escaped(&chart.remark)
        );
        y += 18.0;
    }
    (out, y)
}

fn paint(colour: &str, strength: f64, outlined: bool) -> String {
    if outlined {
        format!(
            "fill=\"{colour}\" fill-opacity=\".12\" stroke=\"{colour}\" stroke-width=\"1.4\" stroke-dasharray=\"3 2\""
        )
    } else if strength < 1.0 {
        format!("fill=\"{colour}\" fill-opacity=\"{strength:.2}\"")
    } else {
        format!("fill=\"{colour}\"")
    }
}

/// A row of bars.
struct Field<'a> {
    chart: &'a Chart,
    scale: &'a Axis,
    top: f64,
    out: &'a mut String,
}

impl Field<'_> {
    fn y(&self, value: f64) -> f64 {
        let share = (value - self.scale.low) / (self.scale.high - self.scale.low);
        self.top + FIELD * (1.0 - share)
    }

    fn lines(&mut self) {
        for tick in &self.scale.ticks {
            let y = self.y(*tick);
            let _ = write!(
                self.out,
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"var(--faint)\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\" fill=\"var(--soft)\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                y + 4.0,
                words::tick(self.chart.display, *tick)
            );
        }
    }

    fn base(&mut self) {
        let y = self.y(self.chart.baseline);
        let _ = write!(
            self.out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"var(--soft)\"/>",
            WIDTH - RIGHT
        );
    }

    fn clusters(&mut self, clusters: &[Cluster], tilted: bool) {
        let slot = slot(clusters);
        let mut x = LEFT + GAP * slot / 2.0;
        for cluster in clusters {
            self.cluster(cluster, x, slot, tilted);
            x += (cluster.bars.len() as f64 + GAP) * slot;
        }
    }

    fn cluster(&mut self, cluster: &Cluster, x: f64, slot: f64, tilted: bool) {
        let width = cluster.bars.len() as f64 * slot;
        let margin = GAP * slot / 2.0;
        if cluster.strong {
            let _ = write!(
                self.out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{FIELD}\" fill=\"var(--soft)\" fill-opacity=\".09\"/>",
                x - margin,
                self.top,
                width + 2.0 * margin
            );
        }
        if let Some(heading) = &cluster.heading {
            let _ = write!(
                self.out,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"var(--faint)\"/>\
                 <text x=\"{3:.1}\" y=\"{4:.1}\" font-size=\"11\" fill=\"var(--soft)\">{5}</text>",
                x - margin,
                self.top - 14.0,
                self.top + FIELD,
                x - margin + 4.0,
                self.top - 6.0,
                escaped(heading)
            );
        }
        for (i, bar) in cluster.bars.iter().enumerate() {
            self.bar(bar, x + i as f64 * slot, slot);
        }
        let (cx, cy) = (x + width / 2.0, self.top + FIELD + 17.0);
        let numbered = cluster.bars.iter().any(|b| b.number.is_some());
        let cy = if numbered { cy + 9.0 } else { cy };
        let place = if tilted {
            format!("text-anchor=\"end\" transform=\"rotate(-35 {cx:.1} {cy:.1})\"")
        } else {
            "text-anchor=\"middle\"".to_string()
        };
        let weight = if cluster.strong {
            " font-weight=\"600\""
        } else {
            ""
        };
        let _ = write!(
            self.out,
            "<text x=\"{cx:.1}\" y=\"{cy:.1}\" {place}{weight} fill=\"var(--ink)\">{}</text>",
            escaped(&cluster.label)
        );
    }

    fn bar(&mut self, bar: &Bar, x: f64, slot: f64) {
        let _ = write!(self.out, "<g><title>{}</title>", escaped(&bar.tooltip));
        let (left, width) = (x + slot * 0.06, slot * 0.88);
        if bar.failed {
            let y = self.y(self.chart.baseline);
            let _ = write!(
                self.out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"700\" fill=\"var(--bad)\">\u{d7}</text>",
                x + slot / 2.0,
                y - 4.0
            );
        }
        // Stacks begin at zero; a single bar at the baseline.
        let mut from = if bar.layers.len() > 1 {
            0.0
        } else {
            self.chart.baseline
        };
        let stacked = bar.layers.len() > 1;
        for (value, hue, strength) in &bar.layers {
            let to = if stacked { from + value } else { *value };
            let (a, b) = (self.y(from), self.y(to));
            let (top, height) = (a.min(b), (a - b).abs());
            let _ = write!(
                self.out,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {}/>",
                paint(&hue.paint(), *strength, bar.outlined)
            );
            from = to;
        }
        if let Some(number) = bar.number {
            let _ = write!(
                self.out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\" fill=\"var(--soft)\">{number}</text>",
                x + slot / 2.0,
                self.top + FIELD + 11.0
            );
        }
        *self.out += "</g>";
    }
}
