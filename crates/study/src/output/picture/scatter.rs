//! A trade-off as SVG: a panel for each group, a point for each configuration with the lowest and the
//! highest repeat both ways, and a line through those that no other beats.

use super::axis::{Axis, axis};
use super::colour::{Colours, Paint};
use super::layout::{LETTER, Layout, wrapped};
use super::pattern::shape;
use crate::values::trade_off::{Panel, Point, Traded};
use crate::words;
use warpsim_present::svg::Svg;

/// Height of a panel's field, and what is around it.
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 72.0;
const ABOVE: f64 = 28.0;
const BELOW: f64 = 52.0;
/// Half of an error mark's end.
const END: f64 = 3.0;

/// The picture, in colours of the page it stands on; `style` is for one that stands alone.
pub fn draw(
    title: &str,
    traded: &Traded,
    colours: &Colours,
    layout: &Layout,
    style: Option<&str>,
) -> String {
    let width = layout.width;
    let (legend, legend_height) = legend(traded, colours, width);
    let rows = traded.panels.len().div_ceil(layout.panels_per_row);
    let step = ABOVE + HEIGHT + BELOW;
    let height = legend_height + rows as f64 * step;
    layout.picture(height, title, style, |svg| {
        svg.append(&legend);
        for (i, panel) in traded.panels.iter().enumerate() {
            let column = (i % layout.panels_per_row) as f64;
            let row = (i / layout.panels_per_row) as f64;
            let left = LEFT + column * (width / layout.panels_per_row as f64);
            let top = legend_height + ABOVE + row * step;
            let size = [layout.panel, HEIGHT];
            Field::new(traded, colours, panel, [left, top], size).draw(svg);
        }
    })
}

/// Numbers, colours and names of the configurations.
fn legend(traded: &Traded, colours: &Colours, page: f64) -> (Svg, f64) {
    let mut svg = Svg::new();
    let (mut x, mut y) = (12.0, 8.0);
    for (i, title) in traded.titles.iter().enumerate() {
        let text = format!("{} {title}", i + 1);
        let width = 28.0 + text.chars().count() as f64 * LETTER;
        if x + width > page - 10.0 && x > 12.0 {
            (x, y) = (12.0, y + 18.0);
        }
        let paint = colours.get(traded.setups[i]);
        dot(&mut svg, [x + 5.0, y + 6.0], paint, true);
        let label = svg.element("text").fixed("x", x + 14.0, 1);
        label
            .fixed("y", y + 10.0, 1)
            .attr("fill", "var(--ink)")
            .text(text);
        x += width;
    }
    (svg, y + 22.0)
}

fn dot(svg: &mut Svg, at: [f64; 2], paint: Paint, best: bool) {
    let radius = if best { 5.0 } else { 4.0 };
    let dot = svg.element("path").attr("class", "point");
    let dot = dot.attr("d", shape(paint, at, radius));
    let dot = dot.attr("fill", paint.hue.paint());
    let dot = dot.attr("fill-opacity", if best { "1" } else { ".25" });
    dot.attr("stroke", paint.hue.paint())
        .attr("stroke-width", "1.2")
        .empty();
}

fn line(svg: &mut Svg, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], colour: &str, width: f64) {
    let line = svg.element("line").fixed("x1", x1, 1).fixed("y1", y1, 1);
    let line = line.fixed("x2", x2, 1).fixed("y2", y2, 1);
    line.attr("stroke", colour)
        .fixed("stroke-width", width, 1)
        .empty();
}

/// One panel.
struct Field<'a> {
    traded: &'a Traded,
    colours: &'a Colours,
    panel: &'a Panel,
    scales: [Axis; 2],
    corner: [f64; 2],
    size: [f64; 2],
}

