//! The flow as a picture: for each model a band of lanes along a common time axis. A filled
//! cell is a lane at work, in its basic block's colour, with the number of its thread.

use super::blocks::Names;
use super::record::{Issue, Lane};
use super::{Picture, steps};
use warpsim_present::svg::Svg;

const CELL: [usize; 2] = [24, 16];
const LEFT: usize = 96;
const TOP: usize = 64;
const BAND: usize = 34;
const LEGEND: usize = 18;
/// Colours that stay apart for most eyes (Okabe and Ito), light enough for black numbers.
const COLOURS: [&str; 8] = [
    "#8ecae6", "#ffb703", "#90be6d", "#f4a6b5", "#cdb4db", "#e9c46a", "#80cdc1", "#d9d9d9",
];

const STYLE: &str = "text { font: 10px sans-serif; } .title { font-size: 14px; } .model { font-size: 12px; font-weight: bold; } \
    .cell { stroke: #666; stroke-width: 0.5; } .n { text-anchor: middle; } .cycle { fill: #666; } \
    .page, .idle { fill: white; } .other { fill: #f2f2f2; } \
    @media (prefers-color-scheme: dark) { text { fill: #d6dae2; } \
    .busy { fill: #111; } .cycle { fill: #9aa5b8; } .page, .idle { fill: #11151d; } .other { fill: #39414f; } }";

/// The picture as an SVG document.
pub fn draw(picture: &Picture, names: &Names) -> String {
    let steps = steps(&picture.models);
    let places = places(steps.iter().map(|(cycle, _)| *cycle));
    let lanes = picture.lanes.len();
    let band = lanes * CELL[1] + BAND;
    let right = places.last().map_or(LEFT, |x| x + CELL[0]);
    let totals = picture.totals();
    let width = (right + 24).max(720);
    let foot = TOP + band * picture.models.len();
    let height = foot + LEGEND * (totals.len() + names.described.len() + 2);
    let mut out = Svg::document(
        &[
            ("width", &width),
            ("height", &height),
            ("viewBox", &format_args!("0 0 {width} {height}")),
        ],
        |svg| {
            svg.line().style(STYLE);
            let page = svg.line().element("rect").attr("class", "page");
            page.attr("width", width).attr("height", height).empty();
            let title = svg.line().element("text").attr("class", "title");
            title.attr("x", 16).attr("y", 24).text(&picture.title);
            svg.line();
            for (model, (name, _)) in picture.models.iter().enumerate() {
                let y = TOP + model * band;
                let middle = y + lanes * CELL[1] / 2 + 4;
                let title = svg.element("text").attr("class", "model");
                title.attr("x", 16).attr("y", middle).text(name);
                svg.line();
                for ((cycle, cells), x) in steps.iter().zip(&places) {
                    let Some(issue) = cells[model] else { continue };
                    column(svg, picture, names, issue, *x, y);
                    svg.element("text")
                        .attr("class", "n cycle")
                        .attr("x", x + CELL[0] / 2)
                        .attr("y", y + lanes * CELL[1] + 11)
                        .text(cycle);
                    svg.line();
                }
            }
            legend(svg, &totals, names, foot + LEGEND);
        },
    );
    out.push('\n');
    out
}

/// What the models need in all, and what the blocks are, from `y` down.
fn legend(svg: &mut Svg, totals: &[String], names: &Names, mut y: usize) {
    for line in totals {
        svg.element("text").attr("x", 16).attr("y", y).text(line);
        svg.line();
        y += LEGEND;
    }
    for (block, described) in names.described.iter().enumerate() {
        svg.element("rect")
            .attr("class", "cell")
            .attr("x", 16)
            .attr("y", y - 10)
            .attr("width", 12)
            .attr("height", 12)
            .attr("fill", COLOURS[block % COLOURS.len()])
            .empty();
        let text = svg.element("text").attr("x", 34).attr("y", y);
        text.text(format_args!("{}  {described}", names.name(block)));
        svg.line();
        y += LEGEND;
    }
}

/// Where each step's column is: side by side, a little apart where cycles lie between them.
fn places(cycles: impl Iterator<Item = u64>) -> Vec<usize> {
    let (mut x, mut before): (usize, Option<u64>) = (LEFT, None);
    cycles
        .map(|cycle| {
            if let Some(before) = before {
                let gap = (cycle - before).saturating_sub(1);
                x += CELL[0] + gap.min(6) as usize * 2;
            }
            before = Some(cycle);
            x
        })
        .collect()
}

fn column(svg: &mut Svg, picture: &Picture, names: &Names, issue: &Issue, x: usize, y: usize) {
    let block = names.block(issue.pc);
    svg.element("text")
        .attr("class", "n")
        .attr("x", x + CELL[0] / 2)
        .attr("y", y - 4)
        .text(names.name(block));
    svg.line();
    for (row, lane) in picture.lanes.iter().enumerate() {
        // Idle cells and the page change with the viewer's colours, those of blocks do not.
        let (cell, fill, text, class) = match issue.lanes[*lane] {
            Lane::Idle => ("cell idle", None, None, "n"),
            Lane::Thread(n) => {
                let fill = COLOURS[block % COLOURS.len()];
                ("cell", Some(fill), Some(n.to_string()), "n busy")
            }
            Lane::Other => ("cell other", None, Some("*".to_string()), "n"),
        };
        let top = y + row * CELL[1];
        svg.element("rect")
            .attr("class", cell)
            .optional("fill", fill)
            .attr("x", x)
            .attr("y", top)
            .attr("width", CELL[0])
            .attr("height", CELL[1])
            .empty();
        if let Some(text) = text {
            let number = svg.element("text").attr("class", class);
            let number = number.attr("x", x + CELL[0] / 2);
            number.attr("y", top + 12).text(text);
        }
        svg.line();
    }
}
