//! Results as a tidy table: a row for each workload under each configuration, a column for each
//! fact. CSV and Parquet are written from it.

use crate::evaluate::Results;
use crate::format::SIZES;
use crate::metric::statistic_names;
use crate::record::Record;
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
    let rows: Vec<(usize, usize, &Record)> = plan
        .pairs()
        .into_iter()
        .filter_map(|(w, c)| Some((w, c, results.record(w, c)?)))
        .collect();
    let text = |name: &str, f: &dyn Fn(usize, usize, &Record) -> String| Column {
        name: name.to_string(),
        data: Data::Text(rows.iter().map(|(w, c, r)| f(*w, *c, r)).collect()),
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
        text("study", &|_, _, _| plan.study.name.clone()),
        text("workload", &|w, _, _| plan.subjects.name(w).to_string()),
        text("configuration", &|_, c, _| plan.setups[c].name.clone()),
        text("machine", &|_, c, _| machine(c, |m| &m.name)),
        text("scheduler", &|_, c, _| machine(c, |m| &m.scheduler.name)),
        text("fetch", &|_, c, _| machine(c, |m| &m.fetch.policy.name)),
        text("divergence", &|_, c, _| machine(c, |m| &m.divergence.name)),
        text("settings", &|_, c, _| {
            let settings = plan.study.configurations[c].settings.iter();
            settings
                .map(|s| s.value.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        }),
        text("size", &|_, _, _| size.clone()),
        text("parameters", &|w, c, _| {
            let values = plan.run(w, c).map(|r| r.parameters.iter());
            let pair = |(n, v): (&str, u64)| format!("{n}={v}");
            values
                .into_iter()
                .flatten()
                .map(pair)
                .collect::<Vec<_>>()
                .join(" ")
        }),
        Column {
            name: "seed".into(),
            data: Data::Whole(
                rows.iter()
                    .map(|(w, c, _)| plan.run(*w, *c).map(|r| r.seed as i64))
                    .collect(),
            ),
        },
        text("status", &|_, _, r| r.status.name().to_string()),
        text("reason", &|_, _, r| {
            r.reason.lines().next().unwrap_or_default().to_string()
        }),
        text("key", &|_, _, r| r.key.clone()),
    ];
    // Names and types of the statistics, whether or not any run got that far.
    let template = Totals::default().to_json();
    for name in statistic_names() {
        let real = lookup(&template, name).is_some_and(Value::is_f64);
        let values = rows.iter().map(|(_, _, r)| lookup(&r.totals, name));
        columns.push(Column {
            name: name.clone(),
            data: if real {
                Data::Real(values.map(|v| v?.as_f64()).collect())
            } else {
                Data::Whole(values.map(|v| v?.as_i64()).collect())
            },
        });
    }
    columns
}

fn lookup<'a>(totals: &'a Value, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        Some((table, name)) => totals.get(table)?.get(name),
        None => totals.get(name),
    }
}
