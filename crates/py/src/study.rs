//! The runs of a study, one by one, for a caller that spreads them; and what they come to.

use crate::errors;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use warpsim_present::Source;
use warpsim_sim::progress::{Progress, Snapshot};
use warpsim_study::record::read_stored;
use warpsim_study::runner::{Silent, Watch as StudyWatch};
use warpsim_study::store::Store;
use warpsim_study::verdict::Verdict;
use warpsim_study::{
    Choices, Request, Shard, Tally, conduct, conduct_shard, embedded, execute_alone, format,
};

/// A study with its runs. Every process that makes one of the same text has the same runs.
#[pyclass(frozen)]
pub struct Plan {
    plan: warpsim_study::Plan,
    request: Request,
    stopped: Arc<AtomicBool>,
}

#[pymethods]
impl Plan {
    /// From the text of a study file; its paths are relative to `folder`. `file` is what messages call
    /// it, or the name of a paper's study, whose text is known.
    #[new]
    #[pyo3(signature = (file, text, folder, size=None, workloads=None, repeats=None))]
    fn new(
        py: Python<'_>,
        file: &str,
        text: Option<&str>,
        folder: PathBuf,
        size: Option<&str>,
        workloads: Option<Vec<String>>,
        repeats: Option<usize>,
    ) -> PyResult<Plan> {
        let Some(text) = text.or_else(|| embedded::text(file)) else {
            return Err(errors::bad_input(
                py,
                &format!("no study is called `{file}`"),
            ));
        };
        let study = format::parse(&Source::new(file, text));
        let mut study = study.map_err(|e| errors::of_source(py, &e))?;
        study.directory = Some(folder);
        let sized = size.map(|name| format::SIZES.iter().find(|(n, _)| *n == name));
        if let Some(None) = sized {
            let text = format!("no size is called `{}`", size.unwrap_or_default());
            return Err(errors::bad_input(py, &text));
        }
        let choices = Choices {
            size: sized.flatten().map(|(_, size)| *size),
            workloads,
            repeats,
            ..Choices::default()
        };
        let known = embedded::text(file).is_some();
        let request = Request {
            command: format!("{} {file}", if known { "study" } else { "sweep" }),
            study: match known {
                true => file.to_string(),
                false => std::path::absolute(file)
                    .unwrap_or_default()
                    .display()
                    .to_string(),
            },
            choices: choices.clone(),
        };
        let plan = py.detach(|| warpsim_study::Plan::new(study, &choices));
        Ok(Plan {
            plan: plan.map_err(|e| errors::of_study(py, &e))?,
            request,
            stopped: Arc::default(),
        })
    }

    /// What the shards in a folder are of.
    #[staticmethod]
    fn of_shards(py: Python<'_>, folder: PathBuf) -> PyResult<Plan> {
        let made = py.detach(|| {
            let request = Request::read(&folder)?;
            let plan = warpsim_study::Plan::new(request.find()?, &request.choices)?;
            Ok(Plan {
                plan,
                request,
                stopped: Arc::default(),
            })
        });
        made.map_err(|e| errors::of_study(py, &e))
    }

    /// The study's name.
    #[getter]
    fn name(&self) -> &str {
        &self.plan.study.name
    }

    /// What this build does not have of it.
    #[getter]
    fn missing(&self) -> Vec<String> {
        self.plan.missing.clone()
    }

    /// Key and name of each run.
    fn runs(&self) -> Vec<(String, String)> {
        let runs = self.plan.runs.iter();
        runs.map(|r| (r.key.as_str().to_string(), r.shown()))
            .collect()
    }

    /// Numbers of the runs that a results folder does not have.
    fn absent(&self, py: Python<'_>, out: PathBuf) -> PyResult<Vec<usize>> {
        let store = self.open(py, &out)?;
        let runs = self.plan.runs.iter().enumerate();
        let absent = runs.filter(|(_, run)| store.get(&run.key).whole().is_none());
        Ok(absent.map(|(index, _)| index).collect())
    }

    /// Runs one: the text to be stored.
    fn execute(&self, py: Python<'_>, index: usize) -> PyResult<String> {
        let Some(run) = self.plan.runs.get(index) else {
            return Err(errors::bad_input(py, &format!("there is no run {index}")));
        };
        let stoppable = Stoppable(self.stopped.clone());
        let text = py.detach(|| execute_alone(run, Box::new(stoppable)));
        text.ok_or_else(|| errors::bad_input(py, "the run was stopped"))
    }

