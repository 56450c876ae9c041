//! Whole studies: results on disk, interruptions, failing runs.

use crate::common;

use common::{Scratch, names, plan};
use std::collections::HashMap;
use std::path::Path;
use warpsim_study::plan::{Plan, Run};
use warpsim_study::record::{Record, Status};
use warpsim_study::runner::{Silent, Watch};
use warpsim_study::store::Store;
use warpsim_study::{Conclusion, conduct};

const STUDY: &str = r#"
schema = 1
name = "t"
title = "Two schedulers"
machine = "gtx480"
size = "tiny"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd", "reduction"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
[[figures]]
id = "speedup"
title = "Speed-up"
groups = ["g"]
configurations = ["gto"]
metric = "ipc"
normalise = "lrr"
display = "change"
[[figures]]
id = "states"
title = "Where warps spend their time"
groups = ["g"]
configurations = ["lrr", "gto"]
normalise = "lrr"
parts = [{ title = "issued", metric = "warp_states.issued" }, { title = "barrier", metric = "warp_states.barrier" }]
[[timelines]]
workload = "reduction"
configurations = ["gto"]
to = 500
"#;

/// Counts what is run.
#[derive(Default)]
struct Count {
    reused: usize,
    started: usize,
    notes: Vec<String>,
    finished: Vec<Status>,
}

impl Watch for Count {
    fn begin(&mut self, _total: usize, reused: usize, _jobs: usize) {
        self.reused = reused;
    }
    fn note(&mut self, text: &str) {
        self.notes.push(text.to_string());
    }
    fn started(&mut self, _run: &Run) {
        self.started += 1;
    }
    fn finished(&mut self, _run: &Run, record: &Record) {
        self.finished.push(record.status);
    }
}

fn run(plan: &Plan, out: &Path, watch: &mut dyn Watch) -> Conclusion {
    let store = Store::open(out, &plan.study.name).expect("a folder");
    conduct(plan, &store, 2, "warpsim study t.toml", watch).expect("a result")
}

fn files(out: &Path) -> HashMap<String, Vec<u8>> {
    let read = |n: &str| (n.to_string(), std::fs::read(out.join(n)).expect("readable"));
    let shown = [
        "report.html",
        "results.csv",
        "results.parquet",
        "figures.csv",
        "figures.parquet",
        "conclusions.json",
        "figures/speedup.svg",
    ];
    shown.into_iter().map(read).collect()
}

#[test]
fn a_study_leaves_its_results_and_uses_them_again() {
    let scratch = Scratch::new("again");
    let out = scratch.path().join("results");
    let plan = plan(STUDY).expect("a good study");
    let mut first = Count::default();
    let conclusion = run(&plan, &out, &mut first);
    assert_eq!((first.reused, first.started), (0, 4));
    assert!(conclusion.failures.is_empty());
    assert_eq!(
        names(&out),
        [
            "conclusions.json",
            "figures",
            "figures.csv",
            "figures.parquet",
            "report.html",
            "results.csv",
            "results.parquet",
            "runs",
            "timelines",
            "warpsim-study.json"
        ]
    );
    assert_eq!(names(&out.join("runs")).len(), 4);
    let before = files(&out);
    let mut second = Count::default();
    let again = run(&plan, &out, &mut second);
    assert_eq!((second.reused, second.started), (4, 0));
    assert_eq!(again.text, conclusion.text);
    assert_eq!(files(&out), before, "the same bytes");
    // Elsewhere, from nothing, on one thread: the same bytes too.
    let fresh = scratch.path().join("fresh");
    let store = Store::open(&fresh, "t").expect("a folder");
    conduct(&plan, &store, 1, "warpsim study t.toml", &mut Silent).expect("a result");
    assert_eq!(files(&fresh), before, "the same bytes");
}

