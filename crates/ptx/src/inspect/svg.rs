//! The control-flow graph as a picture that needs no other program.

use super::layers::layers;
use super::{block_lines, edges};
use crate::kernel::Kernel;
use warpsim_present::mangled::shown;
use warpsim_present::palette::{self, Hue};
use warpsim_present::svg::Svg;

const CHARACTER: f64 = 6.7;
const LINE: f64 = 14.0;
const PADDING: f64 = 8.0;
const GAP_X: f64 = 36.0;
const GAP_Y: f64 = 48.0;
const MARGIN: f64 = 90.0;
const LEGEND: f64 = 56.0;

/// A placed block.
struct Box2d {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    lines: Vec<String>,
}

/// The graph of `kernel` as an SVG document: blocks in rows along control flow, taken
/// branches in orange, fall-through and jumps in grey, edges that go back along the sides,
/// reconvergence of conditional branches dashed in blue.
pub fn cfg_svg(kernel: &Kernel) -> String {
    let edges = edges(kernel);
    let (boxes, width, height) = placed(kernel, &edges);
    let mut picture = Svg::document(
        &[
            ("width", &format_args!("{width:.0}")),
            ("height", &format_args!("{height:.0}")),
            ("viewBox", &format_args!("0 0 {width:.0} {height:.0}")),
        ],
        |svg| {
            svg.line()
                .style(&format!("{STYLE}{}", palette::rules(&RULES)));
            svg.line();
            tips(svg);
            let page = svg.element("rect");
            let page = page.attr("width", "100%").attr("height", "100%");
            page.attr("class", "page").empty();
            let title = svg.line().element("text").attr("x", 16).attr("y", 24);
            title.attr("class", "title").text(shown(&kernel.name));
            svg.line();
            legend(svg);
            meetings(svg, kernel, &boxes);
            draw_edges(svg, kernel, &edges, &boxes, width);
            for (index, shape) in boxes.iter().enumerate() {
                draw(svg, shape, kernel.blocks[index].reachable);
            }
        },
    );
    picture.push('\n');
    picture
}

/// Arrow heads.
fn tips(svg: &mut Svg) {
    svg.element("defs").content(|svg| {
        svg.line();
        for kind in ["taken", "falls"] {
            let marker = svg.element("marker").attr("id", kind);
            let marker = marker.attr("viewBox", "0 0 8 8").attr("refX", 8);
            let marker = marker.attr("refY", 4).attr("markerWidth", 8);
            let marker = marker.attr("markerHeight", 8).attr("orient", "auto");
            marker.content(|svg| {
                let tip = svg.element("path").attr("d", "M0,0 L8,4 L0,8 z");
                tip.attr("class", format_args!("{kind}-tip")).empty();
            });
            svg.line();
        }
    });
    svg.line();
}

fn legend(svg: &mut Svg) {
    for (class, x, text) in [
        ("taken", 16, "taken"),
        ("falls", 106, "falls through or jumps"),
        ("meet", 286, "sides meet"),
    ] {
        let line = svg.element("path").attr("class", class);
        line.attr("d", format_args!("M{x},42 L{},42", x + 30))
            .empty();
        let key = svg.element("text").attr("class", "key");
        key.attr("x", x + 36).attr("y", 46).text(text);
        svg.line();
    }
}

/// From each branch to where its sides meet.
fn meetings(svg: &mut Svg, kernel: &Kernel, boxes: &[Box2d]) {
    for (index, block) in kernel.blocks.iter().enumerate() {
        if let Some(meet) = block.ipdom.filter(|_| block.successors.len() > 1) {
            let path = side_path(&boxes[index], &boxes[meet as usize]);
            let curve = svg.element("path").attr("class", "meet");
            curve.attr("d", path).empty();
            svg.line();
        }
    }
}

fn draw_edges(
    svg: &mut Svg,
    kernel: &Kernel,
    edges: &[(usize, usize, bool)],
    boxes: &[Box2d],
    width: f64,
) {
    let mut detours = 0u32;
    for (from, to, taken) in edges {
        let conditional = kernel.blocks[*from].successors.len() > 1;
        let class = if conditional && *taken {
            "taken"
        } else {
            "falls"
        };
        let (start, end) = (&boxes[*from], &boxes[*to]);
        let path = match beside(start, end, boxes) {
            Some(edge) => {
                detours += 1;
                let reach = 12.0 + 7.0 * f64::from(detours % 10);
                skip_path(start, end, edge + reach)
            }
            None => edge_path(start, end, *taken && conditional, width),
        };
        let edge = svg.element("path").attr("class", class).attr("d", path);
        edge.attr("marker-end", format_args!("url(#{class})"))
            .empty();
        svg.line();
    }
}

/// Boxes by block, and the size of the whole picture.
fn placed(kernel: &Kernel, edges: &[(usize, usize, bool)]) -> (Vec<Box2d>, f64, f64) {
    let mut boxes: Vec<Box2d> = (0..kernel.blocks.len())
        .map(|index| {
            let lines = block_lines(kernel, index);
            let longest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
            Box2d {
                x: 0.0,
                y: 0.0,
                width: longest as f64 * CHARACTER + 2.0 * PADDING,
                height: lines.len() as f64 * LINE + 2.0 * PADDING,
                lines,
            }
        })
        .collect();
    let rows = layers(boxes.len(), edges);
    let inner = rows
        .iter()
        .map(|row| row_width(row, &boxes))
        .fold(200.0, f64::max);
    let mut y = LEGEND + 16.0;
    for row in &rows {
        let mut x = MARGIN + (inner - row_width(row, &boxes)) / 2.0;
        let mut tallest = 0.0f64;
        for index in row {
            let shape = &mut boxes[*index];
            shape.x = x;
            shape.y = y;
            x += shape.width + GAP_X;
            tallest = tallest.max(shape.height);
        }
        y += tallest + GAP_Y;
    }
    (boxes, inner + 2.0 * MARGIN, y)
}

