//! From results to what a figure shows: values, normalised and averaged, beside the paper's.

use crate::format::{ALL, Figure, Mean};
use crate::metric::Statistics;
use crate::plan::{Layer, Plan};
use crate::record::{Record, Status};
use std::collections::HashMap;

/// Everything that was measured, by workload and configuration.
pub struct Results<'a> {
    plan: &'a Plan,
    records: HashMap<&'a str, (&'a Record, Statistics)>,
}

/// A value of a figure, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The layers' values; bars have one.
    Value(Vec<f64>),
    /// This build has no such workload, policy or statistic, or the workload was left out.
    Absent,
    /// The run failed.
    Failed(Status),
    /// The value is undefined: a division by zero, or nothing to normalise to.
    Undefined,
}

impl Cell {
    /// The height of the bar or the stack.
    pub fn total(&self) -> Option<f64> {
        match self {
            Cell::Value(layers) => Some(layers.iter().sum()),
            _ => None,
        }
    }

    /// The value of one layer.
    pub fn layer(&self, layer: usize) -> Option<f64> {
        match self {
            Cell::Value(layers) => layers.get(layer).copied(),
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

/// A workload in a figure.
pub struct Row {
    /// The group it is shown in.
    pub group: String,
    /// Number of the workload.
    pub subject: usize,
    /// A cell for each configuration.
    pub cells: Vec<Cell>,
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
    pub cells: Vec<Option<(Vec<f64>, usize)>>,
    /// What the paper has.
    pub paper: Vec<Option<f64>>,
}

impl<'a> Results<'a> {
    /// Results of a plan.
    pub fn new(plan: &'a Plan, records: &'a [Record]) -> Results<'a> {
        let indexed = |r: &'a Record| (r.key.as_str(), (r, r.statistics()));
        Results {
            plan,
            records: records.iter().map(indexed).collect(),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The result of a workload under a configuration.
    pub fn record(&self, subject: usize, setup: usize) -> Option<&'a Record> {
        let run = self.plan.run(subject, setup)?;
        self.records
            .get(run.key.as_str())
            .map(|(record, _)| *record)
    }

    /// The statistics of a workload under a configuration.
    pub fn statistics(&self, subject: usize, setup: usize) -> Option<&Statistics> {
        let run = self.plan.run(subject, setup)?;
        self.records.get(run.key.as_str()).map(|(_, s)| s)
    }

    /// The layers of a workload under a configuration, as measured.
    fn measured(&self, subject: usize, setup: usize, layers: &[Layer]) -> Cell {
        let Some(record) = self.record(subject, setup) else {
            return Cell::Absent;
        };
        if !record.status.good() {
            return Cell::Failed(record.status);
        }
        let statistics = self.statistics(subject, setup);
        let value = |l: &Layer| l.expression.value(statistics?);
        match layers.iter().map(value).collect::<Option<Vec<f64>>>() {
            Some(values) => Cell::Value(values),
            None => Cell::Undefined,
        }
    }

    /// What figure number `index` shows.
    pub fn figure(&self, index: usize) -> Shown {
        let figure = &self.plan.study.figures[index];
        let measure = &self.plan.measures[index];
        let layers = measure.layers.as_deref().unwrap_or_default();
        let setups: Vec<usize> = figure
            .configurations
            .iter()
            .map(|c| self.plan.setup(&c.value))
            .collect();
        let mut rows = Vec::new();
        for group in &figure.groups {
            for &subject in self.plan.subjects.group(&group.value) {
                let cell = |&setup: &usize| match &measure.layers {
                    Some(layers) => self.cell(figure, subject, setup, layers),
                    None => Cell::Absent,
                };
                rows.push(Row {
                    group: group.value.clone(),
                    subject,
                    cells: setups.iter().map(cell).collect(),
                    paper: self.paper_values(figure, subject),
                });
            }
        }
        Shown {
            layers: layers.iter().map(|l| l.title.clone()).collect(),
            means: self.means(figure, &rows),
            rows,
            setups,
            lacking: measure.lacking.clone(),
        }
    }

    fn cell(&self, figure: &Figure, subject: usize, setup: usize, layers: &[Layer]) -> Cell {
        let cell = self.measured(subject, setup, layers);
        let (Cell::Value(values), Some(base)) = (&cell, &figure.normalise) else {
            return cell;
        };
        let base = self.measured(subject, self.plan.setup(&base.value), layers);
        match base.total().filter(|b| *b != 0.0) {
            Some(base) => Cell::Value(values.iter().map(|v| v / base).collect()),
            None => Cell::Undefined,
        }
    }

    fn paper_values(&self, figure: &Figure, subject: usize) -> Vec<Option<f64>> {
        let name = self.plan.subjects.name(subject);
        let printed = |configuration: &str| {
            let of = |v: &&crate::format::PaperValue| {
                v.workload.value == name && v.configuration.value == configuration
            };
            figure.paper.values.iter().find(of).map(|v| v.value)
        };
        let names = figure.configurations.iter();
        names.map(|c| printed(&c.value)).collect()
    }

    fn means(&self, figure: &Figure, rows: &[Row]) -> Vec<MeanRow> {
        let mut groups: Vec<&str> = figure.groups.iter().map(|g| g.value.as_str()).collect();
        if groups.len() != 1 {
            groups.push(ALL);
        }
        let single = figure.groups.len() == 1;
        let mut means = Vec::new();
        for group in groups {
            let of = |g: &str| self.plan.subjects.of(g);
            let members: Vec<&Row> = rows
                .iter()
                .filter(|r| group == ALL || r.group == group)
                .collect();
            let cell = |column: usize| {
                let cells = members.iter().map(|r| &r.cells[column]);
                averages(figure.mean, cells.collect())
            };
            let printed = |configuration: &str| {
                let here = |m: &&crate::format::PaperMean| {
                    let same = m.group.value == group || single && m.group.value == ALL;
                    same && m.configuration.value == configuration
                };
                figure.paper.means.iter().find(here).map(|m| m.value)
            };
            means.push(MeanRow {
                group: group.to_string(),
                of: match group {
                    ALL => figure.groups.iter().map(|g| of(&g.value)).sum(),
                    group => of(group),
                },
                cells: (0..figure.configurations.len()).map(cell).collect(),
                paper: figure
                    .configurations
                    .iter()
                    .map(|c| printed(&c.value))
                    .collect(),
            });
        }
        means
    }
}

/// The average of every layer over the cells that have a value, and how many those are.
fn averages(mean: Mean, cells: Vec<&Cell>) -> Option<(Vec<f64>, usize)> {
    let values: Vec<&Vec<f64>> = cells
        .into_iter()
        .filter_map(|c| match c {
            Cell::Value(v) => Some(v),
            _ => None,
        })
        .collect();
    let layers = values.first()?.len();
    // Layers of a stack add up only under the arithmetic mean.
    let mean = if layers == 1 { mean } else { Mean::Arithmetic };
    let layer = |l: usize| average(mean, &values.iter().map(|v| v[l]).collect::<Vec<_>>());
    let averaged: Option<Vec<f64>> = (0..layers).map(layer).collect();
    Some((averaged?, values.len()))
}

/// The average of some values; none of no values, and none where it is undefined (a geometric or
/// harmonic mean of something that is not above zero).
pub fn average(mean: Mean, values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let positive = values.iter().all(|v| *v > 0.0);
    let value = match mean {
        _ if values.is_empty() => return None,
        Mean::Arithmetic => values.iter().sum::<f64>() / n,
        Mean::Geometric if positive => (values.iter().map(|v| v.ln()).sum::<f64>() / n).exp(),
        Mean::Harmonic if positive => n / values.iter().map(|v| 1.0 / v).sum::<f64>(),
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_by_hand() {
        let values = [1.0, 2.0, 4.0];
        let about = |mean, expected: f64| {
            let got = average(mean, &values).unwrap();
            assert!((got - expected).abs() < 1e-12, "{mean:?}: {got}");
        };
        about(Mean::Arithmetic, 7.0 / 3.0);
        about(Mean::Geometric, 2.0);
        about(Mean::Harmonic, 12.0 / 7.0);
        for mean in [Mean::Arithmetic, Mean::Geometric, Mean::Harmonic] {
            assert_eq!(average(mean, &[]), None);
        }
        assert_eq!(average(Mean::Geometric, &[1.0, 0.0]), None);
        assert_eq!(average(Mean::Harmonic, &[1.0, 0.0]), None);
        assert_eq!(average(Mean::Arithmetic, &[1.0, 0.0]), Some(0.5));
    }

    #[test]
    fn cells_without_a_value_do_not_count() {
        let cells = [
            Cell::Value(vec![1.0]),
            Cell::Failed(Status::Wrong),
            Cell::Value(vec![3.0]),
            Cell::Absent,
            Cell::Undefined,
        ];
        let got = averages(Mean::Arithmetic, cells.iter().collect());
        assert_eq!(got, Some((vec![2.0], 2)));
        assert_eq!(averages(Mean::Arithmetic, vec![&Cell::Absent]), None);
    }

    #[test]
    fn layers_of_a_stack_still_add_up_when_averaged() {
        let cells = [Cell::Value(vec![1.0, 0.0]), Cell::Value(vec![2.0, 5.0])];
        let got = averages(Mean::Geometric, cells.iter().collect());
        assert_eq!(got, Some((vec![1.5, 2.5], 2)));
        assert_eq!(cells[1].total(), Some(7.0));
    }
}
