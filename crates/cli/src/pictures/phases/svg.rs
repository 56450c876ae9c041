//! The phase timeline as a picture: one row per warp, time to the right, one bar per phase up to the
//! warp's arrival at its barrier and a pale one while it waits there.

use crate::pictures::page::{Head, cycles, page};
use warpsim_present::palette::Hue;
use warpsim_present::svg::Svg;
use warpsim_sim::phases::{Block, Phase, Timeline};

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

/// Classes of the bars and what they stand for.
const LEGEND: [(&str, &str); 3] = [
    ("run0", "a phase, numbered from 1 (colours take turns)"),
    ("wait", "waits at its barrier"),
    (
        "wait-end",
        "finished: its stores, its siblings, its next block",
    ),
];

/// Waiting has the colour that the state has in every picture; phases take those that are not like it.
const RULES: [(&str, &str, Hue); 8] = [
    (".run0", "fill", Hue("c0")),
    (".run1", "fill", Hue("c1")),
    (".run2", "fill", Hue("c3")),
    (".run3", "fill", Hue("c4")),
    (".run4", "fill", Hue("c6")),
    (".run5", "fill", Hue("c8")),
    (".wait", "fill", Hue("barrier")),
    (".wait-end", "fill", Hue("exit")),
];

const STYLE: &str = "
.number { font-size: 8px; fill: #fff }
.wait { fill-opacity: 0.35 } .wait-end { fill-opacity: 0.45 }
";

/// `timeline` as an SVG document with `title` above it.
pub fn svg(timeline: &Timeline, title: &str) -> String {
    let rows: usize = timeline.blocks.iter().map(|b| b.warps.len()).sum();
    let gaps = timeline.blocks.len().saturating_sub(1) as f64 * BLOCK_GAP;
    let bottom = TOP + rows as f64 * ROW + gaps;
    let height = bottom + AXIS;
    let scale = Scale::of(timeline);
    let head = Head {
        title: title.to_string(),
        legend: &LEGEND,
        rules: &RULES,
        style: STYLE,
    };
    page([WIDTH, height], &head, |svg| {
        axis(svg, &scale, bottom);
        let mut y = TOP;
        for block in &timeline.blocks {
            draw_block(svg, block, y, &scale);
            y += block.warps.len() as f64 * ROW + BLOCK_GAP;
        }
    })
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
}

fn axis(svg: &mut Svg, scale: &Scale, bottom: f64) {
    for tick in cycles(scale.from, scale.to) {
        let x = scale.x(tick);
        svg.element("line")
            .fixed("x1", x, 1)
            .attr("y1", TOP - 4.0)
            .fixed("x2", x, 1)
            .fixed("y2", bottom, 1)
            .attr("class", "grid")
            .empty();
        let number = svg.element("text").fixed("x", x, 1);
        let number = number.fixed("y", bottom + 14.0, 1);
        number.attr("text-anchor", "middle").text(tick);
        svg.line();
    }
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    let unit = svg.element("text").fixed("x", middle, 1);
    let unit = unit.fixed("y", bottom + 30.0, 1);
    unit.attr("text-anchor", "middle")
        .text("cycles from the launch");
    svg.line();
}

fn draw_block(svg: &mut Svg, block: &Block, top: f64, scale: &Scale) {
    let middle = top + block.warps.len() as f64 * ROW / 2.0;
    let name = svg
        .element("text")
        .attr("x", 12)
        .fixed("y", middle - 2.0, 1);
    name.text(format_args!("block {}", block.number));
    let place = svg.element("text").attr("x", 12);
    let place = place.fixed("y", middle + 11.0, 1);
    place.text(format_args!("SM {}", block.sm));
    svg.line();
    for (i, warp) in block.warps.iter().enumerate() {
        let y = top + i as f64 * ROW;
        svg.element("text")
            .attr("x", LEFT - 6.0)
            .fixed("y", y + BAR, 1)
            .attr("text-anchor", "end")
            .attr("style", "font-size:8px")
            .text(warp.number);
        svg.line();
        for (k, phase) in warp.phases.iter().enumerate() {
            let place = Bars {
                y,
                number: k + 1,
                warp: warp.number,
                labelled: i == 0,
            };
            place.draw(svg, phase, scale);
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
    fn draw(&self, svg: &mut Svg, phase: &Phase, scale: &Scale) {
        let (from, to) = (scale.x(phase.began), scale.x(phase.ended));
        let colour = (self.number - 1) % COLOURS;
        let end = match (phase.barrier, phase.next_block) {
            (Some(id), _) => format!("barrier {id}"),
            (None, Some(block)) => format!("on to block {block}"),
            (None, None) => "exit".to_string(),
        };
        let about = format!(
            "warp {}, phase {}: {} to {}, {end}",
            self.warp, self.number, phase.began, phase.ended
        );
        let class = format!("run{colour}");
        self.bar(svg, &class, from, (to - from).max(0.3), &about);
        if phase.released > phase.ended {
            let class = if phase.barrier.is_some() {
                "wait"
            } else {
                "wait-end"
            };
            let about = format!("{about}, went on at {}", phase.released);
            self.bar(svg, class, to, scale.x(phase.released) - to, &about);
        }
        if self.labelled && to - from > 9.0 {
            svg.element("text")
                .attr("class", "number")
                .fixed("x", (from + to) / 2.0, 1)
                .fixed("y", self.y + BAR - 1.0, 1)
                .attr("text-anchor", "middle")
                .text(self.number);
            svg.line();
        }
    }

    fn bar(&self, svg: &mut Svg, class: &str, x: f64, width: f64, about: &str) {
        svg.element("rect")
            .attr("class", class)
            .fixed("x", x, 2)
            .fixed("y", self.y, 1)
            .fixed("width", width, 2)
            .attr("height", BAR)
            .content(|svg| svg.element("title").text(about));
        svg.line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_sim::phases::Warp;

    #[test]
    fn the_picture_holds_every_phase() {
        let phase = |began, ended, released, barrier| Phase {
            began,
            ended,
            released,
            barrier,
            next_block: None,
        };
        let warp = |number, phases: [Phase; 2]| Warp {
            number,
            phases: phases.to_vec(),
        };
        let timeline = Timeline {
            kernel: "k".into(),
            launch: 0,
            cycles: 1000,
            blocks: vec![Block {
                number: 4,
                sm: 2,
                came: 10,
                left: 910,
                warps: vec![
                    warp(
                        0,
                        [phase(10, 400, 400, Some(2)), phase(400, 900, 910, None)],
                    ),
                    warp(
                        1,
                        [phase(10, 300, 400, Some(2)), phase(400, 910, 910, None)],
                    ),
                ],
            }],
        };
        let picture = svg(&timeline, "k <on> gtx480");
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("k &lt;on&gt; gtx480"));
        let count = |text: &str| picture.matches(text).count();
        assert_eq!(count("<rect class=\"run"), 4);
        assert_eq!(
            count("<rect class=\"wait\""),
            1,
            "no warp waits for the last"
        );
        assert_eq!(count("<rect class=\"wait-end\""), 1);
        assert!(picture.contains("warp 1, phase 1: 10 to 300, barrier 2, went on at 400"));
    }
}