    /// Ends the runs that are under way, in whichever threads, and those that begin later.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Stores what `execute` returned, here or elsewhere. The same again changes nothing.
    fn put(&self, py: Python<'_>, out: PathBuf, text: &str) -> PyResult<()> {
        let store = self.open(py, &out)?;
        let record = read_stored(text).filter(|record| {
            let mut runs = self.plan.runs.iter();
            runs.any(|run| run.key.as_str() == record.key)
        });
        let Some(record) = record else {
            let text = "this is no result of a run of this study: it was damaged on its way, or made \
                        by another build of warpsim";
            return Err(errors::bad_input(py, text));
        };
        store.put(&record).map_err(|e| errors::of_study(py, &e))
    }

    /// Runs part K of N, as `warpsim sweep --shard K/N` does; failed runs are returned.
    fn run_shard(
        &self,
        py: Python<'_>,
        out: PathBuf,
        shard: &str,
        jobs: usize,
    ) -> PyResult<Vec<String>> {
        let shard: Shard = shard
            .parse()
            .map_err(|e: String| errors::bad_input(py, &e))?;
        let store = self.open(py, &out)?;
        let failures = py
            .detach(|| conduct_shard(&self.plan, &store, shard, &self.request, jobs, &mut Silent));
        let failures = failures.map_err(|e| errors::of_study(py, &e))?;
        let shown = |f: &warpsim_study::Failure| {
            let (status, reason) = (f.status.name(), &f.reason);
            format!(
                "{status}: {} under {}: {reason}",
                f.workload, f.configuration
            )
        };
        Ok(failures.iter().map(shown).collect())
    }

    /// Unites results folders with `out`. Returns the runs that are still missing.
    fn unite(&self, py: Python<'_>, folders: Vec<PathBuf>, out: PathBuf) -> PyResult<Vec<String>> {
        let store = self.open(py, &out)?;
        let united = warpsim_study::merge::unite(&self.plan, &folders, &store);
        Ok(united.map_err(|e| errors::of_study(py, &e))?.missing)
    }

    /// Writes report and tables; runs what is missing first. What came of it, as JSON.
    fn conclude(&self, py: Python<'_>, out: PathBuf, jobs: usize) -> PyResult<String> {
        let store = self.open(py, &out)?;
        let command = format!("warpsim {} --out {}", self.request.command, out.display());
        let mut watch = Notes::default();
        let conclusion = py.detach(|| conduct(&self.plan, &store, jobs, &command, &mut watch));
        let conclusion = conclusion.map_err(|e| errors::of_study(py, &e))?;
        let failures = conclusion.failures.iter().map(|f| {
            json!({
                "workload": f.workload,
                "configuration": f.configuration,
                "status": f.status.name(),
                "reason": f.reason,
                "expected": f.expected,
            })
        });
        let counts = |tally: Tally| -> serde_json::Map<String, Value> {
            let told = tally.counts();
            told.map(|(v, n)| (v.name().to_string(), json!(n)))
                .collect()
        };
        let kinds = conclusion.kinds.iter();
        let kinds: serde_json::Map<String, Value> = kinds
            .map(|(kind, tally)| (kind.plural().to_string(), counts(*tally).into()))
            .collect();
        let report = json!({
            "text": conclusion.full,
            "claims": conclusion.claims.to_string(),
            "kinds": kinds,
            "tested": conclusion.claims.tested(),
            "held": conclusion.claims.of_verdict(Verdict::Holds),
            "untested": conclusion.claims.of_verdict(Verdict::Untested),
            "failures": failures.collect::<Vec<_>>(),
            "missing": conclusion.missing,
            "files": conclusion.files,
            "notes": watch.0,
        });
        Ok(report.to_string())
    }
}

impl Plan {
    fn open(&self, py: Python<'_>, out: &Path) -> PyResult<Store> {
        Store::open(out, &self.plan.study.name).map_err(|e| errors::of_study(py, &e))
    }
}

/// Keeps what is noted.
#[derive(Default)]
struct Notes(Vec<String>);

impl StudyWatch for Notes {
    fn note(&mut self, text: &str) {
        self.0.push(text.to_string());
    }
}

/// A run that another thread can end.
struct Stoppable(Arc<AtomicBool>);

impl Progress for Stoppable {
    fn kernel(&mut self, _name: &str, _blocks: u64) {}
    fn update(&mut self, _snapshot: Snapshot) {}
    fn stops(&mut self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    fn finish(&mut self, _snapshot: Snapshot) {}
}
