//! Studies in tests.
#![allow(dead_code)] // not every test needs everything

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use warpsim_present::Source;
use warpsim_study::format::parse;
use warpsim_study::plan::Run;
use warpsim_study::record::{Record, Status};
use warpsim_study::{Choices, Plan, StudyError};

/// The plan of a study's text.
pub fn plan(text: &str) -> Result<Plan, StudyError> {
    plan_with(text, &Choices::default())
}

/// The plan of a study's text, as the command line changes it.
pub fn plan_with(text: &str, choices: &Choices) -> Result<Plan, StudyError> {
    Plan::new(parse(&Source::new("test.toml", text))?, choices)
}

/// A made-up result.
pub fn record(run: &Run, status: Status, totals: Value) -> Record {
    Record {
        schema: 1,
        key: run.key.as_str().to_string(),
        status,
        reason: String::new(),
        totals,
        kernels: Value::Null,
        launches: Value::Null,
        seconds: 0.0,
        inputs: run.inputs.clone(),
    }
}

/// Results with these values of `ipc`, by workload and configuration.
pub fn records(plan: &Plan, ipc: &dyn Fn(&str, &str) -> Option<f64>) -> Vec<Record> {
    repeated(plan, &|workload, configuration, _| {
        ipc(workload, configuration)
    })
}

/// Results with these values of `ipc`, by workload, configuration and repeat. No two runs are alike
/// in every statistic.
pub fn repeated(plan: &Plan, ipc: &dyn Fn(&str, &str, usize) -> Option<f64>) -> Vec<Record> {
    let one = |(number, run): (usize, &std::sync::Arc<Run>)| {
        let value = ipc(&run.workload, &run.configuration, run.repeat);
        let status = match value {
            Some(_) => Status::Correct,
            None => Status::Wrong,
        };
        let ipc = value.unwrap_or(1.0);
        record(run, status, json!({ "ipc": ipc, "deepest_stack": number }))
    };
    plan.runs.iter().enumerate().map(one).collect()
}

/// A directory that goes away with the value.
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory for the test `name`.
    pub fn new(name: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("warpsim-study-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: a test that failed has more to say.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Names of the files of a directory.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("readable");
    let mut names: Vec<String> = entries
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    names.sort();
    names
}
