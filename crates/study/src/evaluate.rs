//! From results to what a figure shows: values, normalised and averaged, beside the paper's.

use crate::average::averages;
use crate::format::{ALL, At, Figure};
use crate::key::sha256;
use crate::metric::Statistics;
use crate::plan::{Layer, Plan, Run, Variant};
use crate::record::{Record, Status};
use crate::sample::Sample;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Everything that was measured, by workload and configuration.
pub struct Results<'a> {
    plan: &'a Plan,
    records: HashMap<&'a str, Stored<'a>>,
}

struct Stored<'a> {
    record: &'a Record,
    whole: Part,
    /// Each kernel's, where there are several.
    kernels: HashMap<&'a str, Part>,
}

/// What a figure's row is made from: a run, or the launches of one of its kernels.
struct Part {
    statistics: Statistics,
    /// A hash of every statistic: runs with the same did the same.
    print: String,
}

impl Part {
    fn of(record: &Record, kernel: Option<&str>) -> Part {
        let totals = record.totals_of(kernel);
        Part {
            statistics: record.statistics(kernel),
            print: sha256(totals.map(|t| t.to_string()).unwrap_or_default().as_bytes()),
        }
    }
}

impl Stored<'_> {
    /// Of the whole run, or of a kernel that it launched.
    fn part(&self, kernel: Option<&str>) -> Option<&Part> {
        match kernel {
            None => Some(&self.whole),
            Some(kernel) => {
                let known = self.kernels.get(kernel);
                known.or(self.record.totals_of(Some(kernel)).map(|_| &self.whole))
            }
        }
    }
}

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
    /// The same of the configuration that is 1.
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
    /// What the paper has.
    pub paper: Vec<Option<f64>>,
}

