//! The flow of a kernel that issues too much to be shown issue by issue: how often each basic block was
//! issued under each model, and with how many lanes at work.

use super::Picture;
use super::blocks::Names;
use super::record::{Count, LANES, STEPS};
use crate::pictures::page::{Head, page};
use std::fmt::Write;
use warpsim_present::palette::{self, Hue};
use warpsim_present::svg::Svg;

const WIDTH: f64 = 960.0;
/// Where bars begin, and how much is left for the numbers behind them.
const LEFT: f64 = 330.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 62.0;
const BAR: f64 = 14.0;
const GAP: f64 = 12.0;
const LINE: f64 = 18.0;
/// Letters of a block's description that fit beside its bars.
const LETTERS: usize = 38;

/// What was counted for a block, model by model.
fn counts(picture: &Picture, names: &Names, block: usize) -> Vec<Count> {
    let of = |pc| names.block(pc) == block;
    let models = picture.models.iter();
    models.map(|(_, flow)| flow.count(of)).collect()
}

/// As a table.
pub fn text(picture: &Picture, names: &Names) -> String {
    let mut out = format!("{}\n", picture.title);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "by basic block: instructions issued, and lanes at work of {LANES} on average\n"
    );
    let mut line = format!("{:5}", "block");
    let width = |name: &str| (name.len() + " issued".len()).max(10);
    for (name, _) in &picture.models {
        let (head, width) = (format!("{name} issued"), width(name));
        let _ = write!(line, "  {head:>width$}  {:>5}", "lanes");
    }
    let _ = writeln!(out, "{line}");
    for &block in &picture.blocks {
        let mut line = format!("{:5}", names.name(block));
        for (count, (name, _)) in counts(picture, names, block).iter().zip(&picture.models) {
            let width = width(name);
            let lanes = match count.issued {
                0 => String::new(),
                _ => format!("{:.1}", count.mean()),
            };
            let _ = write!(line, "  {:>width$}  {lanes:>5}", count.issued);
        }
        let _ = writeln!(out, "{line}  {}", names.described[block]);
    }
    out.push('\n');
    for line in picture.totals(names) {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// As a picture: for each block a bar per model, as long as it was issued often, in parts by lanes at work.
pub fn svg(picture: &Picture, names: &Names) -> String {
    let classes: Vec<(String, String)> = (0..STEPS)
        .map(|step| {
            let each = LANES / STEPS;
            let text = format!("{} to {}", step * each + 1, (step + 1) * each);
            let more = if step == 0 { " lanes at work" } else { "" };
            (format!("s{step}"), text + more)
        })
        .collect();
    let selectors: Vec<String> = classes.iter().map(|(c, _)| format!(".{c}")).collect();
    let steps = selectors.iter().enumerate();
    let rules: Vec<(&str, &str, Hue)> = steps
        .map(|(i, s)| (s.as_str(), "fill", palette::ramp(i, STEPS)))
        .collect();
    let legend: Vec<(&str, &str)> = classes
        .iter()
        .map(|(c, t)| (c.as_str(), t.as_str()))
        .collect();
    let head = Head {
        title: format!("{}: instructions issued by basic block", picture.title),
        legend: &legend,
        rules: &rules,
        style: "",
    };
    let totals = picture.totals(names);
    let group = picture.models.len() as f64 * BAR + GAP;
    let foot = TOP + picture.blocks.len() as f64 * group + LINE;
    let height = foot + LINE * totals.len() as f64;
    let rows: Vec<(usize, Vec<Count>)> = picture
        .blocks
        .iter()
        .map(|&block| (block, counts(picture, names, block)))
        .collect();
    let all = rows.iter().flat_map(|(_, counts)| counts);
    let most = all.map(|c| c.issued).max().unwrap_or(1).max(1);
    page([WIDTH, height], &head, |svg| {
        for (i, (block, counts)) in rows.iter().enumerate() {
            let y = TOP + i as f64 * group;
            let described: String = names.described[*block].chars().take(LETTERS).collect();
            let label = svg.element("text").attr("x", 12).fixed("y", y + 11.0, 1);
            label.text(format_args!("{}  {described}", names.name(*block)));
            svg.line();
            for (row, (count, (name, _))) in counts.iter().zip(&picture.models).enumerate() {
                bar(svg, y + row as f64 * BAR, name, count, most);
            }
        }
        for (i, line) in totals.iter().enumerate() {
            let y = foot + LINE * i as f64;
            svg.element("text")
                .attr("x", 12)
                .fixed("y", y, 1)
                .text(line);
            svg.line();
        }
    })
}

fn bar(svg: &mut Svg, y: f64, model: &str, count: &Count, most: u64) {
    let label = svg.element("text").attr("x", LEFT - 6.0);
    let label = label.fixed("y", y + 10.0, 1).attr("text-anchor", "end");
    label.attr("class", "soft").text(model);
    let mut x = LEFT;
    for (step, &issued) in count.steps.iter().enumerate().filter(|(_, n)| **n > 0) {
        let width = issued as f64 / most as f64 * (WIDTH - LEFT - RIGHT);
        let part = svg.element("rect").attr("class", format_args!("s{step}"));
        let part = part.fixed("x", x, 1).fixed("y", y, 1);
        let part = part.fixed("width", width.max(0.3), 1);
        part.attr("height", BAR - 3.0).empty();
        x += width;
    }
    let text = match count.issued {
        0 => "not issued".to_string(),
        n => format!("{n} issued, {:.1} lanes", count.mean()),
    };
    let number = svg.element("text").fixed("x", x + 6.0, 1);
    number.fixed("y", y + 10.0, 1).text(text);
    svg.line();
}
