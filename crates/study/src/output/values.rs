//! What the figures show as a tidy table, with how far repeats lie apart.

use super::columns::{Column, Data};
use crate::evaluate::{Cell, Results, Shown};
use crate::format::{Figure, Shape};
use crate::values::sample::Sample;
use crate::verdict::Judged;

/// A value of a figure.
pub struct Value {
    /// The figure's id.
    pub figure: String,
    /// Group of workloads, or `all`.
    pub group: String,
    /// Workload; nothing for an average.
    pub workload: String,
    /// Configuration.
    pub configuration: String,
    /// Part of a stack; nothing for whole bars and stacks.
    pub part: String,
    /// The value in each repeat, if there is one.
    pub sample: Option<Sample>,
    /// Workloads that an average is over.
    pub over: Option<usize>,
    /// What the paper has.
    pub paper: Option<f64>,
}

/// Every value of every figure: whole bars and stacks, then the parts of each.
pub fn values(results: &Results, figures: &[(Shown, Vec<Judged>)]) -> Vec<Value> {
    let study = &results.plan().study;
    let mut all = Vec::new();
    for (figure, (shown, _)) in study.figures.iter().zip(figures) {
        for row in &shown.rows {
            for (i, cell) in row.cells.iter().enumerate() {
                let sample = match cell {
                    Cell::Value(sample) => Some(sample),
                    _ => None,
                };
                let place = (row.group.as_str(), Some(row.subject), shown.setups[i]);
                add(
                    results,
                    figure,
                    place,
                    (sample, None),
                    row.paper[i],
                    &mut all,
                );
            }
        }
        for mean in &shown.means {
            for (i, cell) in mean.cells.iter().enumerate() {
                let (sample, over) = match cell {
                    Some((sample, over)) => (Some(sample), Some(*over)),
                    None => (None, None),
                };
                let place = (mean.group.as_str(), None, shown.setups[i]);
                add(
                    results,
                    figure,
                    place,
                    (sample, over),
                    mean.paper[i],
                    &mut all,
                );
            }
        }
    }
    all
}

fn add(
    results: &Results,
    figure: &Figure,
    (group, subject, setup): (&str, Option<usize>, usize),
    (sample, over): (Option<&Sample>, Option<usize>),
    paper: Option<f64>,
    all: &mut Vec<Value>,
) {
    let plan = results.plan();
    let value = |part: &str, sample: Option<Sample>, paper: Option<f64>| Value {
        figure: figure.id.value.clone(),
        group: group.to_string(),
        workload: subject.map_or(String::new(), |s| plan.subjects.name(s).to_string()),
        configuration: plan.setups[setup].name.clone(),
        part: part.to_string(),
        sample,
        over,
        paper,
    };
    let one = |layer: Option<usize>| sample.and_then(|s| Sample::of(s.values(layer)?));
    all.push(value("", one(None), paper));
    if let Shape::Stack { parts } = &figure.shape {
        for (layer, part) in parts.iter().enumerate() {
            all.push(value(&part.title, one(Some(layer)), None));
        }
    }
}

/// The values as columns.
pub fn columns(values: &[Value]) -> Vec<Column> {
    let text = |name: &str, f: fn(&Value) -> &String| Column {
        name: name.to_string(),
        data: Data::Text(values.iter().map(|v| f(v).clone()).collect()),
    };
    let real = |name: &str, f: fn(&Sample) -> Option<f64>| Column {
        name: name.to_string(),
        data: Data::Real(values.iter().map(|v| f(v.sample.as_ref()?)).collect()),
    };
    let whole = |name: &str, f: fn(&Value) -> Option<usize>| Column {
        name: name.to_string(),
        data: Data::Whole(values.iter().map(|v| f(v).map(|n| n as i64)).collect()),
    };
    vec![
        text("figure", |v| &v.figure),
        text("group", |v| &v.group),
        text("workload", |v| &v.workload),
        text("configuration", |v| &v.configuration),
        text("part", |v| &v.part),
        real("value", |s| Some(s.total())),
        real("low", |s| Some(s.range().0)),
        real("high", |s| Some(s.range().1)),
        real("deviation", Sample::deviation),
        whole("repeats", |v| v.sample.as_ref().map(Sample::count)),
        whole("over", |v| v.over),
        Column {
            name: "paper".into(),
            data: Data::Real(values.iter().map(|v| v.paper).collect()),
        },
    ]
}