#[test]
fn an_interrupted_study_goes_on_where_it_was() {
    let scratch = Scratch::new("interrupted");
    let out = scratch.path().join("results");
    let plan = plan(STUDY).expect("a good study");
    run(&plan, &out, &mut Silent);
    // One result is gone, one was damaged, one was being written.
    let runs = out.join("runs");
    let stored = names(&runs);
    std::fs::remove_file(runs.join(&stored[0])).expect("removed");
    std::fs::write(runs.join(&stored[1]), "{\"schema\": 1, \"key\"").expect("written");
    std::fs::write(runs.join(".half.json.1.tmp"), "{").expect("written");
    let mut count = Count::default();
    let conclusion = run(&plan, &out, &mut count);
    assert_eq!((count.reused, count.started), (2, 2));
    assert_eq!(conclusion.others, 0);
    let now = names(&runs);
    assert!(stored.iter().all(|n| now.contains(n)));
    let kept = format!("{}.damaged", stored[1]);
    assert!(now.contains(&kept), "{now:?}: nothing is thrown away");
}

#[test]
fn a_changed_digit_in_a_stored_result_is_noticed() {
    let scratch = Scratch::new("changed");
    let out = scratch.path().join("results");
    let plan = plan(STUDY).expect("a good study");
    run(&plan, &out, &mut Silent);
    let before = files(&out);
    let changed = out.join("runs").join(&names(&out.join("runs"))[2]);
    let text = std::fs::read_to_string(&changed).expect("stored");
    let at = text.find("\"cycles\": ").expect("a statistic") + "\"cycles\": ".len();
    let digit = if &text[at..=at] == "9" { "8" } else { "9" };
    let text = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
    std::fs::write(&changed, text).expect("written");
    let timeline = out
        .join("timelines")
        .join(&names(&out.join("timelines"))[0]);
    let mut text = std::fs::read_to_string(&timeline).expect("stored");
    text.truncate(text.len() / 2);
    std::fs::write(&timeline, text).expect("written");
    let mut count = Count::default();
    run(&plan, &out, &mut count);
    assert_eq!((count.reused, count.started), (3, 1));
    let said = |part: &str| count.notes.iter().any(|n| n.contains(part));
    assert!(
        said("1 of the stored results is not as written"),
        "{:?}",
        count.notes
    );
    assert!(said("a stored timeline is not as written"));
    for path in [&changed, &timeline] {
        let kept = path.with_extension("json.damaged");
        std::fs::remove_file(&kept).expect("kept");
    }
    assert_eq!(files(&out), before, "the same bytes");
}

#[test]
fn reports_do_not_replace_each_other_without_a_word() {
    let scratch = Scratch::new("claims");
    let out = scratch.path().join("results");
    let all = plan(STUDY).expect("a good study");
    run(&all, &out, &mut Silent);
    let error = Store::open(&out, "other").expect_err("another study").text;
    assert!(error.contains("results of the study `t`"), "{error}");
    let mut less = plan(STUDY).expect("a good study");
    less.repeats += 1; // as if it had been asked for
    let store = Store::open(&out, "t").expect("the same study");
    let mut count = Count::default();
    conduct(&less, &store, 1, "", &mut count).expect("a result");
    assert!(
        count.notes.iter().any(|n| n.contains("will be replaced")),
        "{:?}",
        count.notes
    );
    // Another program begins with another part while this one runs.
    struct Other(Store);
    impl Watch for Other {
        fn end(&mut self) {
            self.0.claim("something else").expect("claimed");
        }
    }
    let before = std::fs::read(out.join("report.html")).expect("a report");
    let error = conduct(&all, &store, 1, "", &mut Other(store.clone()))
        .err()
        .expect("refused")
        .text;
    assert!(error.contains("were left alone"), "{error}");
    assert_eq!(std::fs::read(out.join("report.html")).ok(), Some(before));
}