fn row_width(row: &[usize], boxes: &[Box2d]) -> f64 {
    row.iter().map(|b| boxes[*b].width).sum::<f64>() + GAP_X * (row.len() as f64 - 1.0)
}

/// From the bottom of one box to the top of another; edges that go up run along the side
/// of the picture.
fn edge_path(from: &Box2d, to: &Box2d, taken: bool, width: f64) -> String {
    let shift = if taken { 18.0 } else { -18.0 };
    let (x1, y1) = (from.x + from.width / 2.0 + shift, from.y + from.height);
    let (x2, y2) = (to.x + to.width / 2.0, to.y);
    if y2 > y1 {
        let bend = (y2 - y1) / 2.0;
        return format!(
            "M{x1:.1},{y1:.1} C{x1:.1},{:.1} {x2:.1},{:.1} {x2:.1},{y2:.1}",
            y1 + bend,
            y2 - bend
        );
    }
    // Nearer side, further out the longer the way, so that loops nest.
    let reach = 20.0 + (MARGIN - 40.0) * ((y1 - y2) / (y1 + 1.0)).min(1.0);
    let right = x1 > width / 2.0;
    let side = if right {
        (from.x + from.width).max(to.x + to.width) + reach
    } else {
        from.x.min(to.x) - reach
    };
    format!(
        "M{x1:.1},{y1:.1} C{x1:.1},{:.1} {side:.1},{:.1} {side:.1},{:.1} L{side:.1},{:.1} C{side:.1},{:.1} {x2:.1},{:.1} {x2:.1},{y2:.1}",
        y1 + 24.0,
        y1 + 24.0,
        y1 - 8.0,
        y2 + 8.0,
        y2 - 24.0,
        y2 - 24.0
    )
}

/// The right edge of the boxes that a straight line from the bottom of one box down to the top
/// of another would run behind, if there are any.
fn beside(from: &Box2d, to: &Box2d, boxes: &[Box2d]) -> Option<f64> {
    let (top, bottom) = (from.y + from.height, to.y);
    boxes
        .iter()
        .filter(|b| b.y >= top && b.y + b.height <= bottom)
        .map(|b| b.x + b.width)
        .fold(None, |most, x| Some(most.map_or(x, |m: f64| m.max(x))))
}

/// Down along the side, past what lies between.
fn skip_path(from: &Box2d, to: &Box2d, side: f64) -> String {
    let (x1, y1) = (from.x + from.width, from.y + from.height - LINE);
    let (x2, y2) = (to.x + to.width / 2.0 + 30.0, to.y);
    let side = side.max(x1 + 10.0).max(x2 + 10.0);
    format!(
        "M{x1:.1},{y1:.1} C{side:.1},{y1:.1} {side:.1},{y1:.1} {side:.1},{:.1} L{side:.1},{:.1} C{side:.1},{:.1} {x2:.1},{:.1} {x2:.1},{y2:.1}",
        y1 + 24.0,
        y2 - 40.0,
        y2 - 16.0,
        y2 - 28.0
    )
}

/// A faint curve from the left edge of a branch's block to that of its meeting point.
fn side_path(from: &Box2d, to: &Box2d) -> String {
    let (x1, y1) = (from.x, from.y + from.height - LINE);
    let (x2, y2) = (to.x, to.y + PADDING + LINE / 2.0);
    let out = x1.min(x2) - 26.0;
    format!("M{x1:.1},{y1:.1} C{out:.1},{y1:.1} {out:.1},{y2:.1} {x2:.1},{y2:.1}")
}

fn draw(svg: &mut Svg, shape: &Box2d, reachable: bool) {
    let class = if reachable { "block" } else { "block dead" };
    svg.element("rect")
        .attr("class", class)
        .fixed("x", shape.x, 1)
        .fixed("y", shape.y, 1)
        .fixed("width", shape.width, 1)
        .fixed("height", shape.height, 1)
        .attr("rx", 4)
        .empty();
    svg.line();
    for (row, line) in shape.lines.iter().enumerate() {
        let class = if row == 0 { "head" } else { "code" };
        svg.element("text")
            .attr("class", class)
            .attr("xml:space", "preserve")
            .fixed("x", shape.x + PADDING, 1)
            .fixed("y", shape.y + PADDING + (row as f64 + 0.8) * LINE, 1)
            .text(line);
        svg.line();
    }
}

const STYLE: &str = "
svg { max-width: 100%; height: auto }
.title { font: bold 15px sans-serif }
.key { font: 12px sans-serif }
.code { font: 11px monospace }
.head { font: bold 11px monospace }
.block { stroke-width: 1 } .dead { stroke-dasharray: 3 3; opacity: 0.7 }
.taken { fill: none; stroke-width: 1.4 }
.falls { fill: none; stroke-width: 1.2 }
.meet { fill: none; stroke-width: 1; stroke-dasharray: 5 4; opacity: 0.7 }
";

const RULES: [(&str, &str, Hue); 12] = [
    (".page", "fill", Hue("page")),
    (".title", "fill", Hue("ink")),
    (".code", "fill", Hue("ink")),
    (".key", "fill", Hue("soft")),
    (".head", "fill", Hue("c0")),
    (".block", "fill", Hue("page")),
    (".block", "stroke", Hue("soft")),
    (".taken", "stroke", Hue("c2")),
    (".taken-tip", "fill", Hue("c2")),
    (".falls", "stroke", Hue("soft")),
    (".falls-tip", "fill", Hue("soft")),
    (".meet", "stroke", Hue("c0")),
];
