//! The comparison as text: programs and launches, worst first.

use std::fmt::Write;
use warpsim_workloads::agreement::figures::Figures;
use warpsim_workloads::agreement::{Compared, Pair, Program, SCHEDULERS, Set};

/// How to show a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// As Markdown.
    pub markdown: bool,
    /// Only what differs by more per cent.
    pub beyond: f64,
}

impl Style {
    /// What stands before, between and behind the columns of a table.
    pub fn borders(self) -> (&'static str, &'static str, &'static str) {
        match self.markdown {
            true => ("| ", " | ", " |"),
            false => ("", "  ", ""),
        }
    }
}

/// A launch of a program: its shape and, where there are several, which of them it is.
pub fn shape(program: &Program, launch: usize) -> String {
    match program.reference.len() {
        1 => program.shape.clone(),
        _ => format!("{}: {}", program.shape, launch + 1),
    }
}

/// A launch or a program under both schedulers.
struct Row {
    name: String,
    what: String,
    pairs: [Option<Pair>; 2],
    same_instructions: bool,
}

impl Row {
    /// Its largest difference, whichever the sign.
    fn worst(&self) -> f64 {
        let pairs = self.pairs.iter().flatten();
        pairs.map(|p| p.difference().abs()).fold(0.0, f64::max)
    }
}

/// The tables and figures of a set on a machine.
pub fn of_set(
    set: Set,
    machine: &str,
    compared: &[Compared],
    outdated: &[&str],
    style: Style,
) -> String {
    let mut text = String::new();
    let mark = if style.markdown { "### " } else { "" };
    let _ = writeln!(text, "{mark}{machine}, {}\n", title(set));
    let launches = rows(compared, true);
    let programs = rows(compared, false);
    if set == Set::Workloads {
        table(&mut text, "workload", &programs, style);
    }
    table(&mut text, "launch of", &launches, style);
    let _ = writeln!(text, "{}.", summary("launches", &launches));
    if set == Set::Workloads {
        let _ = writeln!(text, "{}.", summary("programs", &programs));
    }
    if !outdated.is_empty() {
        let _ = writeln!(
            text,
            "Skipped, because their kernels have changed since the reference ran them: {}.",
            outdated.join(", ")
        );
    }
    text.push('\n');
    text
}

fn title(set: Set) -> &'static str {
    match set {
        Set::Micro => "first micro-kernels",
        Set::Series => "second micro-kernels, once and in a row",
        Set::Workloads => "workloads at `tiny`",
    }
}

/// Programs, or their launches, with both schedulers side by side, worst first.
fn rows(compared: &[Compared], by_launch: bool) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for one in compared {
        let program = &one.program;
        let scheduler = SCHEDULERS.iter().position(|s| *s == program.scheduler);
        let mut add = |what: String, pair: Pair| {
            let is_it = |row: &&mut Row| row.name == program.name && row.what == what;
            let found = rows.iter_mut().rev().find(is_it);
            let row = match found {
                Some(row) => row,
                None => {
                    rows.push(Row {
                        name: program.name.clone(),
                        what,
                        pairs: [None; 2],
                        same_instructions: true,
                    });
                    let last = rows.len() - 1;
                    &mut rows[last]
                }
            };
            row.pairs[scheduler.unwrap_or(0)] = Some(pair);
            row.same_instructions &= one.same_instructions;
        };
        if !by_launch {
            add(program.shape.clone(), one.total());
            continue;
        }
        for (launch, pair) in one.launches.iter().enumerate() {
            add(shape(program, launch), *pair);
        }
    }
    rows.sort_by(|a, b| b.worst().total_cmp(&a.worst()));
    rows
}

fn table(text: &mut String, first: &str, rows: &[Row], style: Style) {
    let rows: Vec<&Row> = rows.iter().filter(|r| r.worst() >= style.beyond).collect();
    if rows.is_empty() {
        let _ = writeln!(text, "None differs by more than {}%.\n", style.beyond);
        return;
    }
    let (open, gap, close) = style.borders();
    let head = ["reference", "ours", "%"];
    let _ = write!(text, "{open}{first:<20}{gap}{:<22}", "shape");
    for scheduler in SCHEDULERS {
        for column in head {
            let _ = write!(text, "{gap}{:>13}", format!("{scheduler} {column}"));
        }
    }
    let _ = writeln!(text, "{close}");
    if style.markdown {
        let _ = writeln!(text, "|---|---|---:|---:|---:|---:|---:|---:|");
    }
    for row in rows {
        let _ = write!(text, "{open}{:<20}{gap}{:<22}", row.name, row.what);
        for pair in row.pairs {
            let [reference, ours, difference] = match pair {
                Some(p) => [
                    p.reference.to_string(),
                    p.ours.to_string(),
                    format!("{:+.1}", p.difference()),
                ],
                None => [const { String::new() }; 3],
            };
            let _ = write!(
                text,
                "{gap}{reference:>13}{gap}{ours:>13}{gap}{difference:>13}"
            );
        }
        let mark = if row.same_instructions {
            ""
        } else {
            "  instruction counts differ"
        };
        let _ = writeln!(text, "{mark}{close}");
    }
    text.push('\n');
}

fn summary(what: &str, rows: &[Row]) -> String {
    let figures = Figures::of(rows.iter().flat_map(|row| row.pairs).flatten());
    let correlation = match figures.correlation {
        Some(r) => format!(", correlation {r:.5}"),
        None => String::new(),
    };
    format!(
        "{} {what} under both schedulers: mean absolute difference {:.2}%, largest {:.1}%{correlation}",
        figures.count, figures.mean, figures.largest
    )
}
