//! Figures and claims as text.

use super::beside::{sensitivities, size_table};
use super::brief;
use super::grid::Grid;
use super::table::{fitted, total_width};
use crate::evaluate::{Cell, MeanRow, Results, Shown};
use crate::format::{ALL, Figure, Shape};
use crate::values::behind::BehindText;
use crate::values::sample::Sample;
use crate::values::sizes::KernelSize;
use crate::verdict::{Judged, Verdict};
use crate::words;

/// Wider tables have a line for each configuration instead of a column.
const COLUMNS: usize = 10;

/// What a study found, for a terminal.
pub struct Texts {
    /// A page or two; everything, where that is no more.
    pub text: String,
    /// Everything.
    pub full: String,
}

/// A page or two.
const PAGES: usize = 90;

/// What a study found, for a terminal that is `width` wide, if that is known.
pub fn texts(
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    sizes: &[KernelSize],
    width: Option<usize>,
) -> Texts {
    let learned = brief::learned(results, figures, width);
    let details = details(results, figures, sizes, width);
    let full = format!("{learned}{details}");
    let lines = full.lines().count();
    let text = match lines > PAGES {
        true => learned + &brief::listed(results, figures),
        false => full.clone(),
    };
    Texts { text, full }
}

/// Every figure with its claims, the sensitivities and the sizes.
fn details(
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    sizes: &[KernelSize],
    width: Option<usize>,
) -> String {
    let mut out = String::new();
    let study = &results.plan().study;
    for (figure, (shown, judged)) in study.figures.iter().zip(figures) {
        let title = match figure.number.as_str() {
            "" => figure.title.clone(),
            number => format!("{number}: {}", figure.title),
        };
        out += &format!("{title}\n");
        out += &match (&shown.lacking, &figure.shape) {
            (Some(name), _) => format!("  not measured: this build has no statistic `{name}`\n"),
            (None, Shape::Bars { .. }) => bars(results, figure, shown, width),
            (None, Shape::Stack { .. }) => stacks(results, figure, shown, width),
        };
        if let Some((here, own)) = results.plan().too_small() {
            out += &match figure.claims.len() {
                0 => String::new(),
                n => {
                    format!("  claims: {n}, untested at size {here}; the study is of size {own}\n")
                }
            };
            out.push('\n');
            continue;
        }
        for (claim, judged) in figure.claims.iter().zip(judged) {
            let mark = match judged.verdict {
                Verdict::Fails => "FAILS",
                other => other.name(),
            };
            out += &format!("  {mark:<15}{}: {}\n", claim.text, judged.detail);
            let mut beside = |text: String| out += &format!("{:17}{text}\n", "");
            if let Some(paper) = &claim.paper {
                beside(format!("the paper: {paper}"));
            }
            if let Some(cause) = judged.cause.text() {
                beside(format!("why: {cause}"));
            }
            for tried in &judged.experiments {
                let title = &tried.title;
                beside(format!(
                    "with {title} it {}: {}",
                    is(tried.verdict),
                    tried.detail
                ));
            }
            for changed in &claim.changed {
                beside(format!("changed after results were seen: {changed}"));
            }
        }
        out.push('\n');
    }
    out += &sensitivities(results, width);
    // At a smaller size than the study's own all kernels are too small; the report says how far.
    if results.plan().too_small().is_none() {
        out += &size_table(results, sizes, width);
    }
    out
}

/// A verdict as the end of "it ...".
pub fn is(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds | Verdict::Fails => verdict.name().to_string(),
        _ => format!("is {}", verdict.name()),
    }
}

/// A cell as text.
pub fn cell_text(figure: &Figure, cell: &Cell) -> String {
    match cell {
        Cell::Value(sample) => words::sample(figure.display, sample),
        Cell::Absent => "-".into(),
        Cell::Failed(status) => status.name().into(),
        Cell::Undefined => "n/a".into(),
    }
}

/// What the average of a group is called.
pub fn mean_title(results: &Results, figure: &Figure, row: &MeanRow) -> String {
    let group = match row.group.as_str() {
        _ if figure.groups.len() == 1 => String::new(),
        ALL => "all, ".into(),
        group => format!("{}, ", results.plan().subjects.title(group)),
    };
    let counts = row.cells.iter().flatten().map(|(_, n)| *n);
    let (low, high) = counts.fold((usize::MAX, 0), |(l, h), n| (l.min(n), h.max(n)));
    let over = if high == 0 {
        "of none".into()
    } else if low == high {
        words::over(high, row.of)
    } else {
        format!("over {low} to {high} of the {}", row.of)
    };
    format!("{group}{} {over}", words::mean(figure.mean))
}

