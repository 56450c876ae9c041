//! How a figure's averages move with settings of the machine.

use crate::evaluate::{Results, Shown};
use crate::plan::SensitivityTable;
use crate::values::sample::Sample;

/// A line of the table.
pub struct Line {
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
    let line = |texts: [&str; 3], means: Vec<Option<Sample>>| Line {
        setting: texts[0].to_string(),
        usual: texts[1].to_string(),
        value: texts[2].to_string(),
        means,
    };
    let mut all = vec![line(["", "", ""], means(&results.figure(table.figure)))];
    for wanted in &table.lines {
        let shown = results.figure_under(table.figure, Some(&wanted.variant));
        let texts = [&wanted.setting, &wanted.usual, &wanted.value];
        all.push(line(texts.map(String::as_str), means(&shown)));
    }
    all
}
