//! What is kept of a run.

use crate::results::key::SCHEMA;
use crate::results::seal::{is_intact, seal};
use crate::values::metric::{SIZE_STATISTICS, Statistics};
use crate::values::sizes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The result is right.
    Correct,
    /// Nothing was there to compare with.
    Unchecked,
    /// The result is wrong.
    Wrong,
    /// The simulated program failed: a deadlock, the cycle limit, an access out of bounds.
    ProgramFailed,
    /// The machine, the launch or a parameter makes no sense.
    BadInput,
    /// The simulator itself failed.
    Crashed,
}

impl Status {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Status::Correct => "correct",
            Status::Unchecked => "unchecked",
            Status::Wrong => "wrong",
            Status::ProgramFailed => "program-failed",
            Status::BadInput => "bad-input",
            Status::Crashed => "crashed",
        }
    }

    /// Whether its numbers may be used.
    pub fn good(self) -> bool {
        matches!(self, Status::Correct | Status::Unchecked)
    }
}

/// A run and what came of it, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Format.
    pub schema: u64,
    /// What it is stored under.
    pub key: String,
    /// How it ended.
    pub status: Status,
    /// Why, when not well.
    pub reason: String,
    /// Every statistic, as `--stats` has them under `totals`.
    pub totals: Value,
    /// Every statistic of each kernel's launches alone, where there are several kernels.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub kernels: Value,
    /// What each launch was: kernel, shape, registers, occupancy.
    pub launches: Value,
    /// Seconds the host took.
    pub seconds: f64,
    /// What determined the run.
    pub inputs: Value,
}

/// The text that a result is stored as, with its checksum.
pub fn stored_text(record: &Record) -> Result<String, serde_json::Error> {
    Ok(seal(&serde_json::to_string_pretty(record)?))
}

/// A stored result; `None` where the text is not as it was written.
pub fn read_stored(text: &str) -> Option<Record> {
    let record = is_intact(text).then(|| Record::parse(text).ok())??;
    (record.schema == SCHEMA).then_some(record)
}

impl Record {
    /// A record from JSON, without looking at its checksum.
    pub fn parse(text: &str) -> Result<Record, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Every statistic of the whole run, or of a kernel's launches; nothing of one that was not
    /// launched.
    pub fn totals_of(&self, kernel: Option<&str>) -> Option<&Value> {
        let Some(kernel) = kernel else {
            return Some(&self.totals);
        };
        let launches = self.launches.as_array().map_or(&[][..], Vec::as_slice);
        let alone = !launches.is_empty() && launches.iter().all(|l| l["kernel"] == kernel);
        let whole = alone.then_some(&self.totals);
        self.kernels.get(kernel).or(whole)
    }

    /// The kernels that the run launched, where there are several.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let table = self.kernels.as_object();
        table.into_iter().flat_map(|t| t.keys().map(String::as_str))
    }

    /// The statistics by name, of the whole run or of a kernel's launches; none when it did not get
    /// that far.
    pub fn statistics(&self, kernel: Option<&str>) -> Statistics {
        let mut all = Statistics::new();
        let Some(totals) = self.totals_of(kernel).and_then(Value::as_object) else {
            return all;
        };
        for (name, value) in totals {
            match value {
                Value::Object(table) => all.extend(
                    table
                        .iter()
                        .filter_map(|(k, v)| Some((format!("{name}.{k}"), v.as_f64()?))),
                ),
                _ => all.extend(value.as_f64().map(|v| (name.clone(), v))),
            }
        }
        let [(waves, _), (idle, _)] = SIZE_STATISTICS;
        all.extend(sizes::waves(self, kernel).map(|v| (waves.to_string(), v)));
        all.extend(sizes::idle(self, kernel).map(|v| (idle.to_string(), v)));
        all
    }
}
