//! What a GPU computed, small enough to commit.
//!
//! A text: `gpu` and `driver`, then for each form `form NAME`, for each result a line `e`
//! with the results of the edge vectors in full (or one line `g` with a hash for each batch of
//! them, see [`Form::brief`]), and then either `h` with a hash for each
//! batch of random vectors, or, for an approximation, `u` with the largest difference from
//! the simulator (see `crate::ulp`) and for each result a line `r` with the random vectors'
//! results in full. Values are hexadecimal; `*3` repeats the one before three more times.
//! A line `e =N` has the results of the `N`th line `e` written in full, from 0: many forms
//! agree. A form that the GPU's compiler refuses has a line `x` with the reason instead.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use crate::form::Form;
use crate::operands::{BATCH, operands};
use crate::plan::Raw;
use crate::random::fnv;
use crate::simulate::simulate;
use crate::ulp::largest;

/// What is kept of the random vectors.
#[derive(Clone, Debug)]
pub enum Kept {
    /// A hash for each batch.
    Hashes(Vec<u64>),
    /// The results of an approximation, and the largest difference there was.
    Approximate {
        /// One column for each result.
        results: Vec<Vec<u64>>,
        /// The largest difference of edge and random vectors.
        bound: u64,
    },
}

/// What is kept of the edge vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edges {
    /// The results, one column for each result.
    Full(Vec<Vec<u64>>),
    /// A hash for each batch.
    Hashes(Vec<u64>),
}

/// What is known of a form.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The edge vectors.
    pub edges: Edges,
    /// The random vectors.
    pub random: Kept,
}

/// Recorded results.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The GPU they were made on.
    pub gpu: String,
    /// Its driver.
    pub driver: String,
    /// By the form's name.
    pub entries: HashMap<String, Entry>,
    /// Why the GPU's compiler refuses a form, by its name.
    pub refused: BTreeMap<String, String>,
}

/// Edge vectors under one hash: few, so that it says where to look.
pub const EDGE_BATCH: usize = 32;

/// A hash for each batch of random vectors; `results` has them alone.
pub fn hashes(results: &[Vec<u64>]) -> Vec<u64> {
    batches(results, BATCH)
}

/// A hash for each batch of edge vectors; `results` has them alone.
pub fn edge_hashes(results: &[Vec<u64>]) -> Vec<u64> {
    batches(results, EDGE_BATCH)
}

fn batches(results: &[Vec<u64>], batch: usize) -> Vec<u64> {
    let count = results.first().map_or(0, Vec::len);
    (0..count)
        .step_by(batch)
        .map(|start| {
            let end = (start + batch).min(count);
            let bytes: Vec<u8> = (start..end)
                .flat_map(|i| results.iter().flat_map(move |c| c[i].to_le_bytes()))
                .collect();
            fnv(&bytes)
        })
        .collect()
}

fn words(values: &[u64]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < values.len() {
        let run = values[at..]
            .iter()
            .take_while(|v| **v == values[at])
            .count();
        // Writing to a `String` cannot fail.
        let _ = match run {
            1 => write!(out, " {:x}", values[at]),
            _ => write!(out, " {:x} *{}", values[at], run - 1),
        };
        at += run;
    }
    out
}

/// The compiler's own words out of a driver's message.
fn reason(message: &str) -> String {
    let line = message.lines().find(|l| l.contains("error   :"));
    let text = line.and_then(|l| l.split_once("error   :"));
    let first = message.lines().next().unwrap_or("no reason given");
    text.map_or(first, |(_, text)| text).trim().to_string()
}

/// What a GPU computed, as an entry of a record.
fn entry(form: &Form, results: &[Vec<u64>]) -> Result<Entry, String> {
    let operands = operands(&form.sources);
    let (edges, random): (Vec<_>, Vec<_>) = (results.iter())
        .map(|column| column.split_at(operands.edges))
        .map(|(edges, random)| (edges.to_vec(), random.to_vec()))
        .unzip();
    let random = if form.approximate {
        let ours = simulate(form, &operands)?;
        let bound = largest(form, &ours, results).map_err(|e| format!("{}: {e}", form.name))?;
        Kept::Approximate {
            results: random,
            bound,
        }
    } else {
        Kept::Hashes(hashes(&random))
    };
    Ok(Entry {
        edges: Edges::Full(edges),
        random,
    })
}

/// What a GPU computed, the edge vectors in full.
pub fn write(forms: &[Form], raw: &Raw) -> Result<String, String> {
    let mut record = Record {
        gpu: raw.gpu.clone(),
        driver: raw.driver.clone(),
        ..Record::default()
    };
    for (form, answer) in forms.iter().zip(&raw.answers) {
        match answer {
            Ok(results) => {
                let entry = entry(form, results)?;
                record.entries.insert(form.name.clone(), entry);
            }
            Err(message) => {
                record.refused.insert(form.name.clone(), reason(message));
            }
        }
    }
    Ok(record.text(forms))
}

