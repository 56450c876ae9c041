//! How a figure's averages move with settings of the machine.

use crate::evaluate::{Results, Shown};
use crate::plan::SensitivityTable;
use crate::values::sample::Sample;

/// A line of the table.
pub struct Line {
    /// What is changed; nothing on the first line.
    pub title: String,
    /// The setting; nothing on the first line, which is the study's machine.
    pub setting: String,
    /// Its value on the study's machine.
    pub usual: String,
    /// Its value here.
    pub value: String,
    /// The average of each configuration.
    pub means: Vec<Option<Sample>>,
}

/// The lines of a table: the machine as it is, then each setting with each value.
pub fn lines(results: &Results, table: &SensitivityTable) -> Vec<Line> {
    let means = |shown: &Shown| -> Vec<Option<Sample>> {
        let row = shown.means.iter().find(|m| m.group == table.group);
        let column = |setup: &usize| shown.setups.iter().position(|s| s == setup);
        let mean = |setup: &usize| row?.cells[column(setup)?].as_ref().map(|(s, _)| s.clone());
        table.setups.iter().map(mean).collect()
    };
    let line = |texts: [&str; 4], means: Vec<Option<Sample>>| Line {
        title: texts[0].to_string(),
        setting: texts[1].to_string(),
        usual: texts[2].to_string(),
        value: texts[3].to_string(),
        means,
    };
    let mut all = vec![line([""; 4], means(&results.figure(table.figure)))];
    for wanted in &table.lines {
        let shown = results.figure_under(table.figure, Some(&wanted.variant));
        let title = &wanted.variant.title;
        let texts = [title, &wanted.setting, &wanted.usual, &wanted.value];
        all.push(line(texts.map(String::as_str), means(&shown)));
    }
    all
}

/// From where to where the average of a figure's configuration over a group goes over each thing that the paper
/// leaves open; nothing when only a part of the workloads ran.
pub fn ranges(results: &Results, figure: &str, group: &str, setup: usize) -> Vec<Range> {
    let plan = results.plan();
    let (ran, all) = plan.subjects.taken();
    if ran < all || plan.too_small().is_some() {
        return Vec::new();
    }
    let open = |table: &SensitivityTable| -> Option<Range> {
        let id = &plan.study.figures[table.figure].id.value;
        let column = table.setups.iter().position(|s| *s == setup)?;
        let what = table
            .open
            .clone()
            .filter(|_| id == figure && table.group == group)?;
        let means = lines(results, table).into_iter();
        let means = means.filter_map(|line| Some(line.means[column].as_ref()?.total()));
        let means: Vec<f64> = means.collect();
        let low = means.iter().copied().fold(f64::INFINITY, f64::min);
        let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (means.len() > 1).then_some(Range { what, low, high })
    };
    plan.sensitivities.iter().filter_map(open).collect()
}

/// What an average comes to over what the paper leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// What is open.
    pub what: String,
    /// The lowest average.
    pub low: f64,
    /// The highest.
    pub high: f64,
}
