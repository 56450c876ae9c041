//! Which statistics moved between runs, worst first; and which runs between folders of them.

mod csv;
mod folders;

pub use folders::{Folder, compared};

use crate::error::StudyError;
use crate::output::table::fitted;
use crate::values::metric::{Statistics, statistic_names};
use crate::words::number;
use serde_json::Value;
use std::path::Path;
use warpsim_present::reading;

/// The statistics of a run, as `--stats` wrote them.
pub struct Measured {
    /// What to call it.
    pub name: String,
    /// What ran, on what.
    pub what: String,
    /// What ran: the workload with its parameters, or the launch file.
    pub workload: String,
    /// The statistics.
    pub statistics: Statistics,
}

/// Reads a file of `--stats`, or a stored run of a study.
pub fn read(path: &Path) -> Result<Measured, StudyError> {
    let name = path.display().to_string();
    let unreadable = |e: String| StudyError::bad_input(format!("cannot read {name}: {e}"));
    let bytes = reading::read(path, reading::DATA).map_err(|e| unreadable(e.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".into()))?;
    parse(&name, &text)
}

fn parse(name: &str, text: &str) -> Result<Measured, StudyError> {
    let bad = |what: String| StudyError::bad_input(format!("{name}: {what}"));
    let file: Value = serde_json::from_str(text).map_err(|e| bad(format!("not JSON: {e}")))?;
    match file["schema"].as_u64() {
        Some(1) => {}
        Some(n) => return Err(bad(format!("schema {n}; this version reads schema 1"))),
        None => {
            return Err(bad(
                "no statistics: files of `warpsim run --stats FILE` can be compared".into(),
            ));
        }
    }
    let totals = file["totals"].as_object();
    let totals = totals.ok_or_else(|| bad("it has no `totals`".into()))?;
    let mut statistics = Statistics::new();
    for (key, value) in totals {
        match value.as_object() {
            Some(table) => statistics.extend(
                table
                    .iter()
                    .filter_map(|(k, v)| Some((format!("{key}.{k}"), v.as_f64()?))),
            ),
            None => statistics.extend(value.as_f64().map(|v| (key.clone(), v))),
        }
    }
    let word = |key: &str| file[key].as_str().or(file["inputs"][key].as_str());
    let words: Vec<&str> = [
        "what",
        "workload",
        "machine",
        "scheduler",
        "fetch",
        "divergence",
    ]
    .iter()
    .filter_map(|key| word(key))
    .collect();
    Ok(Measured {
        name: name.to_string(),
        what: words.join(", "),
        workload: workload(&file),
        statistics,
    })
}

/// What ran, without what it ran on.
fn workload(file: &Value) -> String {
    let inputs = &file["inputs"];
    match (file["what"].as_str(), inputs["workload"].as_str()) {
        (Some(what), _) => what.to_string(),
        (None, Some(name)) => format!("{name} {}", inputs["parameters"]),
        (None, None) => String::new(),
    }
}

/// A statistic that moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Name.
    pub name: String,
    /// Its value in each run; none where the file has no such statistic.
    pub values: Vec<Option<f64>>,
    /// Largest relative change from the first run; infinite from zero.
    pub change: f64,
}

/// What moved against the first run, most first; of what moved alike, in declaration order.
pub fn moved(runs: &[Measured]) -> Vec<Moved> {
    let declared = statistic_names().iter();
    let mut names: Vec<&String> = declared.collect();
    let others = runs.iter().flat_map(|r| r.statistics.keys());
    for name in others {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut all = Vec::new();
    for name in names {
        let values: Vec<Option<f64>> = runs
            .iter()
            .map(|r| r.statistics.get(name).copied())
            .collect();
        let Some(first) = values.first().copied().flatten() else {
            continue;
        };
        let changes = values[1..]
            .iter()
            .flatten()
            .map(|v| change(first, *v).abs());
        let change = changes.fold(0.0, f64::max);
        if change > 0.0 {
            all.push(Moved {
                name: name.clone(),
                values,
                change,
            });
        }
    }
    all.sort_by(|a, b| b.change.total_cmp(&a.change));
    all
}

/// Relative change.
fn change(from: f64, to: f64) -> f64 {
    if from == to {
        0.0
    } else if from == 0.0 {
        f64::INFINITY.copysign(to)
    } else {
        (to - from) / from.abs()
    }
}

/// What moved, as text: at most `most` lines, at most `width` wide.
pub fn text(runs: &[Measured], most: usize, width: Option<usize>) -> String {
    let mut out = String::new();
    for (letter, run) in ('A'..).zip(runs) {
        out += &format!("{letter}  {}  {}\n", run.name, run.what);
    }
    out += &headline(runs);
    let all = moved(runs);
    let same = runs[0].statistics.len().saturating_sub(all.len());
    out += &format!("\n{} statistics moved, {same} did not\n", all.len());
    if all.is_empty() {
        return out;
    }
    let mut head = vec![String::new()];
    for (letter, _) in ('A'..).zip(runs) {
        head.push(letter.to_string());
        if letter != 'A' {
            head.push(format!("{letter} to A"));
        }
    }
    let mut lines = vec![head];
    for m in all.iter().take(most) {
        let first = m.values[0].unwrap_or_default();
        let mut line = vec![m.name.clone(), number(first)];
        for value in &m.values[1..] {
            line.push(value.map_or("-".into(), number));
            line.push(value.map_or(String::new(), |v| percent(change(first, v))));
        }
        lines.push(line);
    }
    out += &fitted(&lines, 1, width);
    if all.len() > most {
        out += &format!("and {} more (--all shows them)\n", all.len() - most);
    }
    out
}

/// What people look for first, in words: which run is faster, and whether they are of one workload.
fn headline(runs: &[Measured]) -> String {
    let mut out = String::new();
    for (letter, run) in ('A'..).zip(runs).skip(1) {
        if run.workload != runs[0].workload {
            out += &format!(
                "warning: {letter} ran something else than A: {}, not {}\n",
                run.workload, runs[0].workload
            );
        }
        let both = |name: &str| {
            let value = |run: &Measured| run.statistics.get(name).copied();
            Some((value(&runs[0])?, value(run)?))
        };
        let Some((before, now)) = both("cycles") else {
            continue;
        };
        let ipc = both("ipc").map_or(String::new(), |(before, now)| {
            format!("; IPC {} instead of {}", number(now), number(before))
        });
        let speed = match change(before, now) {
            0.0 => "takes as long as A".to_string(),
            less if less < 0.0 => format!("is faster: {:.1}% fewer cycles than A", -less * 100.0),
            more => format!("is slower: {:.1}% more cycles than A", more * 100.0),
        };
        out += &format!(
            "{letter} {speed} ({} instead of {}{ipc})\n",
            number(now),
            number(before)
        );
    }
    if out.is_empty() {
        out
    } else {
        format!("\n{out}")
    }
}

fn percent(change: f64) -> String {
    if change.is_infinite() {
        return if change > 0.0 { "from 0" } else { "below 0" }.into();
    }
    let percent = change * 100.0;
    if percent != 0.0 && percent.abs() < 0.05 {
        format!("{percent:+.4}%")
    } else {
        format!("{percent:+.1}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, values: &[(&str, f64)]) -> Measured {
        let statistics = values.iter().map(|(k, v)| (k.to_string(), *v));
        Measured {
            name: name.into(),
            what: String::new(),
            workload: "w".into(),
            statistics: statistics.collect(),
        }
    }

    #[test]
    fn what_moved_most_comes_first() {
        let a = run(
            "a",
            &[
                ("cycles", 100.0),
                ("ipc", 2.0),
                ("blocks", 4.0),
                ("fetches", 0.0),
            ],
        );
        let b = run(
            "b",
            &[
                ("cycles", 90.0),
                ("ipc", 3.0),
                ("blocks", 4.0),
                ("fetches", 1.0),
            ],
        );
        let moved = moved(&[a, b]);
        let order: Vec<(&str, f64)> = moved.iter().map(|m| (m.name.as_str(), m.change)).collect();
        assert_eq!(
            order,
            [("fetches", f64::INFINITY), ("ipc", 0.5), ("cycles", 0.1)]
        );
    }

    #[test]
    fn the_headline_says_who_is_faster() {
        let a = run("a", &[("cycles", 100.0), ("ipc", 2.0)]);
        let mut b = run("b", &[("cycles", 90.0), ("ipc", 2.5)]);
        b.workload = "v".into();
        let shown = text(&[a, b], 10, None);
        assert!(
            shown.contains("B is faster: 10.0% fewer cycles than A (90 instead of 100; IPC 2.5"),
            "{shown}"
        );
        assert!(
            shown.contains("warning: B ran something else than A: v, not w"),
            "{shown}"
        );
    }

    #[test]
    fn bad_files_say_what_is_wrong() {
        let error = |text: &str| parse("x.json", text).err().unwrap().text;
        assert!(error("{").starts_with("x.json: not JSON"));
        assert_eq!(
            error("{}"),
            "x.json: no statistics: files of `warpsim run --stats FILE` can be compared"
        );
        assert_eq!(
            error("{\"schema\":2}"),
            "x.json: schema 2; this version reads schema 1"
        );
        assert_eq!(error("{\"schema\":1}"), "x.json: it has no `totals`");
    }
}
