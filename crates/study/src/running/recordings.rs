//! The timelines of a study: which there are to be, and recording those that are not there yet.

use crate::error::StudyError;
use crate::format::Timeline;
use crate::output::report::Recorded;
use crate::plan::{Plan, Run};
use crate::results::key::Key;
use crate::results::store::{Store, Stored};
use crate::running::runner::{Watch, side_by_side};
use crate::running::timeline;
use serde_json::Value;
use std::sync::Arc;

/// A timeline that a study asks for.
pub struct Wanted<'p> {
    title: String,
    run: Arc<Run>,
    timeline: &'p Timeline,
    /// What it is stored under.
    pub key: Key,
}

impl Wanted<'_> {
    /// Its file in the results folder.
    pub fn file(&self) -> String {
        format!("timelines/{}.json", self.key)
    }
}

/// Every timeline of a plan, in the study's order.
pub fn wanted(plan: &Plan) -> Vec<Wanted<'_>> {
    let mut wanted = Vec::new();
    for timeline in &plan.study.timelines {
        for configuration in &timeline.configurations {
            let setup = plan.setup(&configuration.value);
            let subjects = plan.subjects.find_all(&timeline.workload.value);
            let Some(run) = subjects.iter().find_map(|&s| plan.run(s, setup)) else {
                continue;
            };
            let (workload, under) = (&run.workload, &plan.setups[setup].title);
            let what = match timeline.title.as_str() {
                "" => String::new(),
                title => format!(". {title}"),
            };
            wanted.push(Wanted {
                title: format!("{workload} under {under}{what}"),
                run: run.clone(),
                timeline,
                key: timeline::key(run, timeline),
            });
        }
    }
    wanted
}

/// Every timeline of a plan; those that the folder does not have are recorded.
pub fn all(
    plan: &Plan,
    store: &Store,
    jobs: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Recorded>, StudyError> {
    record(wanted(plan), store, jobs, watch)
}

/// These timelines; those that the folder does not have are recorded.
pub fn record(
    wanted: Vec<Wanted<'_>>,
    store: &Store,
    jobs: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Recorded>, StudyError> {
    let mut found: Vec<Option<Value>> = Vec::new();
    for one in &wanted {
        let stored = store.get_object(&one.file());
        if let Stored::Damaged(kept) = &stored {
            watch.note(&format!(
                "a stored timeline is not as written, and recorded again; kept as {}",
                kept.display()
            ));
        }
        found.push(stored.whole());
    }
    let absent: Vec<usize> = (0..wanted.len()).filter(|i| found[*i].is_none()).collect();
    if !absent.is_empty() {
        watch.note(&format!("recording {} timelines", absent.len()));
    }
    let recorded = side_by_side(&absent, jobs, |&i| {
        timeline::record(&wanted[i].run, wanted[i].timeline)
    })?;
    let mut failed = vec![None; wanted.len()];
    for (&i, result) in absent.iter().zip(recorded) {
        match result {
            Ok(data) => {
                store.put_object(&wanted[i].file(), &data.to_string())?;
                found[i] = Some(data);
            }
            Err(reason) => failed[i] = Some(reason),
        }
    }
    let all = wanted.into_iter().zip(found).zip(failed);
    Ok(all
        .map(|((one, data), reason)| Recorded {
            title: one.title,
            data: data.ok_or_else(|| reason.unwrap_or_default()),
        })
        .collect())
}
