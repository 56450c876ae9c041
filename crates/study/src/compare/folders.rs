//! Two folders of runs beside each other: what a study left before and after a change, or files of
//! `warpsim run --stats` with the same names.

use super::{csv, read};
use crate::error::StudyError;
use crate::output::table::fitted;
use crate::values::sample::Sample;
use crate::words;
use std::path::Path;
use warpsim_present::reading;

/// The runs of a folder.
pub struct Folder {
    /// What to call it.
    name: String,
    /// A study's folder, or one of files.
    study: bool,
    runs: Vec<Run>,
    /// Those whose numbers mean nothing, and why.
    failed: Vec<String>,
}

/// What ran, with the repeats of it.
struct Run {
    /// Workload and configuration, or the file's name.
    key: [String; 2],
    /// What makes runs of one name different things: workload, parameters, size.
    inputs: String,
    cycles: Sample,
    ipc: Option<Sample>,
}

/// A run while its repeats are gathered.
struct Repeats {
    key: [String; 2],
    inputs: String,
    cycles: Vec<f64>,
    ipc: Vec<f64>,
}

impl Folder {
    /// Reads a folder.
    pub fn read(path: &Path) -> Result<Folder, StudyError> {
        let table = path.join("results.csv");
        match table.exists() {
            true => Folder::of_study(path, &table),
            false => Folder::of_files(path),
        }
    }

    fn of_study(path: &Path, table: &Path) -> Result<Folder, StudyError> {
        let bad = |what: String| StudyError::bad_input(format!("{}: {what}", table.display()));
        let bytes = reading::read(table, reading::DATA).map_err(|e| bad(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8 text".into()))?;
        let records = csv::records(&text).ok_or_else(|| bad("a quote is not closed".into()))?;
        let (head, rows) = records
            .split_first()
            .ok_or_else(|| bad("it is empty".into()))?;
        let place = |name: &str| {
            let found = head.iter().position(|h| h == name);
            found.ok_or_else(|| bad(format!("it has no column `{name}`")))
        };
        let (workload, configuration) = (place("workload")?, place("configuration")?);
        let (parameters, size, status) = (place("parameters")?, place("size")?, place("status")?);
        let (cycles, ipc) = (place("cycles")?, place("ipc")?);
        let mut folder = Folder::empty(path, true);
        let mut all: Vec<Repeats> = Vec::new();
        for row in rows {
            let cell = |at: usize| row.get(at).cloned().unwrap_or_default();
            let key = [cell(workload), cell(configuration)];
            let good = ["correct", "unchecked"].contains(&cell(status).as_str());
            let numbers = (cell(cycles).parse().ok(), cell(ipc).parse().ok());
            let (true, (Some(cycles), Some(ipc))) = (good, numbers) else {
                let text = format!("{} under {}: {}", key[0], key[1], cell(status));
                if !folder.failed.contains(&text) {
                    folder.failed.push(text);
                }
                continue;
            };
            let place = all.iter().position(|r| r.key == key);
            let place = place.unwrap_or_else(|| {
                let inputs = format!("{} at size {}", cell(parameters), cell(size));
                all.push(Repeats {
                    key,
                    inputs: inputs.trim_start().to_string(),
                    cycles: Vec::new(),
                    ipc: Vec::new(),
                });
                all.len() - 1
            });
            all[place].cycles.push(cycles);
            all[place].ipc.push(ipc);
        }
        folder.runs = all
            .into_iter()
            .filter_map(|r| {
                Some(Run {
                    key: r.key,
                    inputs: r.inputs,
                    cycles: Sample::of(r.cycles)?,
                    ipc: Sample::of(r.ipc),
                })
            })
            .collect();
        Ok(folder)
    }

    fn of_files(path: &Path) -> Result<Folder, StudyError> {
        let bad = |what: String| StudyError::bad_input(format!("{}: {what}", path.display()));
        let listed = std::fs::read_dir(path).map_err(|e| bad(e.to_string()))?;
        let files = listed.filter_map(|entry| Some(entry.ok()?.path()));
        let mut files: Vec<_> = files
            .filter(|f| f.extension().is_some_and(|e| e == "json"))
            .collect();
        files.sort();
        let mut folder = Folder::empty(path, false);
        for file in files {
            let name = file.file_stem().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let measured = match read(&file) {
                Ok(measured) => measured,
                Err(error) => {
                    folder.failed.push(format!("{name}: {error}"));
                    continue;
                }
            };
            let value = |name: &str| {
                let value = measured.statistics.get(name)?;
                Sample::of(vec![*value])
            };
            let Some(cycles) = value("cycles") else {
                folder.failed.push(format!("{name}: it has no cycles"));
                continue;
            };
            folder.runs.push(Run {
                key: [name, String::new()],
                ipc: value("ipc"),
                inputs: measured.workload,
                cycles,
            });
        }
        if folder.runs.is_empty() {
            let why = folder
                .failed
                .first()
                .map_or(String::new(), |f| format!("; {f}"));
            return Err(bad(format!(
                "there is nothing to compare: neither `results.csv` of a study nor files of `warpsim run --stats`{why}"
            )));
        }
        Ok(folder)
    }

    fn empty(path: &Path, study: bool) -> Folder {
        Folder {
            name: path.display().to_string(),
            study,
            runs: Vec::new(),
            failed: Vec::new(),
        }
    }
}

/// A run that both folders have.
struct Pair<'a> {
    before: &'a Run,
    now: &'a Run,
}

impl Pair<'_> {
    /// Relative change of the cycles.
    fn change(&self) -> f64 {
        self.now.cycles.total() / self.before.cycles.total().max(1.0) - 1.0
    }