/// Sorts the workloads of each group by their values in a column, lowest first; those without one
/// come last.
fn sort(rows: &mut [Row], groups: &[At<String>], column: usize) {
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

impl<'a> Results<'a> {
    /// Results of a plan.
    pub fn new(plan: &'a Plan, records: &'a [Record]) -> Results<'a> {
        let indexed = |record: &'a Record| {
            let stored = Stored {
                record,
                whole: Part::of(record, None),
                kernels: record
                    .kernels()
                    .map(|kernel| (kernel, Part::of(record, Some(kernel))))
                    .collect(),
            };
            (record.key.as_str(), stored)
        };
        Results {
            plan,
            records: records.iter().map(indexed).collect(),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    fn stored(&self, run: &Arc<Run>) -> Option<&Stored<'a>> {
        self.records.get(run.key.as_str())
    }

    /// The result of the first run of a workload under a configuration.
    pub fn record(&self, subject: usize, setup: usize) -> Option<&'a Record> {
        let run = self.plan.run(subject, setup)?;
        self.stored(run).map(|s| s.record)
    }

    /// The runs of a workload under a configuration with their results.
    pub fn repeats(&self, subject: usize, setup: usize) -> Vec<(&'a Arc<Run>, &'a Record)> {
        let runs = self.plan.repeats(subject, setup);
        runs.filter_map(|run| Some((run, self.stored(run)?.record)))
            .collect()
    }

    /// The first of the repeats that failed, if one did.
    pub fn failed(&self, subject: usize, setup: usize) -> Option<(&'a Arc<Run>, &'a Record)> {
        let repeats = self.repeats(subject, setup);
        repeats.into_iter().find(|(_, r)| !r.status.good())
    }

    /// Where runs failed: workload, configuration, the first of the repeats that did. A run that
    /// several rows are about is named once.
    pub fn failures(&self) -> Vec<(usize, usize, &'a Arc<Run>, &'a Record)> {
        let mut seen = HashSet::new();
        let pairs = self.plan.pairs().into_iter();
        let failed = pairs.filter_map(|(subject, setup)| {
            let (run, record) = self.failed(subject, setup)?;
            let first = seen.insert((run.key.as_str(), setup));
            first.then_some((subject, setup, run, record))
        });
        failed.collect()
    }

    /// A derived size or a statistic of what a row is about in a run.
    pub fn statistic(&self, subject: usize, record: &Record, name: &str) -> Option<f64> {
        let stored = self.records.get(record.key.as_str())?;
        let part = stored.part(self.plan.subjects.kernel(subject))?;
        part.statistics.get(name).copied()
    }

    /// What the runs of a workload under a configuration did, hashed; none unless all are good.
    fn print(&self, subject: usize, setup: usize) -> Option<String> {
        let mut all = String::new();
        for run in self.plan.repeats(subject, setup) {
            let stored = self.stored(run).filter(|s| s.record.status.good())?;
            all += &stored.part(self.plan.subjects.kernel(subject))?.print;
        }
        (!all.is_empty()).then_some(all)
    }

    /// The layers of a workload under a configuration, as measured.
    fn measured(&self, subject: usize, setup: usize, layers: &[Layer]) -> Cell {
        let mut repeats = Vec::new();
        for run in self.plan.repeats(subject, setup) {
            let Some(stored) = self.stored(run) else {
                return Cell::Absent;
            };
            if !stored.record.status.good() {
                return Cell::Failed(stored.record.status);
            }
            let Some(part) = stored.part(self.plan.subjects.kernel(subject)) else {
                return Cell::Undefined;
            };
            let value = |l: &Layer| l.expression.value(&part.statistics);
            match layers.iter().map(value).collect::<Option<Vec<f64>>>() {
                Some(values) => repeats.push(values),
                None => return Cell::Undefined,
            }
        }
        Sample::new(repeats).map_or(Cell::Absent, Cell::Value)
    }

    /// What figure number `index` shows.
    pub fn figure(&self, index: usize) -> Shown {
        self.figure_under(index, None)
    }

    /// What figure number `index` shows when something is changed.
    pub fn figure_under(&self, index: usize, variant: Option<&Variant>) -> Shown {
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
                // What runs in the place of this.
                let runs = variant.map_or(subject, |v| v.subject(subject));
                let under = |setup: usize| match variant {
                    Some(variant) => variant.setup(subject, setup),
                    None => Some(setup),
                };
                let base = figure.normalise.as_ref();
                let base = base.map(|b| under(self.plan.setup(&b.value)));
                let cell = |&setup: &usize| match (&measure.layers, under(setup)) {
                    (Some(layers), Some(setup)) => self.cell(base, runs, setup, layers),
                    _ => Cell::Absent,
                };
                let print = |&setup: &usize| self.print(runs, under(setup)?);
                rows.push(Row {
                    group: group.value.clone(),
                    subject,
                    cells: setups.iter().map(cell).collect(),
                    prints: setups.iter().map(print).collect(),
                    base_print: base.flatten().and_then(|b| self.print(runs, b)),
                    paper: self.paper_values(figure, subject),
                });
            }
        }
        if let Some(by) = &figure.sort {
            let shown = figure.configurations.iter();
            let column = shown.clone().position(|c| c.value == by.value);
            sort(&mut rows, &figure.groups, column.unwrap_or(0));
        }
        Shown {
            layers: layers.iter().map(|l| l.title.clone()).collect(),
            means: self.means(figure, &rows),
            rows,
            setups,
            lacking: measure.lacking.clone(),
        }
    }

    /// A cell; values are divided by those of `base` repeat by repeat.
    fn cell(
        &self,
        base: Option<Option<usize>>,
        subject: usize,
        setup: usize,
        layers: &[Layer],
    ) -> Cell {
        let cell = self.measured(subject, setup, layers);
        let (Cell::Value(sample), Some(base)) = (&cell, base) else {
            return cell;
        };
        let base = base.map(|b| self.measured(subject, b, layers));
        let Some(bases) = base.and_then(|b| b.values(None)) else {
            return Cell::Undefined;
        };
        if bases.contains(&0.0) || bases.len() != sample.count() {
            return Cell::Undefined;
        }
        let repeats = sample.repeats().iter().zip(bases);
        let divided = repeats.map(|(layers, base)| layers.iter().map(|v| v / base).collect());
        Sample::new(divided.collect()).map_or(Cell::Undefined, Cell::Value)
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