impl Record {
    /// Takes everything that another record knows, which is newer.
    pub fn update(&mut self, newer: Record) {
        self.refused
            .retain(|name, _| !newer.entries.contains_key(name));
        self.entries
            .retain(|name, _| !newer.refused.contains_key(name));
        self.entries.extend(newer.entries);
        self.refused.extend(newer.refused);
        (self.gpu, self.driver) = (newer.gpu, newer.driver);
    }

    /// The edge vectors of brief forms as hashes: the text to commit.
    pub fn shorten(&mut self, forms: &[Form]) {
        for form in forms.iter().filter(|f| f.brief) {
            let Some(entry) = self.entries.get_mut(&form.name) else {
                continue;
            };
            if let Edges::Full(columns) = &entry.edges {
                entry.edges = Edges::Hashes(edge_hashes(columns));
            }
        }
    }

    /// The record of these forms as text.
    pub fn text(&self, forms: &[Form]) -> String {
        let mut out = format!("gpu {}\ndriver {}\n", self.gpu, self.driver);
        let mut known: HashMap<String, usize> = HashMap::new();
        for form in forms {
            if let Some(reason) = self.refused.get(&form.name) {
                let _ = writeln!(out, "form {}\nx {reason}", form.name);
                continue;
            }
            let Some(entry) = self.entries.get(&form.name) else {
                continue;
            };
            let _ = writeln!(out, "form {}", form.name);
            match &entry.edges {
                Edges::Hashes(hashes) => {
                    let _ = writeln!(out, "g{}", words(hashes));
                }
                Edges::Full(columns) => {
                    for column in columns {
                        let next = known.len();
                        let text = words(column);
                        let _ = match known.get(&text) {
                            Some(number) => writeln!(out, "e ={number}"),
                            None => writeln!(out, "e{text}"),
                        };
                        known.entry(text).or_insert(next);
                    }
                }
            }
            match &entry.random {
                Kept::Hashes(hashes) => {
                    let _ = writeln!(out, "h{}", words(hashes));
                }
                Kept::Approximate { results, bound } => {
                    let _ = writeln!(out, "u {bound}");
                    for column in results {
                        let _ = writeln!(out, "r{}", words(column));
                    }
                }
            }
        }
        out
    }
}

fn values(text: &str) -> Result<Vec<u64>, String> {
    let mut values = Vec::new();
    for word in text.split_whitespace() {
        match word.strip_prefix('*') {
            Some(count) => {
                let count: usize = count.parse().map_err(|_| format!("`{word}`"))?;
                let last = *values.last().ok_or("a repetition of nothing")?;
                values.extend(std::iter::repeat_n(last, count));
            }
            None => values.push(u64::from_str_radix(word, 16).map_err(|_| format!("`{word}`"))?),
        }
    }
    Ok(values)
}

/// Reads recorded results.
pub fn read(text: &str) -> Result<Record, String> {
    let mut record = Record::default();
    let mut current: Option<(String, Entry)> = None;
    let mut known: Vec<Vec<u64>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let (tag, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (tag, &mut current) {
            ("gpu", _) => record.gpu = rest.to_string(),
            ("driver", _) => record.driver = rest.to_string(),
            ("form", _) => {
                record.entries.extend(current.take());
                let entry = Entry {
                    edges: Edges::Full(Vec::new()),
                    random: Kept::Hashes(Vec::new()),
                };
                current = Some((rest.to_string(), entry));
            }
            ("e", Some((_, entry))) => {
                let column = match rest.strip_prefix('=') {
                    Some(number) => (number.parse().ok())
                        .and_then(|n: usize| known.get(n))
                        .ok_or_else(|| wrong("no such line `e` before"))?
                        .clone(),
                    None => {
                        known.push(values(rest).map_err(|e| wrong(&e))?);
                        known[known.len() - 1].clone()
                    }
                };
                match &mut entry.edges {
                    Edges::Full(columns) => columns.push(column),
                    Edges::Hashes(_) => return Err(wrong("`e` after `g`")),
                }
            }
            ("g", Some((_, entry))) => {
                entry.edges = Edges::Hashes(values(rest).map_err(|e| wrong(&e))?);
            }
            ("x", Some((name, _))) => {
                record.refused.insert(name.clone(), rest.to_string());
                current = None;
            }
            ("h", Some((_, entry))) => {
                entry.random = Kept::Hashes(values(rest).map_err(|e| wrong(&e))?);
            }
            ("u", Some((_, entry))) => {
                entry.random = Kept::Approximate {
                    results: Vec::new(),
                    bound: rest.parse().map_err(|_| wrong("not a number"))?,
                };
            }
            ("r", Some((_, entry))) => match &mut entry.random {
                Kept::Approximate { results, .. } => {
                    results.push(values(rest).map_err(|e| wrong(&e))?);
                }
                Kept::Hashes(_) => return Err(wrong("`r` before `u`")),
            },
            _ => return Err(wrong("not understood")),
        }
    }
    record.entries.extend(current);
    Ok(record)
}