#[test]
fn a_failing_run_is_a_row_and_stops_nothing() {
    // The second kernel waits for ever; the third is no kernel at all.
    let scratch = Scratch::new("failing");
    let directory = scratch.path();
    let ptx = |body: &str| {
        format!(
            ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n\
             {{\n.reg .pred %p<2>;\n.reg .u64 %rd<3>;\n.reg .u32 %r<2>;\n{body}\nret;\n}}\n"
        )
    };
    let launch = |name: &str, expected: u32| {
        format!(
            "schema = 1\nptx = \"{name}.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = 1\n\
             [[steps]]\nlaunch = \"k\"\ngrid = 1\nblock = 32\nargs = [\"a\"]\n\
             [[outputs]]\nbuffer = \"a\"\nexpect = [{expected}]\n"
        )
    };
    let store = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;";
    let endless = "L: bra L;";
    let fault = "mov.u64 %rd1, 16;\nmov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;";
    for (name, body, expected) in [
        ("good", store, 7),
        ("wrong", store, 8),
        ("endless", endless, 7),
        ("fault", fault, 7),
        ("nonsense", "add.nothing %r1;", 7),
    ] {
        std::fs::write(directory.join(format!("{name}.ptx")), ptx(body)).expect("written");
        let file = directory.join(format!("{name}.toml"));
        std::fs::write(file, launch(name, expected)).expect("written");
    }
    let text = r#"
schema = 1
name = "t"
machine = "gtx480"
max_cycles = 2000
repeats = { count = 1 }
[groups.g]
workloads = ["good.toml", "wrong.toml", "endless.toml", "fault.toml", "nonsense.toml"]
[configurations]
gto = { scheduler = "gto" }
[[expected_failures]]
workload = "wrong.toml"
configurations = ["gto"]
reason = "it is meant to be"
"#;
    let file = directory.join("study.toml");
    std::fs::write(&file, text).expect("written");
    let study = warpsim_study::format::read(&file).expect("a good study");
    let plan = Plan::new(study, &Default::default()).expect("a good plan");
    let out = directory.join("out");
    let mut count = Count::default();
    let conclusion = run(&plan, &out, &mut count);
    let failed: Vec<(&str, Status)> = conclusion
        .failures
        .iter()
        .map(|f| (f.workload.as_str(), f.status))
        .collect();
    assert_eq!(
        failed,
        [
            ("wrong.toml", Status::Wrong),
            ("endless.toml", Status::ProgramFailed),
            ("fault.toml", Status::ProgramFailed),
            ("nonsense.toml", Status::BadInput),
        ]
    );
    assert_eq!(
        conclusion.failures[0].expected.as_deref(),
        Some("it is meant to be")
    );
    let wrong = &conclusion.failures[0].reason;
    assert!(wrong.contains("expected 8, got 7"), "{wrong}");
    assert!(
        conclusion.failures[1]
            .reason
            .contains("did not end within 2000 cycles")
    );
    let csv = std::fs::read_to_string(out.join("results.csv")).expect("written");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 6);
    assert!(rows[1].contains(",correct,"));
    assert!(rows[3].contains(",program-failed,"), "{}", rows[3]);
    assert!(
        rows[3].contains("did not end within 2000 cycles"),
        "{}",
        rows[3]
    );
    // They are not run again: they would fail again.
    let mut second = Count::default();
    run(&plan, &out, &mut second);
    assert_eq!((second.reused, second.started), (5, 0));
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let scratch = Scratch::new("other");
    std::fs::write(scratch.path().join("thesis.txt"), "mine").expect("written");
    let error = Store::open(scratch.path(), "t").expect_err("refused").text;
    assert!(
        error.contains("is not empty and holds no results of a study"),
        "{error}"
    );
    assert_eq!(names(scratch.path()), ["thesis.txt"]);
}

#[test]
fn a_folder_of_another_version_is_left_alone() {
    let scratch = Scratch::new("version");
    let mark = scratch.path().join("warpsim-study.json");
    for (text, version) in [("{\"schema\": 2}", "schema 2"), ("what?", "unreadable")] {
        std::fs::write(&mark, text).expect("written");
        let error = Store::open(scratch.path(), "t").expect_err("refused").text;
        assert!(
            error.contains("results of another version of warpsim"),
            "{error}"
        );
        assert!(error.contains(version), "{error}");
        assert!(error.contains("nothing was changed"), "{error}");
        let kept = std::fs::read_to_string(&mark).expect("still there");
        assert_eq!(kept, text);
        assert_eq!(names(scratch.path()), ["warpsim-study.json"]);
    }
}

