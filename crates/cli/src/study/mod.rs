//! `warpsim study`, `warpsim sweep` and `warpsim merge`.

mod merge;
mod watch;

pub use merge::{MergeArguments, merge};

use crate::console::failure::{BAD_INPUT, Failure, PROGRAM_FAILED, WRONG_RESULT, print, tell};
use crate::console::interrupt::NotingStudy;
use crate::console::terminal::width;
use crate::list;
use crate::run::SizeName;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_present::{Source, folded, nearest};
use warpsim_study::format::{self, MOST_REPEATS, SIZES, Study};
use warpsim_study::record::Status;
use warpsim_study::store::Store;
use warpsim_study::{
    Choices, Conclusion, Failure as RunFailure, Plan, Request, Shard, StudyError, conduct,
    conduct_shard, embedded,
};
use warpsim_workloads::files::write_whole;

/// Arguments of `warpsim study`.
#[derive(clap::Args)]
#[command(
    after_help = "Results are kept in the folder, one file per run: interrupted and started \
                        again, a study goes on where it was. Exit codes: 0 every run has a \
                        correct result, 1 a result is wrong, 2 the input makes no sense, 3 a \
                        simulated program failed. Claims that fail are no failure."
)]
pub struct StudyArguments {
    /// A study that comes with warpsim (see list studies), a study file (ends in .toml), or `all` of the
    /// former.
    #[arg(value_name = "NAME|FILE.toml|all")]
    what: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `warpsim sweep`.
#[derive(clap::Args)]
pub struct SweepArguments {
    /// A study file: workloads and a grid of settings.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// What the speed-up is over: a configuration, or the value of an axis, as in lrr or
    /// scheduler=lrr,sm.schedulers=1 [default: what the file says, or the first value of each axis].
    #[arg(long, value_name = "NAME|AXIS=VALUE")]
    baseline: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Common {
    /// Folder of results [default: results/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Size of the workloads [default: what the study says].
    #[arg(long)]
    size: Option<SizeName>,
    /// Only these workloads, or groups, of the study.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    workloads: Option<Vec<String>>,
    /// How often everything runs, each time a little different [default: what the study says, or 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_REPEATS as i64))]
    repeats: Option<u16>,
    /// Only part K of N, so that N machines share the work; `warpsim merge` puts them together.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Runs at a time [default: the processors of this machine].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Also write NAME.json there: the numbers of all workloads at the study's size, which pages quote.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["size", "workloads", "shard"])]
    keep: Option<PathBuf>,
    /// Show every figure and claim, not only what was learned.
    #[arg(long)]
    full: bool,
    /// Show nothing but errors and failed runs.
    #[arg(short, long, conflicts_with = "full")]
    quiet: bool,
}

/// How much is shown of what a study came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    Nothing,
    Learned,
    Everything,
}

impl Show {
    fn of(quiet: bool, full: bool) -> Show {
        match (quiet, full) {
            (true, _) => Show::Nothing,
            (_, true) => Show::Everything,
            _ => Show::Learned,
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        Failure::bad_input(error.text)
    }
}

/// What is said when no study is named.
const ALONE: &str = "`warpsim study NAME` runs one of these, and `warpsim study baws --size tiny --repeats 1` tries one \
    within minutes\n";

/// Runs a paper's study, a study file, or every paper's.
pub fn study(arguments: &StudyArguments) -> Result<ExitCode, Failure> {
    let common = &arguments.common;
    let Some(what) = &arguments.what else {
        print(&format!("{}\n{ALONE}", list::studies()?))?;
        return Ok(ExitCode::SUCCESS);
    };
    if what != "all" {
        let request = request("study", what, common);
        return one(find(what)?, &request, common, common.out.clone());
    }
    let mut worst = ExitCode::SUCCESS;
    for name in embedded::names() {
        let out = common.out.as_ref().map(|out| out.join(name));
        let code = one(find(name)?, &request("study", name, common), common, out)?;
        if code != ExitCode::SUCCESS {
            worst = code;
        }
    }
    Ok(worst)
}

/// Runs a study file.
pub fn sweep(arguments: &SweepArguments) -> Result<ExitCode, Failure> {
    let common = &arguments.common;
    let file = arguments.file.display().to_string();
    let study = format::read(&arguments.file)?;
    let mut request = request("sweep", &file, common);
    request.choices.baseline = arguments.baseline.clone();
    one(study, &request, common, common.out.clone())
}

/// What the command line asks for.
fn request(command: &str, what: &str, common: &Common) -> Request {
    let file = command == "sweep" || embedded::text(what).is_none();
    let whole = file.then(|| std::path::absolute(what).ok()).flatten();
    Request {
        command: format!("{command} {}", quoted(what)),
        study: whole.map_or(what.to_string(), |path| path.display().to_string()),
        choices: Choices {
            size: common.size.map(Into::into),
            workloads: common.workloads.clone(),
            repeats: common.repeats.map(usize::from),
            baseline: None,
        },
    }
}

/// A paper's study by its name, or a study file.
pub fn find(what: &str) -> Result<Study, Failure> {
    if let Some(text) = embedded::text(what) {
        let source = Source::new(&format!("study {what}"), text);
        return Ok(format::parse(&source)?);
    }
    if what.ends_with(".toml") || what.contains(['/', '\\']) {
        return Ok(format::read(Path::new(what))?);
    }
    let hint = nearest(what, embedded::names())
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    Err(Failure::bad_input(format!(
        "no study is called `{what}`{hint}\nstudies: {}, or all; a study file ends in .toml",
        embedded::names().collect::<Vec<_>>().join(", ")
    )))
}

/// The command that makes the same report.
fn command(request: &Request, out: &Path) -> String {
    let choices = &request.choices;
    let mut command = format!("warpsim {}", request.command);
    let size = choices.size;
    if let Some((name, _)) = SIZES.iter().find(|(_, s)| Some(*s) == size) {
        command += &format!(" --size {name}");
    }
    if let Some(workloads) = &choices.workloads {
        command += &format!(" --workloads {}", quoted(&workloads.join(",")));
    }
    if let Some(repeats) = choices.repeats {
        command += &format!(" --repeats {repeats}");
    }
    if let Some(baseline) = &choices.baseline {
        command += &format!(" --baseline {}", quoted(baseline));
    }
    command + &format!(" --out {}", quoted(&out.display().to_string()))
}

/// An argument as a shell takes it.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_string()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn one(
    study: Study,
    request: &Request,
    common: &Common,
    out: Option<PathBuf>,
) -> Result<ExitCode, Failure> {
    let plan = planned(study, request)?;
    let name = &plan.study.name;
    let out = out.unwrap_or_else(|| Path::new("results").join(name));
    let store = Store::open(&out, name)?;
    let command = command(request, &out);
    let jobs = common.jobs.map_or_else(processors, usize::from);
    let Some(shard) = common.shard else {
        let show = Show::of(common.quiet, common.full);
        return concluded(&plan, &store, jobs, &command, show, common.keep.as_deref());
    };
    let again = format!("{command} --shard {shard}");
    let mut watch = NotingStudy::new(watch::choose(common.quiet), &again);
    let failures = conduct_shard(&plan, &store, shard, request, jobs, &mut watch)?;
    if !common.quiet {
        let out = quoted(&out.display().to_string());
        print(&format!(
            "shard {shard} of study {name} is done and kept in {out}\n\
             when all are: warpsim merge {out}, with the folders of the others if they have their own\n"
        ))?;
    }
    Ok(failed(&failures))
}

/// The runs of a study, of which there is at least one.
fn planned(study: Study, request: &Request) -> Result<Plan, Failure> {
    let plan = Plan::new(study, &request.choices)?;
    if plan.runs.is_empty() {
        return Err(Failure::bad_input(format!(
            "study `{}` has nothing to run: this build lacks what it needs\n{}",
            plan.study.name,
            plan.missing.join("\n")
        )));
    }
    Ok(plan)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs what is not there, writes the report and shows what came of it.
fn concluded(
    plan: &Plan,
    store: &Store,
    jobs: usize,
    command: &str,
    show: Show,
    keep: Option<&Path>,
) -> Result<ExitCode, Failure> {
    let quiet = show == Show::Nothing;
    if keep.is_some() && !plan.whole() {
        return Err(Failure::bad_input(format!(
            "--keep: study `{}` is kept where all of its workloads run, at its own size",
            plan.study.name
        )));
    }
    let mut watch = NotingStudy::new(watch::choose(quiet), command);
    let mut conclusion = conduct(plan, store, jobs, command, &mut watch)?;
    if let Some(directory) = keep {
        let path = kept(plan, &conclusion, directory)?;
        conclusion.files.push(path);
    }
    if !quiet {
        let text = summary(plan, &conclusion, show);
        print(&match width() {
            Some(width) => folded(&text, width),
            None => text,
        })?;
    }
    Ok(failed(&conclusion.failures))
}

/// Writes what pages quote of a study, where all of it ran and nothing failed that should not.
fn kept(plan: &Plan, conclusion: &Conclusion, directory: &Path) -> Result<PathBuf, Failure> {
    let name = &plan.study.name;
    let failed = conclusion.failures.iter().any(|f| f.expected.is_none());
    let Some(kept) = conclusion.kept.as_ref().filter(|_| !failed) else {
        return Err(Failure::bad_input(format!(
            "--keep: runs of study `{name}` failed: nothing is kept of it"
        )));
    };
    let path = directory.join(format!("{name}.json"));
    write_whole(&path, format!("{kept:#}\n").as_bytes())
        .map_err(|e| Failure::bad_input(format!("--keep: cannot write {}: {e}", path.display())))?;
    Ok(path)
}

fn summary(plan: &Plan, conclusion: &Conclusion, show: Show) -> String {
    let found = match show {
        Show::Everything => &conclusion.full,
        _ => &conclusion.text,
    };
    let mut out = format!("{}\n\n{found}", plan.study.title);
    for missing in &conclusion.missing {
        out += &format!("missing: {missing}\n");
    }
    if conclusion.claims.all() > 0 {
        out += &format!("claims: {}\n", conclusion.claims);
    }
    for failure in conclusion.failures.iter().filter(|f| f.expected.is_some()) {
        let why = failure.expected.as_deref().unwrap_or_default();
        let (workload, configuration) = (&failure.workload, &failure.configuration);
        let status = failure.status.name();
        out += &format!("{status}, as expected: {workload} under {configuration}: {why}\n");
    }
    if conclusion.others > 0 {
        let n = conclusion.others;
        out += &format!("the folder also keeps {n} results of other builds, sizes or settings\n");
    }
    for file in &conclusion.files {
        out += &format!("written: {}\n", file.display());
    }
    out
}

/// Says which runs failed; the exit code is that of the first kind.
fn failed(failures: &[RunFailure]) -> ExitCode {
    let surprising = || failures.iter().filter(|f| f.expected.is_none());
    for failure in surprising() {
        tell!(
            "{}: {} under {}: {}",
            failure.status.name(),
            failure.workload,
            failure.configuration,
            failure.reason.lines().next().unwrap_or_default()
        );
    }
    match surprising().next() {
        None => ExitCode::SUCCESS,
        Some(_) if surprising().any(|f| f.status == Status::Wrong) => ExitCode::from(WRONG_RESULT),
        Some(_) if surprising().all(|f| f.status == Status::BadInput) => ExitCode::from(BAD_INPUT),
        Some(_) => ExitCode::from(PROGRAM_FAILED),
    }
}