    /// Whether repeats of one could be repeats of the other.
    fn within_spread(&self) -> bool {
        let (a, b) = (self.before.cycles.range(), self.now.cycles.range());
        a.0 <= b.1 && b.0 <= a.1
    }

    fn words(&self) -> String {
        let percent = self.change() * 100.0;
        let size = match percent.abs() < 0.05 {
            true => format!("{:.3}%", percent.abs()),
            false => format!("{:.1}%", percent.abs()),
        };
        let text = match percent {
            0.0 => return "the same".to_string(),
            less if less < 0.0 => format!("{size} fewer"),
            _ => format!("{size} more"),
        };
        match self.within_spread() {
            true => format!("{text} (within spread)"),
            false => text,
        }
    }
}

/// What changed from folder `a` to folder `b`, as text: the headline first, then at most `most` runs, those
/// that changed most first.
pub fn compared(
    a: &Folder,
    b: &Folder,
    most: usize,
    width: Option<usize>,
) -> Result<String, StudyError> {
    if a.study != b.study {
        return Err(StudyError::bad_input(format!(
            "{} and {} cannot be compared: one is what a study left, the other holds files of `warpsim run --stats`",
            a.name, b.name
        )));
    }
    let mut out = format!("A  {}\nB  {}\n\n", a.name, b.name);
    let find = |run: &Run, folder: &'_ Folder| folder.runs.iter().position(|r| r.key == run.key);
    let mut pairs: Vec<Pair> = a
        .runs
        .iter()
        .filter_map(|before| {
            let now = &b.runs[find(before, b)?];
            Some(Pair { before, now })
        })
        .collect();
    for pair in pairs.iter().filter(|p| p.before.inputs != p.now.inputs) {
        out += &format!(
            "warning: {} is something else in B: {}, not {}\n",
            shown(&pair.before.key),
            pair.now.inputs,
            pair.before.inputs
        );
    }
    for (letter, folder, other) in [("A", a, b), ("B", b, a)] {
        let alone = folder.runs.iter().filter(|r| find(r, other).is_none());
        let alone: Vec<String> = alone.map(|r| shown(&r.key)).collect();
        out += &some(&format!("only in {letter}"), &alone);
        out += &some(&format!("without a result in {letter}"), &folder.failed);
    }
    if pairs.is_empty() {
        out += "nothing is in both\n";
        return Ok(out);
    }
    out += &headline(&pairs);
    pairs.sort_by(|x, y| y.change().abs().total_cmp(&x.change().abs()));
    out += &table(&pairs, most, width, a.study);
    Ok(out)
}

/// A few of a list, and how many there are.
fn some(what: &str, list: &[String]) -> String {
    const MOST: usize = 3;
    match list.len() {
        0 => String::new(),
        n if n <= MOST => format!("{what}: {}\n", list.join("; ")),
        n => format!(
            "{what}: {}; and {} more\n",
            list[..MOST].join("; "),
            n - MOST
        ),
    }
}

fn shown([what, under]: &[String; 2]) -> String {
    match under.as_str() {
        "" => what.clone(),
        under => format!("{what} under {under}"),
    }
}

fn headline(pairs: &[Pair]) -> String {
    let logs = pairs.iter().map(|p| (1.0 + p.change()).max(1e-12).ln());
    let mean = (logs.sum::<f64>() / pairs.len() as f64).exp() - 1.0;
    let speed = match mean * 100.0 {
        same if same.abs() < 0.0005 => "B takes as long as A".to_string(),
        less if less < 0.0 => format!("B is faster: {:.1}% fewer cycles than A", -less),
        more => format!("B is slower: {more:.1}% more cycles than A"),
    };
    let ipc = pairs.iter().filter_map(|p| {
        let ratio = p.now.ipc.as_ref()?.total() / p.before.ipc.as_ref()?.total();
        (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
    });
    let ipc: Vec<f64> = ipc.collect();
    let ipc = match ipc.len() {
        0 => String::new(),
        n => format!(
            "; IPC {:+.1}%",
            ((ipc.iter().sum::<f64>() / n as f64).exp() - 1.0) * 100.0
        ),
    };
    let count = |f: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|p| f(p)).count();
    let faster = count(&|p| p.change() < 0.0 && !p.within_spread());
    let slower = count(&|p| p.change() > 0.0 && !p.within_spread());
    format!(
        "{speed} (geometric mean over {}{ipc})\n{faster} faster, {slower} slower, {} the same or within the spread of their repeats\n\n",
        pairs.len(),
        pairs.len() - faster - slower
    )
}

fn table(pairs: &[Pair], most: usize, width: Option<usize>, study: bool) -> String {
    let mut head: Vec<&str> = vec!["workload", "configuration"];
    if !study {
        head = vec!["file"];
    }
    let keys = head.len();
    head.extend(["cycles in A", "in B", "in words", "IPC in A", "in B"]);
    let mut lines = vec![head.into_iter().map(String::from).collect::<Vec<_>>()];
    for pair in pairs.iter().take(most) {
        let cycles = |s: &Sample| {
            // Cycles are whole, and so is what is said of several repeats.
            let spread = s.spread().map(f64::round);
            words::with_spread(crate::format::Display::Number, s.total().round(), spread)
        };
        let ipc = |s: &Option<Sample>| {
            s.as_ref()
                .map_or("-".to_string(), |s| words::number(s.total()))
        };
        let mut line = pair.before.key[..keys].to_vec();
        line.extend([
            cycles(&pair.before.cycles),
            cycles(&pair.now.cycles),
            pair.words(),
            ipc(&pair.before.ipc),
            ipc(&pair.now.ipc),
        ]);
        lines.push(line);
    }
    let mut out = fitted(&lines, keys, width);
    if pairs.len() > most {
        out += &format!("and {} more (--all shows them)\n", pairs.len() - most);
    }
    out
}
