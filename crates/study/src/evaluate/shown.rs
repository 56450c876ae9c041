//! What a figure shows: cells, rows, averages.

use crate::format::{At, Figure};
use crate::plan::Plan;
use crate::results::record::Status;
use crate::values::behind::{Behind, BehindText};
use crate::values::sample::Sample;

/// A value of a figure, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The layers' values in each repeat; bars have one layer.
    Value(Sample),
    /// This build has no such workload, policy or statistic, or the workload was left out.
    Absent,
    /// The run failed.
    Failed(Status),
    /// The value is undefined: a division by zero, or nothing to normalise to.
    Undefined,
}

impl Cell {
    /// One layer, or the whole bar or stack, in each repeat.
    pub fn values(&self, layer: Option<usize>) -> Option<Vec<f64>> {
        match self {
            Cell::Value(sample) => sample.values(layer),
            _ => None,
        }
    }
}

/// What a figure shows.
pub struct Shown {
    /// Titles of the layers.
    pub layers: Vec<String>,
    /// Numbers of the configurations, in order.
    pub setups: Vec<usize>,
    /// A row for each workload, group by group.
    pub rows: Vec<Row>,
    /// Averages of each group, then over all when there are several groups.
    pub means: Vec<MeanRow>,
    /// The statistic this build lacks.
    pub lacking: Option<String>,
}

impl Shown {
    /// Whether nothing of it was measured: this build lacks what it needs, or it was left out.
    pub fn unmeasured(&self) -> bool {
        let absent = |row: &Row| row.cells.iter().all(|c| *c == Cell::Absent);
        self.lacking.is_some() || self.rows.iter().all(absent)
    }
}

/// A workload in a figure.
pub struct Row {
    /// The group it is shown in.
    pub group: String,
    /// Number of the workload.
    pub subject: usize,
    /// A cell for each configuration.
    pub cells: Vec<Cell>,
    /// What the runs of each configuration did, hashed: those with the same did the same. None
    /// where there are no good runs.
    pub prints: Vec<Option<String>>,
    /// What the runs of the configuration that is 1 did, hashed.
    pub base_print: Option<String>,
    /// What the paper has.
    pub paper: Vec<Option<f64>>,
}

impl Row {
    /// Whether there is nothing to show: this build does not have the workload, or it was left
    /// out, and the paper prints no value.
    pub fn empty(&self) -> bool {
        let absent = self.cells.iter().all(|c| *c == Cell::Absent);
        absent && self.paper.iter().all(Option::is_none)
    }
}

/// The average over a group.
pub struct MeanRow {
    /// Group, or `all`.
    pub group: String,
    /// How many workloads the paper has.
    pub of: usize,
    /// For each configuration the layers' averages and over how many workloads.
    pub cells: Vec<Option<(Sample, usize)>>,
    /// For each configuration the median and the worst workload; none of stacks, and of fewer than two.
    pub behind: Vec<Option<Behind>>,
    /// What the paper has.
    pub paper: Vec<Option<f64>>,
}

impl MeanRow {
    /// What is behind the averages, by configuration; none where nothing is.
    pub fn told(&self, plan: &Plan, figure: &Figure) -> Option<Vec<Option<BehindText>>> {
        let text = |b: &Behind| b.text(figure.display, |s| plan.subjects.name(s));
        let told = self.behind.iter().map(|b| b.as_ref().map(text));
        let told: Vec<Option<BehindText>> = told.collect();
        told.iter().any(Option::is_some).then_some(told)
    }
}

/// Sorts the workloads of each group by their values in a column, lowest first; those without one
/// come last.
pub fn sort(rows: &mut [Row], groups: &[At<String>], column: usize) {
    let value = |row: &Row| {
        let values = row.cells[column].values(None)?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    let place = |row: &Row| groups.iter().position(|g| g.value == row.group);
    rows.sort_by(|a, b| {
        let by_value = match (value(a), value(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        place(a).cmp(&place(b)).then(by_value)
    });
}
