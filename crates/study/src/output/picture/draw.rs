//! A chart as SVG.

use super::axis::{Axis, axis};
use super::chart::{Bar, Chart, Cluster};
use super::colour::Paint;
use super::layout::{LETTER, Layout, shortened, wrapped};
use super::legend::{legend, painted};
use super::pattern::Patterns;
use crate::words;
use warpsim_present::svg::Svg;

const LEFT: f64 = 76.0;
const RIGHT: f64 = 10.0;
/// Height of the bars' field, and of what is above and below it.
const FIELD: f64 = 210.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 34.0;
/// More above for names of groups that do not fit behind one another.
const HEADING: f64 = 13.0;
/// Letters of a workload's name at most; the pointer shows the others.
const LABEL: usize = 22;
/// Space between clusters, in bars.
const GAP: f64 = 1.1;
const WIDEST_BAR: f64 = 42.0;

/// The picture, in colours of the page it stands on; `style` is for one that stands alone.
pub fn draw(chart: &Chart, layout: &Layout, style: Option<&str>) -> String {
    let width = layout.width;
    let rows = rows(&chart.clusters, layout);
    let patterns = Patterns::new(&format!("{}{}", layout.class, chart.number));
    let (legend, legend_height) = legend(chart, &patterns, [LEFT, RIGHT], width);
    let tilted = rows.iter().any(|row| crowded(row, width));
    let below = if tilted { tilted_height(chart) } else { BELOW };
    let headings: Vec<_> = rows.iter().map(|row| headings(row, width)).collect();
    let levels = headings.iter().flatten().map(|h| h.level).max();
    let above = ABOVE + HEADING * levels.unwrap_or(0) as f64;
    let height = legend_height + rows.len() as f64 * (above + FIELD + below);
    layout.picture(height, &chart.title, style, |svg| {
        patterns.define(svg, paints(chart));
        svg.append(&legend);
        let scale = axis(heights(chart), chart.baseline);
        for (i, (row, headings)) in rows.iter().zip(&headings).enumerate() {
            let top = legend_height + above + i as f64 * (above + FIELD + below);
            let mut field = Field {
                chart,
                scale: &scale,
                patterns: &patterns,
                width,
                top,
                svg,
            };
            field.lines();
            field.title();
            headings.iter().for_each(|h| field.heading(h));
            field.clusters(row, tilted);
            field.base();
        }
    })
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
fn rows<'a>(clusters: &'a [Cluster], layout: &Layout) -> Vec<&'a [Cluster]> {
    let all: usize = clusters.iter().map(|c| c.bars.len()).sum();
    let rows = all.div_ceil(layout.bars_per_row).max(1);
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
fn slot(clusters: &[Cluster], width: f64) -> f64 {
    let bars: f64 = clusters.iter().map(|c| c.bars.len() as f64 + GAP).sum();
    ((width - LEFT - RIGHT) / bars.max(1.0)).min(WIDEST_BAR)
}

/// Whether some name is wider than its bars.
fn crowded(clusters: &[Cluster], width: f64) -> bool {
    let slot = slot(clusters, width);
    clusters.iter().any(|c| {
        let room = (c.bars.len() as f64 + GAP) * slot;
        room < shown_letters(c) as f64 * LETTER + 4.0
    })
}

fn shown_letters(cluster: &Cluster) -> usize {
    cluster.label.chars().count().min(LABEL)
}

/// What names that are turned take below the bars.
fn tilted_height(chart: &Chart) -> f64 {
    let longest = chart.clusters.iter().map(shown_letters).max();
    34.0 + longest.unwrap_or(0) as f64 * LETTER * TURN.to_radians().sin()
}

/// By how much names are turned.
const TURN: f64 = 35.0;

/// The name of a group of workloads, above the first of them.
struct Heading<'a> {
    text: &'a str,
    x: f64,
    /// Names that would run into the one before them go above it.
    level: usize,
}

fn headings(clusters: &[Cluster], width: f64) -> Vec<Heading<'_>> {
    let slot = slot(clusters, width);
    let mut x = LEFT;
    // Where the names of each level end.
    let mut ends: Vec<f64> = Vec::new();
    let mut headings = Vec::new();
    for cluster in clusters {
        if let Some(text) = &cluster.heading {
            let level = ends.iter().position(|end| *end <= x);
            let level = level.unwrap_or_else(|| {
                ends.push(0.0);
                ends.len() - 1
            });
            ends[level] = x + 10.0 + text.chars().count() as f64 * LETTER * 0.92;
            headings.push(Heading { text, x, level });
        }
        x += (cluster.bars.len() as f64 + GAP) * slot;
    }
    headings
}

