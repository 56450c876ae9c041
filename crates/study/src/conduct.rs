//! A whole study: run, judge, write.

use crate::error::StudyError;
use crate::evaluate::{Results, Shown};
use crate::output::columns::{self, Column};
use crate::output::report::{Recorded, Report};
use crate::output::{conclusions, csv, parquet, picture, terminal, values};
use crate::plan::Plan;
use crate::results::record::{Record, Status};
use crate::results::store::Store;
use crate::running::recordings;
use crate::running::runner::{self, Watch};
use crate::values::sizes::{self, KernelSize};
use crate::values::trade_off::traded;
use crate::verdict::{Judged, Tried, Verdict, judge};
use std::path::PathBuf;

/// What a study came to.
pub struct Conclusion {
    /// Tables and claims, for a terminal.
    pub text: String,
    /// What became of the claims.
    pub claims: Tally,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// What this build does not have.
    pub missing: Vec<String>,
    /// Results of other builds or settings that stay in the folder.
    pub others: usize,
    /// What was written, the report first.
    pub files: Vec<PathBuf>,
}

/// How many claims came to which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; Verdict::ALL.len()]);

impl Tally {
    /// Counts the claims of figures.
    pub fn of(figures: &[(Shown, Vec<Judged>)]) -> Tally {
        let mut tally = Tally::default();
        for judged in figures.iter().flat_map(|(_, j)| j) {
            let place = Verdict::ALL.iter().position(|v| *v == judged.verdict);
            tally.0[place.unwrap_or(0)] += 1;
        }
        tally
    }

    /// Every verdict with how many claims came to it.
    pub fn counts(self) -> impl Iterator<Item = (Verdict, usize)> {
        Verdict::ALL.into_iter().zip(self.0)
    }

    /// How many claims there are.
    pub fn all(self) -> usize {
        self.0.iter().sum()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |(verdict, n): (Verdict, usize)| format!("{n} {}", verdict.plural());
        f.write_str(&self.counts().map(part).collect::<Vec<_>>().join(", "))
    }
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

impl Failure {
    /// The failure that `record` is, of a workload under a configuration.
    pub(crate) fn of(plan: &Plan, workload: &str, setup: usize, record: &Record) -> Failure {
        // What is known to fail fails with something changed, too.
        let usual = &plan.setups[plan.setups[setup].base.unwrap_or(setup)].name;
        let expected = plan.study.expected_failures.iter().find(|f| {
            let here = f.configurations.iter().any(|c| c.value == *usual);
            f.workload.value == workload && here
        });
        Failure {
            workload: workload.to_string(),
            configuration: plan.setups[setup].name.clone(),
            status: record.status,
            reason: record.reason.clone(),
            expected: expected.map(|f| f.reason.clone()),
        }
    }
}

/// Runs what is not there yet, judges, and writes everything into the folder. `command` is what
/// the report says to repeat it.
pub fn conduct(
    plan: &Plan,
    store: &Store,
    jobs: usize,
    command: &str,
    watch: &mut dyn Watch,
) -> Result<Conclusion, StudyError> {
    let selection = plan.selection();
    if let Some(before) = store.claim(&selection)? {
        watch.note(&format!(
            "report and tables in {} are of {before}: they will be replaced by those of {selection}",
            store.root().display()
        ));
    }
    let records = runner::run(plan, store, jobs, watch)?;
    let results = Results::new(plan, &records);
    let figures = judged(plan, &results);
    let timelines = recordings::all(plan, store, jobs, watch)?;
    let sizes = sizes::all(&results);
    store.check_claim(&selection)?;
    let files = write(store, &results, &figures, &sizes, &timelines, command)?;
    let keys: Vec<_> = plan.runs.iter().map(|r| r.key.clone()).collect();
    Ok(Conclusion {
        text: terminal::text(&results, &figures, &sizes, watch.width()),
        claims: Tally::of(&figures),
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
            let claims = figure.claims.iter().enumerate();
            let judged = claims.map(|(number, claim)| {
                let tried = plan.experiments(index, number).iter().map(|variant| {
                    let shown = results.figure_under(index, Some(variant));
                    let judged = judge(plan, figure, &shown, claim);
                    Tried {
                        title: variant.title.clone(),
                        verdict: judged.verdict,
                        detail: judged.detail,
                    }
                });
                Judged {
                    experiments: tried.collect(),
                    ..judge(plan, figure, &shown, claim)
                }
            });
            let judged = judged.collect();
            (shown, judged)
        })
        .collect()
}

/// Bars in a picture; a grid with more is read from its tables.
const MOST_BARS: usize = 1500;

fn write(
    store: &Store,
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    sizes: &[KernelSize],
    timelines: &[Recorded],
    command: &str,
) -> Result<Vec<PathBuf>, StudyError> {
    let typed = |name: &str, columns: &[Column]| {
        parquet::parquet(columns).map_err(|e| {
            let path = store.root().join(name);
            StudyError::unwritable(&path, &std::io::Error::other(e))
        })
    };
    let columns = columns::columns(results);
    let runs = typed("results.parquet", &columns)?;
    let values = values::values(results, figures);
    let shown = values::columns(&values);
    let shown_typed = typed("figures.parquet", &shown)?;
    let conclusions = conclusions::json(results, figures, &values, sizes);
    let colours = picture::Colours::of(results.plan());
    let mut pictures = Vec::new();
    let listed = results.plan().study.figures.iter().zip(figures);
    for (index, (figure, (shown, _))) in listed.enumerate() {
        let bars = shown.setups.len() * (shown.rows.len() + shown.means.len());
        if shown.unmeasured() || bars > MOST_BARS {
            pictures.push(None);
            continue;
        }
        let chart = picture::chart(results, index, shown, &colours);
        let name = format!("figures/{}.svg", figure.id.value);
        store.write(&name, picture::standalone(&chart).as_bytes())?;
        pictures.push(Some(picture::inline(&chart)));
    }
    let shown_figures: Vec<&Shown> = figures.iter().map(|(shown, _)| shown).collect();
    let mut trade_offs = Vec::new();
    for (index, trade_off) in results.plan().study.trade_offs.iter().enumerate() {
        let Some(traded) = traded(results, trade_off, &shown_figures) else {
            continue;
        };
        let [alone, inline] = picture::trade_off(&trade_off.title, &traded, &colours);
        let name = format!("figures/{}.svg", trade_off.id.value);
        store.write(&name, alone.as_bytes())?;
        trade_offs.push((index, traded, inline));
    }
    let report = Report {
        results,
        figures,
        sizes,
        pictures: &pictures,
        trade_offs: &trade_offs,
        timelines,
        command,
    };
    Ok(vec![
        store.write("report.html", report.html().as_bytes())?,
        store.write("results.csv", csv::csv(&columns).as_bytes())?,
        store.write("results.parquet", &runs)?,
        store.write("figures.csv", csv::csv(&shown).as_bytes())?,
        store.write("figures.parquet", &shown_typed)?,
        store.write("conclusions.json", format!("{conclusions:#}\n").as_bytes())?,
    ])
}

fn failures(plan: &Plan, results: &Results) -> Vec<Failure> {
    let failed = results.failures().into_iter();
    let told = failed.map(|(subject, setup, _, record)| {
        Failure::of(plan, plan.subjects.workload(subject), setup, record)
    });
    told.collect()
}
