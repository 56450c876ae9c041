//! A chart as SVG.

use super::axis::{Axis, axis};
use super::chart::{Bar, Chart, Cluster};
use super::colour::Hue;
use crate::words;
use warpsim_present::svg::{Element, Svg};

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

/// The picture, in colours of the page it stands on; `style` is for one that stands alone.
pub fn draw(chart: &Chart, style: Option<&str>) -> String {
    let rows = rows(&chart.clusters);
    let (legend, legend_height) = legend(chart);
    let tilted = rows.iter().any(|row| crowded(row));
    let below = if tilted { BELOW_TILTED } else { BELOW };
    let height = legend_height + rows.len() as f64 * (ABOVE + FIELD + below);
    Svg::document(
        &[
            ("viewBox", &format_args!("0 0 {WIDTH} {height:.0}")),
            ("width", &WIDTH),
            ("height", &format_args!("{height:.0}")),
            ("role", &"img"),
            ("font-family", &"system-ui,sans-serif"),
            ("font-size", &12),
        ],
        |svg| {
            if let Some(style) = style {
                svg.style(style);
            }
            svg.element("title").text(&chart.title);
            svg.append(&legend);
            let scale = axis(heights(chart), chart.baseline);
            for (i, row) in rows.iter().enumerate() {
                let top = legend_height + ABOVE + i as f64 * (ABOVE + FIELD + below);
                let mut field = Field {
                    chart,
                    scale: &scale,
                    top,
                    svg,
                };
                field.lines();
                field.clusters(row, tilted);
                field.base();
            }
        },
    )
}

/// Where bars end.
fn heights(chart: &Chart) -> impl Iterator<Item = f64> + '_ {
    let bars = chart.clusters.iter().flat_map(|c| &c.bars);
    bars.filter(|b| !b.layers.is_empty()).flat_map(|b| {
        let top: f64 = b.layers.iter().map(|l| l.0).sum();
        let (low, high) = b.range.unwrap_or((top, top));
        [top, low, high]
    })
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

fn legend(chart: &Chart) -> (Svg, f64) {
    let mut svg = Svg::new();
    let (mut x, mut y) = (LEFT, 8.0);
    for entry in &chart.legend {
        let width = 32.0 + entry.title.chars().count() as f64 * LETTER;
        if x + width > WIDTH - RIGHT && x > LEFT {
            (x, y) = (LEFT, y + 18.0);
        }
        let patch = svg.element("rect").fixed("x", x, 1).fixed("y", y, 1);
        let patch = patch.attr("width", 11).attr("height", 11).attr("rx", 2);
        painted(patch, entry.hue, entry.strength, entry.outlined).empty();
        svg.element("text")
            .fixed("x", x + 16.0, 1)
            .fixed("y", y + 10.0, 1)
            .attr("fill", "var(--ink)")
            .text(&entry.title);
        x += width;
    }
    y += 18.0;
    if !chart.remark.is_empty() {
        svg.element("text")
            .attr("x", LEFT)
            .fixed("y", y + 10.0, 1)
            .attr("fill", "var(--soft)")
            .text(&chart.remark);
        y += 18.0;
    }
    (svg, y)
}

fn painted(element: Element<'_>, hue: Hue, strength: f64, outlined: bool) -> Element<'_> {
    let colour = hue.paint();
    let element = element.attr("fill", &colour);
    if outlined {
        element
            .attr("fill-opacity", ".12")
            .attr("stroke", &colour)
            .attr("stroke-width", 1.4)
            .attr("stroke-dasharray", "3 2")
    } else if strength < 1.0 {
        element.fixed("fill-opacity", strength, 2)
    } else {
        element
    }
}

/// A row of bars.
struct Field<'a> {
    chart: &'a Chart,
    scale: &'a Axis,
    top: f64,
    svg: &'a mut Svg,
}