#[test]
fn results_of_other_settings_stay() {
    let scratch = Scratch::new("stay");
    let out = scratch.path().join("results");
    run(&plan(STUDY).expect("a good study"), &out, &mut Silent);
    let other = plan(
        &STUDY
            .replace("seed = 1", "")
            .replace("name = \"t\"", "name = \"t\"\nseed = 5"),
    );
    let conclusion = run(&other.expect("a good study"), &out, &mut Silent);
    assert_eq!(conclusion.others, 4);
    assert_eq!(names(&out.join("runs")).len(), 8);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_before_anything_runs() {
    let scratch = Scratch::new("unwritable");
    let file = scratch.path().join("file");
    std::fs::write(&file, "").expect("written");
    let error = Store::open(&file.join("results"), "t")
        .expect_err("refused")
        .text;
    assert!(error.starts_with("cannot "), "{error}");
}

#[test]
fn a_result_that_cannot_be_stored_ends_the_study_and_keeps_the_others() {
    let scratch = Scratch::new("full");
    let out = scratch.path().join("results");
    let plan = plan(STUDY).expect("a good study");
    let store = Store::open(&out, "t").expect("a folder");
    // A folder where a result should go: what a full disk does, without one.
    let taken = out.join("runs").join(format!("{}.json", plan.runs[0].key));
    std::fs::create_dir(&taken).expect("made");
    let mut count = Count::default();
    let error = conduct(&plan, &store, 1, "", &mut count)
        .err()
        .expect("refused")
        .text;
    assert!(error.starts_with("cannot write "), "{error}");
    assert!(error.contains("finished runs are kept"), "{error}");
    std::fs::remove_dir(&taken).expect("removed");
    let mut second = Count::default();
    run(&plan, &out, &mut second);
    let stored = count.finished.len() - 1;
    assert_eq!((second.reused, second.started), (stored, 4 - stored));
}

#[test]
fn a_crash_is_tried_again_and_a_wrong_result_is_not() {
    let scratch = Scratch::new("crash");
    let plan = plan(STUDY).expect("a good study");
    let store = Store::open(scratch.path(), "t").expect("a folder");
    let run = &plan.runs[0];
    for (status, kept) in [(Status::Crashed, false), (Status::Wrong, true)] {
        let record = common::record(run, status, serde_json::Value::Null);
        store.put(&record).expect("stored");
        assert_eq!(store.get(&run.key).whole().is_some(), kept, "{status:?}");
    }
}

/// Two figures of a study against each other: a picture with a point for each configuration, and what
/// makes no sense is said.
#[test]
fn figures_are_drawn_against_each_other() {
    let cycles = "[[figures]]\nid = \"time\"\ntitle = \"Cycles\"\ngroups = [\"g\"]\nconfigurations = [\"gto\", \"lrr\"]\n\
                  metric = \"cycles\"\nnormalise = \"lrr\"\n";
    let trade_off = "[[trade_offs]]\nid = \"pareto\"\ntitle = \"Both at once\"\nx = \"time\"\ny = \"speedup\"\n\
                     x_better = \"less\"\ny_better = \"more\"\n";
    let scratch = Scratch::new("traded");
    let plan = plan(&format!("{STUDY}{cycles}{trade_off}")).expect("a good plan");
    let store = Store::open(&scratch.path().join("r"), &plan.study.name).expect("a folder");
    conduct(&plan, &store, 2, "", &mut Silent).expect("a result");
    let file = scratch.path().join("r/figures/pareto.svg");
    let picture = std::fs::read_to_string(file).expect("the picture");
    // The configuration that is 1 has a place, too, though the second figure does not show it.
    let points = picture.matches(" across, ").count();
    assert_eq!(points, 2, "{picture}");
    assert!(picture.contains("1 gto") && picture.contains("2 lrr"));
    let report = scratch.path().join("r/report.html");
    let report = std::fs::read_to_string(report).expect("the report");
    assert!(report.contains("Both at once") && report.contains("no other beats it"));
    for (wrong, advice) in [
        (
            trade_off.replace("\"time\"", "\"tim\""),
            "did you mean `time`?",
        ),
        (
            trade_off.replace("\"time\"", "\"states\""),
            "no figure with one value each",
        ),
        (
            trade_off.replace("\"pareto\"", "\"time\""),
            "a figure's id already",
        ),
        (trade_off.replace("\"less\"", "\"fewer\""), "more"),
    ] {
        let text = format!("{STUDY}{cycles}{wrong}");
        let error = common::plan(&text).err().expect("refused").to_string();
        assert!(error.contains(advice), "{error}");
    }
}
