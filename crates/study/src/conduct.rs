//! A whole study: run, judge, write.

use crate::error::StudyError;
use crate::evaluate::{Results, Shown};
use crate::output::{columns, csv, parquet, terminal};
use crate::plan::Plan;
use crate::record::{Record, Status};
use crate::runner::{self, Watch};
use crate::store::Store;
use crate::verdict::{Judged, Verdict, judge};
use std::path::PathBuf;

/// What a study came to.
pub struct Conclusion {
    /// Tables and claims, for a terminal.
    pub text: String,
    /// Claims that hold, that do not, and that could not be looked at.
    pub claims: [usize; 3],
    /// Runs that failed: workload, configuration, status, reason, and whether that was expected.
    pub failures: Vec<Failure>,
    /// What this build does not have.
    pub missing: Vec<String>,
    /// Results of other builds or settings that stay in the folder.
    pub others: usize,
    /// What was written.
    pub files: Vec<PathBuf>,
}

/// A run that failed.
pub struct Failure {
    /// Workload.
    pub workload: String,
    /// Configuration.
    pub configuration: String,
    /// How.
    pub status: Status,
    /// Why.
    pub reason: String,
    /// Why that is no surprise, when the study says so.
    pub expected: Option<String>,
}

/// Runs what is not there yet, judges, and writes everything into the folder.
pub fn conduct(
    plan: &Plan,
    store: &Store,
    jobs: usize,
    watch: &mut dyn Watch,
) -> Result<Conclusion, StudyError> {
    let records = runner::run(plan, store, jobs, watch)?;
    let results = Results::new(plan, &records);
    let figures = judged(plan, &results);
    let mut claims = [0; 3];
    for judged in figures.iter().flat_map(|(_, j)| j) {
        let place = match judged.verdict {
            Verdict::Holds => 0,
            Verdict::Fails => 1,
            Verdict::Open => 2,
        };
        claims[place] += 1;
    }
    let files = write(store, &results)?;
    let keys: Vec<_> = plan.runs.iter().map(|r| r.key.clone()).collect();
    Ok(Conclusion {
        text: terminal::text(&results, &figures),
        claims,
        failures: failures(plan, &results),
        missing: plan.missing.clone(),
        others: store.others(&keys),
        files,
    })
}

/// Every figure with its claims judged.
pub fn judged(plan: &Plan, results: &Results) -> Vec<(Shown, Vec<Judged>)> {
    let figures = plan.study.figures.iter().enumerate();
    figures
        .map(|(index, figure)| {
            let shown = results.figure(index);
            let claims = figure.claims.iter();
            let judged = claims.map(|c| judge(plan, figure, &shown, c)).collect();
            (shown, judged)
        })
        .collect()
}

fn write(store: &Store, results: &Results) -> Result<Vec<PathBuf>, StudyError> {
    let columns = columns::columns(results);
    let typed = parquet::parquet(&columns).map_err(|e| {
        StudyError::unwritable(&store.root().join("results.parquet"), &std::io::Error::other(e))
    })?;
    Ok(vec![
        store.write("results.csv", csv::csv(&columns).as_bytes())?,
        store.write("results.parquet", &typed)?,
    ])
}

fn failures(plan: &Plan, results: &Results) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (subject, setup) in plan.pairs() {
        let bad = |r: &&Record| !r.status.good();
        let Some(record) = results.record(subject, setup).filter(bad) else {
            continue;
        };
        let workload = plan.subjects.name(subject);
        let configuration = &plan.setups[setup].name;
        let expected = plan.study.expected_failures.iter().find(|f| {
            let here = f.configurations.iter().any(|c| c.value == *configuration);
            f.workload.value == workload && here
        });
        failures.push(Failure {
            workload: workload.to_string(),
            configuration: configuration.clone(),
            status: record.status,
            reason: record.reason.clone(),
            expected: expected.map(|f| f.reason.clone()),
        });
    }
    failures
}