/// Everything that is painted.
fn paints(chart: &Chart) -> impl Iterator<Item = Paint> + '_ {
    let bars = chart.clusters.iter().flat_map(|c| &c.bars);
    let bars = bars.flat_map(|b| &b.layers).map(|(_, paint)| *paint);
    bars.chain(chart.legend.iter().map(|entry| entry.paint))
}

/// A row of bars.
struct Field<'a> {
    chart: &'a Chart,
    scale: &'a Axis,
    patterns: &'a Patterns,
    width: f64,
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

    /// What goes up, beside the scale; long ones in two lines.
    fn title(&mut self) {
        let lines = wrapped(&self.chart.axis, FIELD * 1.1);
        let y = self.top + FIELD / 2.0;
        for (i, line) in lines.iter().take(2).enumerate() {
            let x = if lines.len() == 1 { 16.0 } else { 11.0 } + 13.0 * i as f64;
            let line = match i == 1 && lines.len() > 2 {
                true => format!("{line}\u{2026}"),
                false => line.clone(),
            };
            let text = self.svg.element("text").fixed("x", x, 1).fixed("y", y, 1);
            let text = text.attr("text-anchor", "middle").attr("font-size", 11);
            let text = text.attr("transform", format_args!("rotate(-90 {x:.1} {y:.1})"));
            text.attr("fill", "var(--soft)").text(line);
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
            .attr("x2", self.width - RIGHT)
            .fixed("y1", y, 1)
            .fixed("y2", y, 1)
            .attr("stroke", colour)
            .empty();
    }

    fn clusters(&mut self, clusters: &[Cluster], tilted: bool) {
        let slot = slot(clusters, self.width);
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
        for (i, bar) in cluster.bars.iter().enumerate() {
            self.bar(bar, x + i as f64 * slot, slot);
        }
        self.label(cluster, x + width / 2.0, tilted);
    }

    fn heading(&mut self, heading: &Heading) {
        let x = heading.x;
        let up = HEADING * heading.level as f64;
        self.svg
            .element("line")
            .fixed("x1", x, 1)
            .fixed("x2", x, 1)
            .fixed("y1", self.top - 14.0 - up, 1)
            .fixed("y2", self.top + FIELD, 1)
            .attr("stroke", "var(--faint)")
            .empty();
        // What would leave the picture ends at its edge.
        let letters = heading.text.chars().count() as f64;
        let wide = heading.x + 4.0 + letters * LETTER * 0.92 > self.width;
        let (x, anchor) = match wide {
            true => (self.width - 2.0, "end"),
            false => (heading.x + 4.0, "start"),
        };
        self.svg
            .element("text")
            .fixed("x", x, 1)
            .fixed("y", self.top - 6.0 - up, 1)
            .attr("text-anchor", anchor)
            .attr("font-size", 11)
            .attr("fill", "var(--soft)")
            .text(heading.text);
    }

    fn label(&mut self, cluster: &Cluster, x: f64, tilted: bool) {
        let y = self.top + FIELD + 17.0;
        let numbered = cluster.bars.iter().any(|b| b.number.is_some());
        let y = if numbered { y + 9.0 } else { y };
        let anchor = if tilted { "end" } else { "middle" };
        let turn = tilted.then(|| format!("rotate(-{TURN} {x:.1} {y:.1})"));
        self.svg
            .element("text")
            .fixed("x", x, 1)
            .fixed("y", y, 1)
            .attr("text-anchor", anchor)
            .optional("transform", turn)
            .optional("font-weight", cluster.strong.then_some(600))
            .attr("fill", "var(--ink)")
            .text(shortened(&cluster.label, LABEL));
    }

    fn bar(&mut self, bar: &Bar, x: f64, slot: f64) {
        let (top, baseline, patterns) = (self.top, self.chart.baseline, self.patterns);
        let mut rectangles = Vec::new();
        // Stacks begin at zero; a single bar at the baseline.
        let stacked = bar.layers.len() > 1;
        let mut from = if stacked { 0.0 } else { baseline };
        for (value, paint) in &bar.layers {
            let to = if stacked { from + value } else { *value };
            let (a, b) = (self.y(from), self.y(to));
            rectangles.push((a.min(b), (a - b).abs(), *paint));
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
            for (top, height, paint) in rectangles {
                let layer = svg
                    .element("rect")
                    .fixed("x", x + slot * 0.06, 1)
                    .fixed("y", top, 1)
                    .fixed("width", slot * 0.88, 1)
                    .fixed("height", height, 1);
                painted(layer, patterns, paint, bar.outlined).empty();
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
