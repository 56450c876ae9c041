//! The flow as a picture: for each model a band of lanes along a common time axis. A filled
//! cell is a lane at work, in its basic block's colour, with the number of its thread.

use super::blocks::Names;
use super::record::{Issue, Lane};
use super::{Picture, steps};
use warpsim_present::palette::{self, Hue};
use warpsim_present::svg::Svg;

const CELL: [usize; 2] = [24, 16];
const LEFT: usize = 96;
const TOP: usize = 64;
const BAND: usize = 34;
const LEGEND: usize = 18;
/// Basic blocks take so many colours in turn.
const COLOURS: usize = palette::SERIES_COUNT;

const STYLE: &str = "
svg { max-width: 100%; height: auto }
text { font: 10px sans-serif } .title { font-size: 14px } .model { font-size: 12px; font-weight: bold }
.cell { stroke-width: 0.5 } .busy { fill-opacity: 0.5 } .n { text-anchor: middle }
";

/// The colours of everything, blocks included.
fn style() -> String {
    let blocks: Vec<String> = (0..COLOURS).map(|i| format!(".b{i}")).collect();
    let mut rules = vec![
        ("text", "fill", Hue("ink")),
        (".cycle", "fill", Hue("soft")),
        (".cell", "stroke", Hue("soft")),
        (".page", "fill", Hue("page")),
        (".idle", "fill", Hue("page")),
        (".other", "fill", Hue("faint")),
    ];
    let series = blocks.iter().enumerate();
    rules.extend(series.map(|(i, class)| (class.as_str(), "fill", palette::series(i))));
    format!("{STYLE}{}", palette::rules(&rules))
}

/// The picture as an SVG document.
pub fn draw(picture: &Picture, names: &Names) -> String {
    let steps = steps(&picture.models);
    let places = places(steps.iter().map(|(cycle, _)| *cycle));
    let lanes = picture.lanes.len();
    let band = lanes * CELL[1] + BAND;
    let right = places.last().map_or(LEFT, |x| x + CELL[0]);
    let totals = picture.totals(names);
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
            svg.line().style(&style());
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
            .attr("class", format_args!("cell busy b{}", block % COLOURS))
            .attr("x", 16)
            .attr("y", y - 10)
            .attr("width", 12)
            .attr("height", 12)
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
        let (cell, text) = match issue.lanes[*lane] {
            Lane::Idle => ("cell idle".to_string(), None),
            Lane::Thread(n) => {
                let cell = format!("cell busy b{}", block % COLOURS);
                (cell, Some(n.to_string()))
            }
            Lane::Other => ("cell other".to_string(), Some("*".to_string())),
        };
        let top = y + row * CELL[1];
        svg.element("rect")
            .attr("class", cell)
            .attr("x", x)
            .attr("y", top)
            .attr("width", CELL[0])
            .attr("height", CELL[1])
            .empty();
        if let Some(text) = text {
            let number = svg.element("text").attr("class", "n");
            let number = number.attr("x", x + CELL[0] / 2);
            number.attr("y", top + 12).text(text);
        }
        svg.line();
    }
}
