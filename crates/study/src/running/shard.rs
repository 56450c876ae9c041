//! A part of a study, for one of several machines that know nothing of each other.
//!
//! Runs are dealt out by their keys, which are hashes: every shard gets its share of long and short
//! ones, whatever order the study has them in, and which shard runs what follows from the study alone.

use crate::conduct::Failure;
use crate::error::StudyError;
use crate::plan::Plan;
use crate::results::key::Key;
use crate::results::store::Store;
use crate::running::recordings;
use crate::running::request::Request;
use crate::running::runner::{self, Watch};
use std::fmt;
use std::str::FromStr;

/// Part `number`, from 1, of `of` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parsed {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("a shard is K/N: part K, from 1 to N, of N parts, such as 1/8".into()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Which of `keys` are of this part.
    fn of<'k>(self, keys: impl Iterator<Item = &'k Key>) -> Vec<bool> {
        let keys: Vec<&Key> = keys.collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&i| keys[i]);
        let mut mine = vec![false; keys.len()];
        for &i in order.iter().skip(self.number - 1).step_by(self.of) {
            mine[i] = true;
        }
        mine
    }
}

/// Runs a part of a study. The folder then has its runs and what was asked for, but no report:
/// [`crate::results::merge`] writes that. Returns the runs of this part that failed.
pub fn conduct_shard(
    plan: &Plan,
    store: &Store,
    shard: Shard,
    request: &Request,
    jobs: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Failure>, StudyError> {
    request.write(store)?;
    let mine = shard.of(plan.runs.iter().map(|r| &r.key));
    let records = runner::run(plan, &mine, store, jobs, watch)?;
    let mut wanted = recordings::wanted(plan);
    let mut mine = shard.of(wanted.iter().map(|w| &w.key)).into_iter();
    wanted.retain(|_| mine.next().unwrap_or(false));
    recordings::record(wanted, store, jobs, watch)?;
    let ended = plan.runs.iter().zip(&records);
    let failed = ended.filter_map(|(run, record)| {
        let record = record.as_ref().filter(|r| !r.status.good())?;
        let setup = plan.setup(&run.configuration);
        Some(Failure::of(plan, &run.workload, setup, record))
    });
    Ok(failed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_run_is_of_exactly_one_part_and_parts_are_of_a_size() {
        let keys: Vec<Key> = (0..103).map(|n| Key::of(&json!(n))).collect();
        for of in [1, 2, 7, 103, 200] {
            let shards = (1..=of).map(|number| Shard { number, of });
            let parts: Vec<Vec<bool>> = shards.map(|s| s.of(keys.iter())).collect();
            for i in 0..keys.len() {
                assert_eq!(parts.iter().filter(|p| p[i]).count(), 1);
            }
            let sizes = parts.iter().map(|p| p.iter().filter(|m| **m).count());
            let (least, most) = (keys.len() / of, keys.len().div_ceil(of));
            assert!(sizes.into_iter().all(|s| s == least || s == most));
        }
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "1/3/5", "-1/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
