//! What rows are made from: runs, and the launches of one of their kernels.

use crate::results::key::sha256;
use crate::results::record::Record;
use crate::values::metric::Statistics;
use std::collections::HashMap;

/// A result, with what rows are made from.
pub struct Stored<'a> {
    /// The result.
    pub record: &'a Record,
    whole: Part,
    /// Each kernel's, where there are several.
    kernels: HashMap<&'a str, Part>,
}

/// What a figure's row is made from: a run, or the launches of one of its kernels.
pub struct Part {
    /// By name.
    pub statistics: Statistics,
    /// A hash of every statistic: runs with the same did the same.
    pub print: String,
}

impl Part {
    fn of(record: &Record, kernel: Option<&str>) -> Part {
        let totals = record.totals_of(kernel);
        Part {
            statistics: record.statistics(kernel),
            print: sha256(totals.map(|t| t.to_string()).unwrap_or_default().as_bytes()),
        }
    }
}

impl<'a> Stored<'a> {
    /// A result.
    pub fn new(record: &'a Record) -> Stored<'a> {
        let kernels = record.kernels();
        Stored {
            record,
            whole: Part::of(record, None),
            kernels: kernels.map(|k| (k, Part::of(record, Some(k)))).collect(),
        }
    }

    /// Of the whole run, or of a kernel that it launched.
    pub fn part(&self, kernel: Option<&str>) -> Option<&Part> {
        match kernel {
            None => Some(&self.whole),
            Some(kernel) => {
                let known = self.kernels.get(kernel);
                known.or(self.record.totals_of(Some(kernel)).map(|_| &self.whole))
            }
        }
    }
}
