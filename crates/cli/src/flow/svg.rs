//! The flow as a picture: for each model a band of lanes along a common time axis. A filled
//! cell is a lane at work, in its basic block's colour, with the number of its thread.

use super::blocks::Names;
use super::record::{Issue, Lane};
use super::{Picture, steps};
use std::fmt::Write;

const CELL: [usize; 2] = [24, 16];
const LEFT: usize = 96;
const TOP: usize = 64;
const BAND: usize = 34;
const LEGEND: usize = 18;
/// Colours that stay apart for most eyes (Okabe and Ito), light enough for black numbers.
const COLOURS: [&str; 8] = [
    "#8ecae6", "#ffb703", "#90be6d", "#f4a6b5", "#cdb4db", "#e9c46a", "#80cdc1", "#d9d9d9",
];

// Writing to a String cannot fail, hence the ignored results below.

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
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <style>text {{ font: 10px sans-serif; }} .title {{ font-size: 14px; }} .model {{ font-size: 12px; font-weight: bold; }} \
         .cell {{ stroke: #666; stroke-width: 0.5; }} .n {{ text-anchor: middle; }} .cycle {{ fill: #666; }} \
         .page, .idle {{ fill: white; }} .other {{ fill: #f2f2f2; }} \
         @media (prefers-color-scheme: dark) {{ text {{ fill: #d6dae2; }} \
         .busy {{ fill: #111; }} .cycle {{ fill: #9aa5b8; }} .page, .idle {{ fill: #11151d; }} .other {{ fill: #39414f; }} }}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"16\" y=\"24\">{}</text>",
        escaped(&picture.title)
    );
    for (model, (name, _)) in picture.models.iter().enumerate() {
        let y = TOP + model * band;
        let middle = y + lanes * CELL[1] / 2 + 4;
        let _ = writeln!(
            out,
            "<text class=\"model\" x=\"16\" y=\"{middle}\">{}</text>",
            escaped(name)
        );
        for ((cycle, cells), x) in steps.iter().zip(&places) {
            let Some(issue) = cells[model] else { continue };
            column(&mut out, picture, names, issue, *x, y);
            let _ = writeln!(
                out,
                "<text class=\"n cycle\" x=\"{}\" y=\"{}\">{cycle}</text>",
                x + CELL[0] / 2,
                y + lanes * CELL[1] + 11
            );
        }
    }
    let mut y = foot + LEGEND;
    for line in totals {
        let _ = writeln!(out, "<text x=\"16\" y=\"{y}\">{}</text>", escaped(&line));
        y += LEGEND;
    }
    for (block, described) in names.described.iter().enumerate() {
        let _ = writeln!(
            out,
            "<rect class=\"cell\" x=\"16\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\
             <text x=\"34\" y=\"{y}\">{}  {}</text>",
            y - 10,
            COLOURS[block % COLOURS.len()],
            escaped(&names.name(block).to_string()),
            escaped(described)
        );
        y += LEGEND;
    }
    out.push_str("</svg>\n");
    out
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

fn column(out: &mut String, picture: &Picture, names: &Names, issue: &Issue, x: usize, y: usize) {
    let block = names.block(issue.pc);
    let _ = writeln!(
        out,
        "<text class=\"n\" x=\"{}\" y=\"{}\">{}</text>",
        x + CELL[0] / 2,
        y - 4,
        escaped(&names.name(block).to_string())
    );
    for (row, lane) in picture.lanes.iter().enumerate() {
        // Idle cells and the page change with the viewer's colours, those of blocks do not.
        let (cell, text, class) = match issue.lanes[*lane] {
            Lane::Idle => ("class=\"cell idle\"".to_string(), String::new(), "n"),
            Lane::Thread(n) => {
                let fill = COLOURS[block % COLOURS.len()];
                let cell = format!("class=\"cell\" fill=\"{fill}\"");
                (cell, n.to_string(), "n busy")
            }
            Lane::Other => ("class=\"cell other\"".to_string(), "*".to_string(), "n"),
        };
        let top = y + row * CELL[1];
        let _ = write!(
            out,
            "<rect {cell} x=\"{x}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
            CELL[0], CELL[1]
        );
        if !text.is_empty() {
            let _ = write!(
                out,
                "<text class=\"{class}\" x=\"{}\" y=\"{}\">{text}</text>",
                x + CELL[0] / 2,
                top + 12
            );
        }
        out.push('\n');
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
