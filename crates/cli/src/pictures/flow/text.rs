//! The flow as text: a line per cycle, the models side by side.

use super::blocks::Names;
use super::record::{Issue, Lane};
use super::{Picture, steps};
use std::fmt::Write;

// Writing to a String cannot fail, hence the ignored results below.

/// The picture as text.
pub fn draw(picture: &Picture, names: &Names) -> String {
    let mut out = format!("{}\n", picture.title);
    let _ = writeln!(
        out,
        "a letter is a lane at work in that basic block, a dot an idle one, * works for another block\n"
    );
    let widths: Vec<usize> = picture
        .models
        .iter()
        .map(|(name, _)| name.len().max(picture.lanes.len()))
        .collect();
    let row = |out: &mut String, first: &str, cells: Vec<String>| {
        let mut line = format!("{first:>7}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "  {cell:<width$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    };
    let models = &picture.models;
    let heads = models.iter().map(|(name, _)| name.clone()).collect();
    row(&mut out, "cycle", heads);
    for (cycle, cells) in steps(models) {
        let cell = |issue: &Option<&Issue>| match issue {
            Some(issue) => lanes(issue, picture, names),
            None => String::new(),
        };
        row(
            &mut out,
            &cycle.to_string(),
            cells.iter().map(cell).collect(),
        );
    }
    out.push('\n');
    for line in picture.totals(names) {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
    for (block, described) in names.described.iter().enumerate() {
        let _ = writeln!(out, "{}  {described}", names.name(block));
    }
    out
}

fn lanes(issue: &Issue, picture: &Picture, names: &Names) -> String {
    let name = names.name(names.block(issue.pc));
    let one = |lane: &usize| match issue.lanes[*lane] {
        Lane::Idle => '.',
        Lane::Thread(_) => name,
        Lane::Other => '*',
    };
    picture.lanes.iter().map(one).collect()
}
