//! The phase timeline as a picture: a row a warp, time to the right, a bar a phase up to the
//! warp's arrival at its barrier and a pale one while it waits there.

use super::{Block, Phase, Timeline};
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
const ROW: f64 = 11.0;
const BAR: f64 = 8.0;
const BLOCK_GAP: f64 = 16.0;
const AXIS: f64 = 40.0;
/// Phases take these colours in turn.
const COLOURS: usize = 6;

const STYLE: &str = "<style>
text { font: 11px sans-serif; fill: #333 }
.title { font-size: 14px; font-weight: bold }
.grid { stroke: #ddd; stroke-width: 1 }
.number { font-size: 8px; fill: #fff }
.run0 { fill: #1f6fb4 } .run1 { fill: #d97706 } .run2 { fill: #2a8f4e }
.run3 { fill: #b5397f } .run4 { fill: #6d55b8 } .run5 { fill: #8a6d3b }
.wait { fill: #d5d9df } .wait-end { fill: #eceef1 }
.page { fill: #fff } .key { stroke: #bbb }
@media (prefers-color-scheme: dark) {
text { fill: #d6dae2 }
.grid { stroke: #2f3746 }
.run0 { fill: #3d8fd6 } .run1 { fill: #dd8420 } .run2 { fill: #36a862 }
.run3 { fill: #cf5a9c } .run4 { fill: #8b74d6 } .run5 { fill: #a98852 }
.wait { fill: #465064 } .wait-end { fill: #262d3a }
.page { fill: #11151d } .key { stroke: #586172 }
}
</style>
";

/// `timeline` as an SVG document with `title` above it.
pub fn svg(timeline: &Timeline, title: &str) -> String {
    let rows: usize = timeline.blocks.iter().map(|b| b.warps.len()).sum();
    let gaps = timeline.blocks.len().saturating_sub(1) as f64 * BLOCK_GAP;
    let bottom = TOP + rows as f64 * ROW + gaps;
    let height = bottom + AXIS;
    let scale = Scale::of(timeline);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH:.0} {height:.0}\">\n{STYLE}<rect width=\"100%\" height=\"100%\" \
         class=\"page\"/>\n<text x=\"12\" y=\"22\" class=\"title\">{}</text>\n",
        escaped(title)
    );
    legend(&mut out);
    axis(&mut out, &scale, bottom);
    let mut y = TOP;
    for block in &timeline.blocks {
        draw_block(&mut out, block, y, &scale);
        y += block.warps.len() as f64 * ROW + BLOCK_GAP;
    }
    out.push_str("</svg>\n");
    out
}

/// From cycles to places on the page.
struct Scale {
    from: u64,
    to: u64,
}

impl Scale {
    fn of(timeline: &Timeline) -> Scale {
        let from = timeline.blocks.iter().map(|b| b.came).min();
        let to = timeline.blocks.iter().map(|b| b.left).max();
        let from = from.unwrap_or(0);
        Scale {
            from,
            to: to.unwrap_or(0).max(from + 1),
        }
    }

    fn x(&self, cycle: u64) -> f64 {
        let part = (cycle - self.from) as f64 / (self.to - self.from) as f64;
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    /// Round numbers for some eight ticks.
    fn ticks(&self) -> impl Iterator<Item = u64> + '_ {
        let rough = ((self.to - self.from) / 8).max(1);
        let power = 10u64.pow(rough.ilog10());
        let step = [1, 2, 5, 10].map(|m| m * power);
        let step = step.into_iter().find(|s| *s >= rough).unwrap_or(rough);
        let first = self.from.div_ceil(step) * step;
        (first..=self.to).step_by(step as usize)
    }
}

fn legend(out: &mut String) {
    let y = 42.0;
    let entries = [
        (
            12.0,
            "run0",
            "a phase, numbered from 1 (colours take turns)",
        ),
        (310.0, "wait", "waits at its barrier"),
        (460.0, "wait-end", "finished: its stores, its siblings"),
    ];
    for (x, class, text) in entries {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"16\" height=\"{BAR}\" class=\"{class} key\"/>\
             <text x=\"{}\" y=\"{y}\">{text}</text>",
            y - BAR,
            x + 22.0
        );
    }
}

fn axis(out: &mut String, scale: &Scale, bottom: f64) {
    for tick in scale.ticks() {
        let x = scale.x(tick);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" class=\"grid\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            TOP - 4.0,
            bottom + 14.0
        );
    }
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">cycles from the launch</text>",
        bottom + 30.0
    );
}

fn draw_block(out: &mut String, block: &Block, top: f64, scale: &Scale) {
    let middle = top + block.warps.len() as f64 * ROW / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"12\" y=\"{:.1}\">block {}</text><text x=\"12\" y=\"{:.1}\">SM {}</text>",
        middle - 2.0,
        block.number,
        middle + 11.0,
        block.sm
    );
    for (i, warp) in block.warps.iter().enumerate() {
        let y = top + i as f64 * ROW;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" style=\"font-size:8px\">{}</text>",
            LEFT - 6.0,
            y + BAR,
            warp.number
        );
        for (k, phase) in warp.phases.iter().enumerate() {
            let place = Bars {
                y,
                number: k + 1,
                warp: warp.number,
                labelled: i == 0,
            };
            place.draw(out, phase, scale);
        }
    }
}

/// Where the bars of a phase go.
struct Bars {
    y: f64,
    number: usize,
    warp: u16,
    labelled: bool,
}

impl Bars {
    fn draw(&self, out: &mut String, phase: &Phase, scale: &Scale) {
        let (from, to) = (scale.x(phase.began), scale.x(phase.ended));
        let colour = (self.number - 1) % COLOURS;
        let end = match phase.barrier {
            Some(id) => format!("barrier {id}"),
            None => "exit".to_string(),
        };
        let about = format!(
            "warp {}, phase {}: {} to {}, {end}",
            self.warp, self.number, phase.began, phase.ended
        );
        let _ = writeln!(
            out,
            "<rect class=\"run{colour}\" x=\"{from:.2}\" y=\"{:.1}\" width=\"{:.2}\" \
             height=\"{BAR}\"><title>{about}</title></rect>",
            self.y,
            (to - from).max(0.3)
        );
        if phase.released > phase.ended {
            let class = if phase.barrier.is_some() {
                "wait"
            } else {
                "wait-end"
            };
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{to:.2}\" y=\"{:.1}\" width=\"{:.2}\" \
                 height=\"{BAR}\"><title>{about}, went on at {}</title></rect>",
                self.y,
                scale.x(phase.released) - to,
                phase.released
            );
        }
        if self.labelled && to - from > 9.0 {
            let _ = writeln!(
                out,
                "<text class=\"number\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                (from + to) / 2.0,
                self.y + BAR - 1.0,
                self.number
            );
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
