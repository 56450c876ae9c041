//! Tables beside the figures: how averages move with settings, and how large launches are.

use super::table::fitted;
use super::terminal::row_title;
use crate::evaluate::Results;
use crate::format::{ALL, Display, Figure};
use crate::values::sample::Sample;
use crate::values::sensitivity;
use crate::values::sizes::KernelSize;
use crate::words;
use warpsim_present::mangled::shown;

/// How averages move with settings of the machine.
pub fn sensitivities(results: &Results, width: Option<usize>) -> String {
    let plan = results.plan();
    let mut out = String::new();
    for table in &plan.sensitivities {
        let figure = &plan.study.figures[table.figure];
        out += &format!(
            "Sensitivity of {}\n",
            sensitivity_title(results, figure, &table.group)
        );
        let mut lines = vec![vec![String::new()]];
        lines[0].extend(table.setups.iter().map(|&s| plan.setups[s].name.clone()));
        for line in sensitivity::lines(results, table) {
            let mut cells = vec![sensitivity_label(&line)];
            let cell = |m: &Option<Sample>| match m {
                Some(sample) => words::sample(figure.display, sample),
                None => "-".into(),
            };
            cells.extend(line.means.iter().map(cell));
            lines.push(cells);
        }
        out += &fitted(&lines, 1, width);
        out.push('\n');
    }
    out
}

/// What a table of sensitivities is about.
pub fn sensitivity_title(results: &Results, figure: &Figure, group: &str) -> String {
    let name = match figure.number.as_str() {
        "" => &figure.title,
        number => number,
    };
    let over = match group {
        ALL => "over all workloads".to_string(),
        group => format!("over {}", results.plan().subjects.title(group)),
    };
    format!("{name}: {} {over}", words::mean(figure.mean))
}

/// What a line of it changes.
pub fn sensitivity_label(line: &sensitivity::Line) -> String {
    if line.setting.is_empty() {
        return "as it is".into();
    }
    if line.setting == "experiment" {
        return line.title.clone();
    }
    let usual = match line.usual.as_str() {
        "" => "none of these has it".to_string(),
        usual => format!("{usual} otherwise"),
    };
    format!("{}={} ({usual})", line.setting, line.value)
}

/// Waves of blocks and idle SMs of every kernel.
pub fn size_table(results: &Results, sizes: &[KernelSize], width: Option<usize>) -> String {
    if sizes.is_empty() {
        return String::new();
    }
    let mut lines = vec![SIZE_TITLES.map(String::from).to_vec()];
    lines.extend(sizes.iter().map(|s| size_line(results, s).to_vec()));
    format!("Sizes\n{}\n", fitted(&lines, 1, width))
}

/// The columns of the table of sizes.
pub const SIZE_TITLES: [&str; 9] = [
    "",
    "kernel",
    "launches",
    "blocks",
    "per SM",
    "waves",
    "of cycles",
    "SMs idle",
    "",
];

/// A line of the table of sizes.
pub fn size_line(results: &Results, size: &KernelSize) -> [String; 9] {
    let range = |low: String, high: String| match low == high {
        true => low,
        false => format!("{low} to {high}"),
    };
    let percent = |share: f64| words::value(Display::Percent, share);
    let remark = match (&size.waived, size.too_small()) {
        (Some(_), _) => "as the paper's",
        (None, true) => "too small",
        (None, false) => "",
    };
    [
        row_title(results, size.subject),
        shown(&size.kernel),
        size.launches.to_string(),
        range(size.blocks.0.to_string(), size.blocks.1.to_string()),
        size.resident.to_string(),
        range(
            format!("{:.1}", size.waves.0),
            format!("{:.1}", size.waves.1),
        ),
        percent(size.share),
        size.idle.map_or("-".into(), percent),
        remark.to_string(),
    ]
}
