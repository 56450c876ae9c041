//! A whole study: run, judge, write.

use crate::error::StudyError;
use crate::evaluate::{Results, Shown};
use crate::format::Kind;
use crate::output::columns::{self, Column};
use crate::output::report::{Recorded, Report};
use crate::output::{conclusions, csv, kept, parquet, picture, terminal, values};
use crate::plan::Plan;
use crate::results::key::sha256;
use crate::results::record::{Record, Status};
use crate::results::store::Store;
use crate::running::recordings;
use crate::running::runner::{self, Watch};
use crate::values::sizes::{self, KernelSize};
use crate::values::trade_off::traded;
use crate::verdict::{Judged, Tally, Verdict, explained};
use serde_json::Value;
use std::path::PathBuf;

/// What a study came to.
pub struct Conclusion {
    /// What was learned, for a terminal: a page or two.
    pub text: String,
    /// That, with every figure and claim.
    pub full: String,
    /// What is kept of it for pages that quote it; nothing unless the whole study ran.
    pub kept: Option<Value>,
    /// What became of the claims.
    pub claims: Tally,
    /// And of those of each kind.
    pub kinds: Vec<(Kind, Tally)>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// What this build does not have.
    pub missing: Vec<String>,
    /// Results of other builds or settings that stay in the folder.
    pub others: usize,
    /// What was written, the report first.
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
    let records = records(plan, store, jobs, watch)?;
    let results = Results::new(plan, &records);
    let figures = judged(plan, &results);
    let timelines = recordings::all(plan, store, jobs, watch)?;
    let sizes = sizes::all(&results);
    store.check_claim(&selection)?;
    let (files, pictures) = write(store, &results, &figures, &sizes, &timelines, command)?;
    let keys: Vec<_> = plan.runs.iter().map(|r| r.key.clone()).collect();
    let terminal::Texts { text, full } = terminal::texts(&results, &figures, &sizes, watch.width());
    Ok(Conclusion {
        text,
        full,
        kept: kept::json(&results, &figures, &pictures),
        claims: Tally::of(&figures),
        kinds: Tally::by_kind(&plan.study, &figures),
        failures: failures(plan, &results),
        missing: plan.missing.clone(),
        others: store.others(&keys),
        files,
    })
}

/// Runs what figures and sensitivities need, and then the experiments of the claims that fail.
fn records(
    plan: &Plan,
    store: &Store,
    jobs: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Record>, StudyError> {
    let first = plan.needed(|_, _| false);
    let records: Vec<Record> = runner::run(plan, &first, store, jobs, watch)?
        .into_iter()
        .flatten()
        .collect();
    let figures = judged(plan, &Results::new(plan, &records));
    let fails = |figure: usize, claim: usize| figures[figure].1[claim].verdict == Verdict::Fails;
    let all = plan.needed(fails);
    if all == first {
        return Ok(records);
    }
    watch.note("now the experiments that say why claims fail");
    let records = runner::run(plan, &all, store, jobs, watch)?;
    Ok(records.into_iter().flatten().collect())
}

/// Every figure with its claims judged.
pub fn judged(plan: &Plan, results: &Results) -> Vec<(Shown, Vec<Judged>)> {
    let figures = plan.study.figures.iter().enumerate();
    figures
        .map(|(index, figure)| {
            let shown = results.figure(index);
            let claims = 0..figure.claims.len();
            let judged = claims
                .map(|number| explained(results, index, number, &shown))
                .collect();
            (shown, judged)
        })
        .collect()
}

/// The hash of the picture of each figure, by its id.
type Hashes = Vec<(String, String)>;

/// Bars in a picture; a grid with more is read from its tables.
const MOST_BARS: usize = 1500;

fn write(
    store: &Store,
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    sizes: &[KernelSize],
    timelines: &[Recorded],
    command: &str,
) -> Result<(Vec<PathBuf>, Hashes), StudyError> {
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
    let mut hashes = Vec::new();
    let listed = results.plan().study.figures.iter().zip(figures);
    for (index, (figure, (shown, _))) in listed.enumerate() {
        let bars = shown.setups.len() * (shown.rows.len() + shown.means.len());
        if shown.unmeasured() || bars > MOST_BARS {
            pictures.push(None);
            continue;
        }
        let chart = picture::chart(results, index, shown, &colours);
        let name = format!("figures/{}.svg", figure.id.value);
        let alone = picture::standalone(&chart);
        store.write(&name, alone.as_bytes())?;
        hashes.push((figure.id.value.clone(), sha256(alone.as_bytes())));
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
    let files = vec![
        store.write("report.html", report.html().as_bytes())?,
        store.write("results.csv", csv::csv(&columns).as_bytes())?,
        store.write("results.parquet", &runs)?,
        store.write("figures.csv", csv::csv(&shown).as_bytes())?,
        store.write("figures.parquet", &shown_typed)?,
        store.write("conclusions.json", format!("{conclusions:#}\n").as_bytes())?,
    ];
    Ok((files, hashes))
}

fn failures(plan: &Plan, results: &Results) -> Vec<Failure> {
    let failed = results.failures().into_iter();
    let told = failed.map(|(subject, setup, _, record)| {
        Failure::of(plan, plan.subjects.workload(subject), setup, record)
    });
    told.collect()
}