fn bars(results: &Results, figure: &Figure, shown: &Shown, width: Option<usize>) -> String {
    let plan = results.plan();
    if let Some(grid) = Grid::of(plan, shown) {
        let lines = grid_lines(results, figure, shown, &grid);
        return fitted(&lines, grid.axes.len(), width);
    }
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(shown.setups.iter().map(|&s| plan.setups[s].name.clone()));
    for row in shown.rows.iter().filter(|r| !r.empty()) {
        let mut line = vec![row_title(results, row.subject)];
        line.extend(row.cells.iter().map(|c| cell_text(figure, c)));
        lines.push(line);
        lines.extend(paper_line(figure, "  paper", &row.paper));
    }
    for mean in &shown.means {
        let mut line = vec![mean_title(results, figure, mean)];
        line.extend(mean.cells.iter().map(|c| mean_text(figure, c)));
        lines.push(line);
        lines.extend(paper_line(figure, "  paper", &mean.paper));
        lines.extend(behind_lines(results, figure, mean));
    }
    let wide = width.is_some_and(|width| total_width(&lines) > width);
    if shown.setups.len() > COLUMNS || wide {
        let other = transposed(&lines);
        // A line for each configuration only helps where that is narrower.
        if shown.setups.len() > COLUMNS || total_width(&other) < total_width(&lines) {
            lines = other;
        }
    }
    fitted(&lines, 1, width)
}

/// A line for each choice of a grid, a column for each of its axes and each workload.
fn grid_lines(results: &Results, figure: &Figure, shown: &Shown, grid: &Grid) -> Vec<Vec<String>> {
    let rows: Vec<_> = shown.rows.iter().filter(|r| !r.empty()).collect();
    let mut head = grid.axes.clone();
    head.extend(rows.iter().map(|r| row_title(results, r.subject)));
    let means = shown.means.iter();
    head.extend(means.map(|mean| mean_title(results, figure, mean)));
    let mut lines = vec![head];
    for choice in &grid.rows {
        let mut line = choice.values.clone();
        line.extend(
            rows.iter()
                .map(|r| cell_text(figure, &choice.cell(&r.cells))),
        );
        let means = shown.means.iter();
        line.extend(means.map(|mean| mean_text(figure, &choice.mean(&mean.cells))));
        lines.push(line);
    }
    lines
}

/// An average as text.
pub fn mean_text(figure: &Figure, cell: &Option<(Sample, usize)>) -> String {
    match cell {
        Some((sample, _)) => words::sample(figure.display, sample),
        None => "-".into(),
    }
}

/// A workload with the name the paper gives it.
pub fn row_title(results: &Results, subject: usize) -> String {
    let subjects = &results.plan().subjects;
    let (name, label) = (subjects.name(subject), subjects.label(subject));
    if name == label {
        name.to_string()
    } else {
        format!("{label} ({name})")
    }
}

fn paper_line(figure: &Figure, title: &str, values: &[Option<f64>]) -> Option<Vec<String>> {
    if values.iter().all(Option::is_none) {
        return None;
    }
    let value = |v: &Option<f64>| v.map_or(String::new(), |v| words::value(figure.display, v));
    let mut line = vec![title.to_string()];
    line.extend(values.iter().map(value));
    Some(line)
}

/// The median and the worst workload under each configuration, as far as there are any, each with its title before it.
pub fn behind_lines(results: &Results, figure: &Figure, mean: &MeanRow) -> Vec<Vec<String>> {
    let told = mean.told(results.plan(), figure).unwrap_or_default();
    let line = |title: &str, of: fn(&BehindText) -> &String| {
        let cells = told.iter().map(|b| b.as_ref().map(of));
        let cells = cells.map(|text| text.cloned().unwrap_or_default());
        let line: Vec<String> = [title.to_string()].into_iter().chain(cells).collect();
        line[1..]
            .iter()
            .any(|cell| !cell.is_empty())
            .then_some(line)
    };
    let lines = [
        line("  median", |b| &b.median),
        line("  worst", |b| &b.worst),
    ];
    lines.into_iter().flatten().collect()
}

fn stacks(results: &Results, figure: &Figure, shown: &Shown, width: Option<usize>) -> String {
    let plan = results.plan();
    let mut lines = vec![vec![String::new(), "configuration".to_string()]];
    lines[0].extend(shown.layers.iter().cloned());
    lines[0].push("sum".into());
    let value = |v: f64| words::value(figure.display, v);
    let mut add = |title: String, setup: usize, cell: &Cell| {
        let mut line = vec![title, plan.setups[setup].name.clone()];
        match cell {
            Cell::Value(sample) => {
                line.extend(sample.layers().iter().map(|v| value(*v)));
                line.push(words::sample(figure.display, sample));
            }
            other => line.push(cell_text(figure, other)),
        }
        lines.push(line);
    };
    for row in shown.rows.iter().filter(|r| !r.empty()) {
        for (i, (cell, &setup)) in row.cells.iter().zip(&shown.setups).enumerate() {
            let title = if i == 0 {
                row_title(results, row.subject)
            } else {
                String::new()
            };
            add(title, setup, cell);
        }
    }
    for mean in &shown.means {
        for (i, (cell, &setup)) in mean.cells.iter().zip(&shown.setups).enumerate() {
            let title = if i == 0 {
                mean_title(results, figure, mean)
            } else {
                String::new()
            };
            add(title, setup, &mean_cell(cell));
        }
    }
    fitted(&lines, 2, width)
}

/// An average as a cell.
pub fn mean_cell(mean: &Option<(Sample, usize)>) -> Cell {
    match mean {
        Some((sample, _)) => Cell::Value(sample.clone()),
        None => Cell::Absent,
    }
}

fn transposed(lines: &[Vec<String>]) -> Vec<Vec<String>> {
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |line: &Vec<String>, i: usize| line.get(i).cloned().unwrap_or_default();
    (0..width)
        .map(|i| lines.iter().map(|line| cell(line, i)).collect())
        .collect()
}
