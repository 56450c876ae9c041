//! From results to what a figure shows: values, normalised and averaged, beside the paper's.

mod part;
mod shown;

pub use shown::{Cell, MeanRow, Row, Shown};

use crate::format::{ALL, At, Figure, Shape};
use crate::plan::{Layer, Plan, Run, Variant};
use crate::results::record::Record;
use crate::values::average::averages;
use crate::values::behind::Behind;
use crate::values::sample::Sample;
use part::Stored;
use shown::sort;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Everything that was measured, by workload and configuration.
pub struct Results<'a> {
    plan: &'a Plan,
    records: HashMap<&'a str, Stored<'a>>,
}

impl<'a> Results<'a> {
    /// Results of a plan.
    pub fn new(plan: &'a Plan, records: &'a [Record]) -> Results<'a> {
        let indexed = |record: &'a Record| (record.key.as_str(), Stored::new(record));
        Results {
            plan,
            records: records.iter().map(indexed).collect(),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// How many runs there are results of.
    pub fn runs(&self) -> usize {
        self.records.len()
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
                let base = |named: &At<String>| under(self.plan.setup(&named.value));
                let cell = |(column, &setup): (usize, &usize)| {
                    let base = figure.base(column).map(base);
                    match (&measure.layers, under(setup)) {
                        (Some(layers), Some(setup)) => self.cell(base, runs, setup, layers),
                        _ => Cell::Absent,
                    }
                };
                let print = |&setup: &usize| self.print(runs, under(setup)?);
                rows.push(Row {
                    group: group.value.clone(),
                    subject,
                    cells: setups.iter().enumerate().map(cell).collect(),
                    prints: setups.iter().map(print).collect(),
                    base_print: figure
                        .normalise
                        .as_ref()
                        .and_then(base)
                        .and_then(|b| self.print(runs, b)),
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
            let behind = |column: usize| {
                let value = |row: &&Row| match &row.cells[column] {
                    Cell::Value(sample) => Some((row.subject, sample.total())),
                    _ => None,
                };
                let values: Vec<(usize, f64)> = members.iter().filter_map(value).collect();
                let bars = matches!(figure.shape, Shape::Bars { .. });
                Behind::of(&values, figure.more).filter(|_| bars)
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
                behind: (0..figure.configurations.len()).map(behind).collect(),
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