impl Field<'_> {
    fn y(&self, value: f64) -> f64 {
        let share = (value - self.scale.low) / (self.scale.high - self.scale.low);
        self.top + FIELD * (1.0 - share)
    }

    fn lines(&mut self) {
        for tick in &self.scale.ticks {
            let y = self.y(*tick);
            self.across(y, "var(--faint)");
            self.svg
                .element("text")
                .attr("x", LEFT - 7.0)
                .fixed("y", y + 4.0, 1)
                .attr("text-anchor", "end")
                .attr("font-size", 11)
                .attr("fill", "var(--soft)")
                .text(words::tick(self.chart.display, *tick));
        }
    }

    fn base(&mut self) {
        let y = self.y(self.chart.baseline);
        self.across(y, "var(--soft)");
    }

    fn across(&mut self, y: f64, colour: &str) {
        self.svg
            .element("line")
            .attr("x1", LEFT)
            .attr("x2", WIDTH - RIGHT)
            .fixed("y1", y, 1)
            .fixed("y2", y, 1)
            .attr("stroke", colour)
            .empty();
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
            self.svg
                .element("rect")
                .fixed("x", x - margin, 1)
                .fixed("y", self.top, 1)
                .fixed("width", width + 2.0 * margin, 1)
                .attr("height", FIELD)
                .attr("fill", "var(--soft)")
                .attr("fill-opacity", ".09")
                .empty();
        }
        if let Some(heading) = &cluster.heading {
            self.heading(heading, x - margin);
        }
        for (i, bar) in cluster.bars.iter().enumerate() {
            self.bar(bar, x + i as f64 * slot, slot);
        }
        self.label(cluster, x + width / 2.0, tilted);
    }

    fn heading(&mut self, heading: &str, x: f64) {
        self.svg
            .element("line")
            .fixed("x1", x, 1)
            .fixed("x2", x, 1)
            .fixed("y1", self.top - 14.0, 1)
            .fixed("y2", self.top + FIELD, 1)
            .attr("stroke", "var(--faint)")
            .empty();
        self.svg
            .element("text")
            .fixed("x", x + 4.0, 1)
            .fixed("y", self.top - 6.0, 1)
            .attr("font-size", 11)
            .attr("fill", "var(--soft)")
            .text(heading);
    }

    fn label(&mut self, cluster: &Cluster, x: f64, tilted: bool) {
        let y = self.top + FIELD + 17.0;
        let numbered = cluster.bars.iter().any(|b| b.number.is_some());
        let y = if numbered { y + 9.0 } else { y };
        let anchor = if tilted { "end" } else { "middle" };
        let turn = tilted.then(|| format!("rotate(-35 {x:.1} {y:.1})"));
        self.svg
            .element("text")
            .fixed("x", x, 1)
            .fixed("y", y, 1)
            .attr("text-anchor", anchor)
            .optional("transform", turn)
            .optional("font-weight", cluster.strong.then_some(600))
            .attr("fill", "var(--ink)")
            .text(&cluster.label);
    }

    fn bar(&mut self, bar: &Bar, x: f64, slot: f64) {
        let (top, baseline) = (self.top, self.chart.baseline);
        let mut rectangles = Vec::new();
        // Stacks begin at zero; a single bar at the baseline.
        let stacked = bar.layers.len() > 1;
        let mut from = if stacked { 0.0 } else { baseline };
        for (value, hue, strength) in &bar.layers {
            let to = if stacked { from + value } else { *value };
            let (a, b) = (self.y(from), self.y(to));
            rectangles.push((a.min(b), (a - b).abs(), *hue, *strength));
            from = to;
        }
        let cross = self.y(baseline) - 4.0;
        let ends = bar.range.map(|(low, high)| (self.y(low), self.y(high)));
        self.svg.element("g").content(|svg| {
            svg.element("title").text(&bar.tooltip);
            if bar.failed {
                svg.element("text")
                    .fixed("x", x + slot / 2.0, 1)
                    .fixed("y", cross, 1)
                    .attr("text-anchor", "middle")
                    .attr("font-weight", 700)
                    .attr("fill", "var(--bad)")
                    .text('\u{d7}');
            }
            for (top, height, hue, strength) in rectangles {
                let layer = svg
                    .element("rect")
                    .fixed("x", x + slot * 0.06, 1)
                    .fixed("y", top, 1)
                    .fixed("width", slot * 0.88, 1)
                    .fixed("height", height, 1);
                painted(layer, hue, strength, bar.outlined).empty();
            }
            if let Some((low, high)) = ends {
                error_mark(svg, x + slot / 2.0, (slot * 0.22).min(5.0), low, high);
            }
            if let Some(number) = bar.number {
                svg.element("text")
                    .fixed("x", x + slot / 2.0, 1)
                    .fixed("y", top + FIELD + 11.0, 1)
                    .attr("text-anchor", "middle")
                    .attr("font-size", 9)
                    .attr("fill", "var(--soft)")
                    .text(number);
            }
        });
    }
}

/// The lowest and the highest repeat: a line with an end at each.
fn error_mark(svg: &mut Svg, x: f64, half: f64, low: f64, high: f64) {
    let lines = [
        (x, low, x, high),
        (x - half, low, x + half, low),
        (x - half, high, x + half, high),
    ];
    for (x1, y1, x2, y2) in lines {
        svg.element("line")
            .attr("class", "repeats")
            .fixed("x1", x1, 1)
            .fixed("y1", y1, 1)
            .fixed("x2", x2, 1)
            .fixed("y2", y2, 1)
            .attr("stroke", "var(--ink)")
            .attr("stroke-width", "1.2")
            .empty();
    }
}
