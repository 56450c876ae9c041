//! What a GPU computed, small enough to commit.
//!
//! A text: `gpu` and `driver`, then for each form `form NAME`, for each result a line `e`
//! with the results of the edge vectors in full, and then either `h` with a hash for each
//! batch of random vectors, or, for an approximation, `u` with the largest difference from
//! the simulator (see [`crate::ulp`]) and for each result a line `r` with the random vectors'
//! results in full. Values are hexadecimal; `*3` repeats the one before three more times.

use std::collections::HashMap;
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

/// What is known of a form.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Results of the edge vectors, one column for each result.
    pub edges: Vec<Vec<u64>>,
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
}

/// A hash for each batch of random vectors; `results` has them alone.
pub fn hashes(results: &[Vec<u64>]) -> Vec<u64> {
    let count = results.first().map_or(0, Vec::len);
    (0..count)
        .step_by(BATCH)
        .map(|start| {
            let end = (start + BATCH).min(count);
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

/// The text to commit. Forms that the GPU's compiler refused are an error: the catalogue
/// must not have them.
pub fn write(forms: &[Form], raw: &Raw) -> Result<String, String> {
    let mut out = format!("gpu {}\ndriver {}\n", raw.gpu, raw.driver);
    for (form, answer) in forms.iter().zip(&raw.answers) {
        let results = answer.as_ref().map_err(|e| format!("{}: {e}", form.name))?;
        let operands = operands(&form.sources);
        let _ = writeln!(out, "form {}", form.name);
        let (edges, random): (Vec<_>, Vec<_>) = (results.iter())
            .map(|column| column.split_at(operands.edges))
            .map(|(edges, random)| (edges.to_vec(), random.to_vec()))
            .unzip();
        for column in &edges {
            let _ = writeln!(out, "e{}", words(column));
        }
        if form.approximate {
            let ours = simulate(form, &operands)?;
            let bound = largest(form, &ours, results).map_err(|e| format!("{}: {e}", form.name));
            let _ = writeln!(out, "u {}", bound?);
            for column in &random {
                let _ = writeln!(out, "r{}", words(column));
            }
        } else {
            let _ = writeln!(out, "h{}", words(&hashes(&random)));
        }
    }
    Ok(out)
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
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let (tag, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (tag, &mut current) {
            ("gpu", _) => record.gpu = rest.to_string(),
            ("driver", _) => record.driver = rest.to_string(),
            ("form", _) => {
                record.entries.extend(current.take());
                let entry = Entry {
                    edges: Vec::new(),
                    random: Kept::Hashes(Vec::new()),
                };
                current = Some((rest.to_string(), entry));
            }
            ("e", Some((_, entry))) => entry.edges.push(values(rest).map_err(|e| wrong(&e))?),
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
