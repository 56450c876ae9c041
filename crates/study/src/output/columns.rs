//! Results as a tidy table: a row for each run, a column for each fact. CSV and Parquet are written
//! from it.

use crate::evaluate::Results;
use crate::format::SIZES;
use crate::plan::Run;
use crate::results::record::Record;
use crate::values::metric::{SIZE_STATISTICS, statistic_names};
use serde_json::Value;
use warpsim_sim::stats::Totals;

/// A column.
pub struct Column {
    /// Name.
    pub name: String,
    /// What it holds.
    pub data: Data,
}

/// Values of a column; what a failed run has not is missing.
pub enum Data {
    /// Text.
    Text(Vec<String>),
    /// Counters.
    Whole(Vec<Option<i64>>),
    /// Derived values.
    Real(Vec<Option<f64>>),
}

/// The table of a study.
pub fn columns(results: &Results) -> Vec<Column> {
    let plan = results.plan();
    let mut rows: Vec<Line> = Vec::new();
    for (subject, setup) in plan.pairs() {
        let repeats = results.repeats(subject, setup).into_iter().enumerate();
        rows.extend(repeats.map(|(repeat, (run, record))| Line {
            subject,
            setup,
            repeat,
            run,
            record,
        }));
    }
    let text = |name: &str, f: &dyn Fn(&Line) -> String| Column {
        name: name.to_string(),
        data: Data::Text(rows.iter().map(f).collect()),
    };
    let whole = |name: &str, f: &dyn Fn(&Line) -> u64| Column {
        name: name.to_string(),
        data: Data::Whole(rows.iter().map(|l| i64::try_from(f(l)).ok()).collect()),
    };
    let machine = |c: usize, f: fn(&warpsim_sim::config::Machine) -> &String| {
        plan.setups[c]
            .machine
            .as_deref()
            .map(f)
            .cloned()
            .unwrap_or_default()
    };
    let size = SIZES.iter().find(|(_, s)| *s == plan.size);
    let size = size.map_or("", |(name, _)| *name).to_string();
    let mut columns = vec![
        text("study", &|_| plan.study.name.clone()),
        text("workload", &|l| plan.subjects.name(l.subject).to_string()),
        text("configuration", &|l| plan.setups[l.setup].name.clone()),
        whole("repeat", &|l| l.repeat as u64 + 1),
        text("varied", &|l| l.run.varied.clone()),
        text("machine", &|l| machine(l.setup, |m| &m.name)),
        text("scheduler", &|l| machine(l.setup, |m| &m.scheduler.name)),
        text("fetch", &|l| machine(l.setup, |m| &m.fetch.policy.name)),
        text("divergence", &|l| machine(l.setup, |m| &m.divergence.name)),
        text("settings", &|l| {
            let settings = plan.study.configurations[l.setup].settings.iter();
            settings
                .map(|s| s.value.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        }),
        text("size", &|_| size.clone()),
        text("parameters", &|l| {
            let pair = |(n, v): (&str, u64)| format!("{n}={v}");
            let pairs = l.run.parameters.iter().map(pair);
            pairs.collect::<Vec<_>>().join(" ")
        }),
        whole("seed", &|l| l.run.seed),
        text("status", &|l| l.record.status.name().to_string()),
        text("reason", &|l| {
            let reason = l.record.reason.lines().next();
            reason.unwrap_or_default().to_string()
        }),
        text("key", &|l| l.record.key.clone()),
    ];
    columns.extend(axes(results, &rows, &columns));
    // Names and types of the statistics, whether or not any run got that far.
    let template = Totals::default().to_json();
    for name in statistic_names() {
        let real = lookup(&template, name).is_some_and(Value::is_f64);
        let values = rows.iter().map(|l| {
            let kernel = plan.subjects.kernel(l.subject);
            lookup(l.record.totals_of(kernel)?, name)
        });
        columns.push(Column {
            name: name.clone(),
            data: if real {
                Data::Real(values.map(|v| v?.as_f64()).collect())
            } else {
                Data::Whole(values.map(|v| v?.as_i64()).collect())
            },
        });
    }
    for (name, _) in SIZE_STATISTICS {
        let values = rows
            .iter()
            .map(|l| results.statistic(l.subject, l.record, name));
        columns.push(Column {
            name: name.to_string(),
            data: Data::Real(values.collect()),
        });
    }
    columns
}

/// A column for each axis of a grid that has none yet: numbers where all of its values are.
fn axes(results: &Results, rows: &[Line], there: &[Column]) -> Vec<Column> {
    let configurations = &results.plan().study.configurations;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in configurations.iter().flat_map(|c| &c.axes) {
        let known = names.contains(&name.as_str()) || there.iter().any(|c| c.name == *name);
        if !known {
            names.push(name);
        }
    }
    let column = |name: &str| {
        let chosen = |line: &Line| -> Option<String> {
            let mut axes = configurations[line.setup].axes.iter();
            let found = axes.find(|(axis, _)| axis == name);
            found.map(|(_, value)| value.clone())
        };
        let values: Vec<Option<String>> = rows.iter().map(chosen).collect();
        let number = |value: &Option<String>| match value {
            Some(text) => text.parse().ok().map(Some),
            None => Some(None),
        };
        let numbers: Option<Vec<Option<i64>>> = values.iter().map(number).collect();
        // A setting may be called like a statistic.
        let taken = statistic_names().iter().any(|s| s == name);
        let prefix = if taken { "set." } else { "" };
        Column {
            name: format!("{prefix}{name}"),
            data: match numbers {
                Some(numbers) => Data::Whole(numbers),
                None => Data::Text(values.into_iter().map(Option::unwrap_or_default).collect()),
            },
        }
    };
    names.into_iter().map(column).collect()
}

/// A run of a configuration.
struct Line<'a> {
    subject: usize,
    setup: usize,
    repeat: usize,
    run: &'a Run,
    record: &'a Record,
}

fn lookup<'a>(totals: &'a Value, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        Some((table, name)) => totals.get(table)?.get(name),
        None => totals.get(name),
    }
}