impl<'a> Field<'a> {
    fn new(
        traded: &'a Traded,
        colours: &'a Colours,
        panel: &'a Panel,
        corner: [f64; 2],
        size: [f64; 2],
    ) -> Field<'a> {
        let scales = [0, 1].map(|d| {
            let ends = panel.points.iter();
            let ends = ends.flat_map(|p| [p.ranges[d].0, p.ranges[d].1]);
            let low = ends.clone().fold(f64::INFINITY, f64::min);
            axis(ends, traded.baselines[d].unwrap_or(low))
        });
        Field {
            traded,
            colours,
            panel,
            scales,
            corner,
            size,
        }
    }

    /// Where a pair of values lies.
    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let share = |d: usize, v: f64| {
            let scale = &self.scales[d];
            (v - scale.low) / (scale.high - scale.low)
        };
        let [left, top] = self.corner;
        [
            left + self.size[0] * share(0, x),
            top + self.size[1] * (1.0 - share(1, y)),
        ]
    }

    fn draw(&self, svg: &mut Svg) {
        let [left, top] = self.corner;
        let title = svg
            .element("text")
            .fixed("x", left, 1)
            .fixed("y", top - 10.0, 1);
        let title = title.attr("font-weight", 600).attr("fill", "var(--ink)");
        title.text(&self.panel.title);
        self.scales(svg);
        self.front(svg);
        for point in &self.panel.points {
            self.point(point, svg);
        }
    }

    fn scales(&self, svg: &mut Svg) {
        let [left, top] = self.corner;
        let bottom = top + self.size[1];
        let low = [self.scales[0].low, self.scales[1].low];
        let label = |svg: &mut Svg, x: f64, y: f64, anchor: &str, text: &str| {
            let label = svg.element("text").fixed("x", x, 1).fixed("y", y, 1);
            let label = label.attr("text-anchor", anchor).attr("font-size", 11);
            label.attr("fill", "var(--soft)").text(text);
        };
        for &tick in &self.scales[0].ticks {
            let [x, _] = self.place([tick, low[1]]);
            line(svg, [x, top], [x, bottom], "var(--faint)", 1.0);
            let text = words::tick(self.traded.axes[0].1, tick);
            label(svg, x, bottom + 15.0, "middle", &text);
        }
        for &tick in &self.scales[1].ticks {
            let [_, y] = self.place([low[0], tick]);
            line(
                svg,
                [left, y],
                [left + self.size[0], y],
                "var(--faint)",
                1.0,
            );
            let text = words::tick(self.traded.axes[1].1, tick);
            label(svg, left - 6.0, y + 4.0, "end", &text);
        }
        let middle = left + self.size[0] / 2.0;
        let lines = wrapped(&self.traded.axes[0].0, self.size[0]);
        for (i, line) in lines.iter().take(2).enumerate() {
            label(svg, middle, bottom + 31.0 + 13.0 * i as f64, "middle", line);
        }
        let (x, y) = (left - 52.0, top + self.size[1] / 2.0);
        let up = svg.element("text").fixed("x", x, 1).fixed("y", y, 1);
        let up = up.attr("text-anchor", "middle").attr("font-size", 11);
        let up = up.attr("transform", format_args!("rotate(-90 {x:.1} {y:.1})"));
        up.attr("fill", "var(--soft)").text(&self.traded.axes[1].0);
    }

    /// A line through the best, from left to right.
    fn front(&self, svg: &mut Svg) {
        let mut best: Vec<&Point> = self.panel.points.iter().filter(|p| p.best).collect();
        best.sort_by(|a, b| a.at[0].total_cmp(&b.at[0]));
        for pair in best.windows(2) {
            let [from, to] = [self.place(pair[0].at), self.place(pair[1].at)];
            line(svg, from, to, "var(--soft)", 1.4);
        }
    }

    fn point(&self, point: &Point, svg: &mut Svg) {
        let at = self.place(point.at);
        let paint = self.colours.get(self.traded.setups[point.configuration]);
        let [across, up] = [0, 1].map(|d| words::value(self.traded.axes[d].1, point.at[d]));
        let title = &self.traded.titles[point.configuration];
        svg.element("g").content(|svg| {
            let best = if point.best {
                "; no other beats it"
            } else {
                ""
            };
            svg.element("title")
                .text(format_args!("{title}: {across} across, {up} up{best}"));
            let [(x0, x1), (y0, y1)] = point.ranges;
            let [left, right] = [x0, x1].map(|x| self.place([x, point.at[1]])[0]);
            let [low, high] = [y0, y1].map(|y| self.place([point.at[0], y])[1]);
            if right - left > 0.5 {
                line(svg, [left, at[1]], [right, at[1]], "var(--ink)", 1.0);
                for x in [left, right] {
                    line(svg, [x, at[1] - END], [x, at[1] + END], "var(--ink)", 1.0);
                }
            }
            if low - high > 0.5 {
                line(svg, [at[0], low], [at[0], high], "var(--ink)", 1.0);
                for y in [low, high] {
                    line(svg, [at[0] - END, y], [at[0] + END, y], "var(--ink)", 1.0);
                }
            }
            dot(svg, at, paint, point.best);
            let number = svg.element("text").fixed("x", at[0] + 6.0, 1);
            let number = number.fixed("y", at[1] - 5.0, 1).attr("font-size", 10);
            let number = number.optional("font-weight", point.best.then_some(600));
            number
                .attr("fill", "var(--ink)")
                .text(point.configuration + 1);
        });
    }
}
