//! Every workload of every study is large enough for the study, or the study says why it is not.
//!
//! Measuring all of them takes minutes: `sizes.csv` keeps what was measured, and a handful is
//! measured again here. With `WARPSIM_EVERYWHERE=1` all of them are, and with `WARPSIM_BLESS=1`
//! the file is written anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsim_present::Source;
use warpsim_sim::progress::Silent;
use warpsim_study::embedded::STUDIES;
use warpsim_study::format::parse;
use warpsim_study::plan::Run;
use warpsim_study::record::read_stored;
use warpsim_study::sizes::{self, KernelSize};
use warpsim_study::{Choices, Plan, execute_alone};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sizes.csv");
const TITLES: &str = "study,workload,kernel,fewest_waves,most_waves,share,short,idle";
/// What stands for a run without a result, whose size does not matter.
const FAILED: &str = "(failed),0.00,0.00,0.000,0.000,0.000";
/// Workloads that are measured each time.
const AGAIN: &[&str] = &["vecadd", "wp", "laplace3d", "fwt"];

fn plans() -> Vec<(&'static str, Plan)> {
    let choices = Choices {
        repeats: Some(1),
        ..Choices::default()
    };
    let plan = |&(name, text): &(&'static str, &str)| {
        let study = parse(&Source::new(name, text)).expect("a study");
        (name, Plan::new(study, &choices).expect("a plan"))
    };
    STUDIES.iter().map(plan).collect()
}

/// The run that a report takes a workload's size from; none of a workload that only experiments
/// have.
fn measured(plan: &Plan, subject: usize) -> Option<&Run> {
    let mut setups = (0..plan.setups.len()).filter(|s| plan.setups[*s].base.is_none());
    let run = setups.find_map(|setup| plan.run(subject, setup))?;
    Some(run.as_ref())
}

/// A subject of each workload: several may be about kernels of the same.
fn programs(plan: &Plan) -> impl Iterator<Item = usize> {
    let mut seen = BTreeSet::new();
    (0..plan.subjects.len()).filter(move |s| seen.insert(plan.subjects.workload(*s)))
}

fn line(study: &str, plan: &Plan, size: &KernelSize) -> String {
    format!(
        "{study},{},{},{:.2},{:.2},{:.3},{:.3},{:.3}",
        plan.subjects.workload(size.subject),
        size.kernel,
        size.waves.0,
        size.waves.1,
        size.share,
        size.short.abs(), // no sum is minus nothing
        size.idle.unwrap_or(f64::NAN),
    )
}

/// The lines of the kept file, by study and workload.
fn kept() -> BTreeMap<(String, String), Vec<String>> {
    let text = std::fs::read_to_string(KEPT).unwrap_or_default();
    let mut all: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut cells = line.split(',').map(str::to_string);
        let key = (cells.next().unwrap(), cells.next().unwrap());
        all.entry(key).or_default().push(line.to_string());
    }
    all
}

/// The size that a line tells.
fn told(line: &str, subject: usize) -> KernelSize {
    let cells: Vec<&str> = line.split(',').collect();
    let number = |cell: usize| cells[cell].parse().expect("a number");
    KernelSize {
        subject,
        kernel: cells[2].to_string(),
        launches: 0,
        blocks: (0, 0),
        resident: 0,
        waves: (number(3), number(4)),
        share: number(5),
        short: number(6),
        idle: Some(number(7)),
        waived: None,
    }
}

/// The lines of workloads, measured by running them, in the studies' order.
fn measure(plans: &[(&str, Plan)], wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut cases = Vec::new();
    let mut runs: BTreeMap<String, (&Run, Vec<usize>)> = BTreeMap::new();
    for (study, plan) in plans {
        for subject in programs(plan).filter(|s| wanted(plan.subjects.workload(*s))) {
            let Some(run) = measured(plan, subject) else {
                continue;
            };
            let key = run.key.as_str().to_string();
            runs.entry(key)
                .or_insert((run, Vec::new()))
                .1
                .push(cases.len());
            cases.push((*study, plan, subject));
        }
    }
    let runs: Vec<_> = runs.into_values().collect();
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some((run, users)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = execute_alone(run, Box::new(Silent)).expect("a result");
            let record = read_stored(&text).expect("an intact result");
            for &user in users {
                let (study, plan, subject) = cases[user];
                let sizes = sizes::of(&record, subject);
                let told = match record.status.good() {
                    true => sizes.iter().map(|s| line(study, plan, s)).collect(),
                    false => vec![format!("{study},{},{FAILED}", run.workload)],
                };
                lines.lock().unwrap().insert(user, told);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let lines: BTreeMap<usize, Vec<String>> = lines.into_inner().unwrap();
    lines.into_values().flatten().collect()
}

#[test]
fn workloads_are_large_enough_for_their_studies_or_these_say_why_not() {
    let (plans, kept) = (plans(), kept());
    let mut wrong = Vec::new();
    for (study, plan) in &plans {
        let mut needed = BTreeSet::new();
        for subject in programs(plan) {
            let name = plan.subjects.workload(subject);
            if measured(plan, subject).is_none() {
                continue;
            }
            let Some(lines) = kept.get(&(study.to_string(), name.to_string())) else {
                wrong.push(format!("{study}: {name} is not in sizes.csv"));
                continue;
            };
            for line in lines {
                let size = told(line, subject);
                match sizes::waiver(plan, &size) {
                    _ if !size.too_small() => {}
                    Some(number) => {
                        needed.insert(number);
                    }
                    None => wrong.push(format!("{study}: too small: {line}")),
                }
            }
        }
        for (number, waiver) in plan.study.waivers.iter().enumerate() {
            if !needed.contains(&number) {
                let of = (&waiver.workload.value, &waiver.kernel);
                wrong.push(format!("{study}: `few_blocks` of {of:?} is not needed"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_kept_of_sizes_is_what_runs_show() {
    let plans = plans();
    let set = |name: &str| std::env::var_os(name).is_some();
    if set("WARPSIM_EVERYWHERE") && set("WARPSIM_BLESS") {
        let lines = measure(&plans, &|_| true);
        let text = format!("{TITLES}\n{}\n", lines.join("\n"));
        std::fs::write(KEPT, text).expect("a file");
        return;
    }
    let every = set("WARPSIM_EVERYWHERE");
    let lines = measure(&plans, &|name| every || AGAIN.contains(&name));
    let kept = kept();
    let known: BTreeSet<&String> = kept.values().flatten().collect();
    let moved: Vec<&String> = lines.iter().filter(|l| !known.contains(l)).collect();
    assert!(!lines.is_empty() && moved.is_empty(), "{moved:#?}");
}
