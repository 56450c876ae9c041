//! Normalisation, means and claims against values computed by hand.

use crate::common;

use common::{plan, plan_with, record, records};
use serde_json::json;
use warpsim_sim::progress::Silent;
use warpsim_study::evaluate::{Cell, Results};
use warpsim_study::record::{Status, read_stored};
use warpsim_study::sample::Sample;
use warpsim_study::verdict::{Judged, Verdict, judge};
use warpsim_study::{Choices, Plan, execute_alone};

const STUDY: &str = r#"
schema = 1
name = "t"
machine = "gtx480"
repeats = { count = 1 }
awaited = ["not-written-yet", "newest"]
[labels]
matmul = "MM"
[groups.one]
workloads = ["vecadd", "matmul", "reduction", "not-written-yet"]
[groups.two]
workloads = ["bfs"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
tls = { scheduler = "tls" }
newest = { scheduler = "newest" }
[[figures]]
id = "f"
groups = ["one", "two"]
configurations = ["gto", "tls", "newest"]
metric = "ipc"
normalise = "lrr"
display = "change"
mean = "MEAN"
[figures.paper]
mean.one = { gto = 1.25 }
values.tls = { matmul = 0.9 }
CLAIMS
"#;

fn study(mean: &str, claims: &str) -> Plan {
    plan(&STUDY.replace("MEAN", mean).replace("CLAIMS", claims)).expect("a good study")
}

/// Speed-ups over lrr: gto 2, 1, 4 and 1; tls 0.5, 0.5, wrong and 2.
fn ipc(workload: &str, configuration: &str) -> Option<f64> {
    let base = match workload {
        "vecadd" => 10.0,
        "matmul" => 100.0,
        "reduction" => 7.0,
        _ => 3.0,
    };
    let factor = match (configuration, workload) {
        ("gto", "vecadd") => 2.0,
        ("gto", "reduction") => 4.0,
        ("tls", "reduction") => return None,
        ("tls", "bfs") => 2.0,
        ("tls", _) => 0.5,
        _ => 1.0,
    };
    Some(base * factor)
}

#[test]
fn values_are_normalised_workload_by_workload() {
    let plan = study("harmonic", "");
    let records = records(&plan, &ipc);
    let shown = Results::new(&plan, &records).figure(0);
    let cells: Vec<Vec<Cell>> = shown.rows.iter().map(|r| r.cells.clone()).collect();
    let value = |v: f64| Cell::Value(Sample::of(vec![v]).expect("a value"));
    assert_eq!(cells[0], [value(2.0), value(0.5), Cell::Absent]);
    assert_eq!(cells[1], [value(1.0), value(0.5), Cell::Absent]);
    assert_eq!(
        cells[2],
        [value(4.0), Cell::Failed(Status::Wrong), Cell::Absent]
    );
    assert_eq!(cells[3], [Cell::Absent, Cell::Absent, Cell::Absent]);
    assert_eq!(cells[4], [value(1.0), value(2.0), Cell::Absent]);
    assert_eq!(shown.rows[1].paper, [None, Some(0.9), None]);
}

#[test]
fn workloads_are_sorted_within_their_group() {
    let sorted = STUDY
        .replace("MEAN", "harmonic\"\nsort = \"gto")
        .replace("CLAIMS", "");
    let plan = plan(&sorted).expect("a good study");
    let records = records(&plan, &ipc);
    let shown = Results::new(&plan, &records).figure(0);
    let names: Vec<&str> = shown
        .rows
        .iter()
        .map(|r| plan.subjects.name(r.subject))
        .collect();
    assert_eq!(
        names,
        ["matmul", "vecadd", "reduction", "not-written-yet", "bfs"]
    );
    let wrong = sorted.replace("sort = \"gto", "sort = \"lrr");
    let error = common::plan(&wrong).err().expect("not shown").to_string();
    assert!(error.contains("lrr"), "{error}");
}

#[test]
fn a_group_can_be_every_workload() {
    let every = STUDY.replace(
        "workloads = [\"bfs\"]",
        "sets = [\"all\"]\nwithout = [\"nw\"]",
    );
    let plan =
        plan(&every.replace("MEAN", "harmonic").replace("CLAIMS", "")).expect("a good study");
    let names: Vec<&str> = plan
        .subjects
        .group("two")
        .iter()
        .map(|s| plan.subjects.name(*s))
        .collect();
    assert!(
        names.contains(&"sha1") && !names.contains(&"nw"),
        "{names:?}"
    );
}

#[test]
fn means_are_over_what_there_is_and_say_so() {
    for (mean, gto, tls) in [
        ("arithmetic", 7.0 / 3.0, 0.5),
        ("geometric", 2.0, 0.5),
        // 3 / (1/2 + 1/1 + 1/4)
        ("harmonic", 12.0 / 7.0, 0.5),
    ] {
        let plan = study(mean, "");
        let records = records(&plan, &ipc);
        let shown = Results::new(&plan, &records).figure(0);
        let groups: Vec<&str> = shown.means.iter().map(|m| m.group.as_str()).collect();
        assert_eq!(groups, ["one", "two", "all"]);
        let one = &shown.means[0];
        let near = |cell: &Option<(Sample, usize)>, expected: f64, over: usize| {
            let (sample, n) = cell.as_ref().expect("a mean");
            let total = sample.total();
            assert!((total - expected).abs() < 1e-12, "{mean}: {total}");
            assert_eq!(*n, over);
        };
        near(&one.cells[0], gto, 3);
        near(&one.cells[1], tls, 2);
        assert_eq!(one.cells[2], None);
        assert_eq!(one.of, 4);
        assert_eq!(one.paper, [Some(1.25), None, None]);
        assert_eq!(shown.means[2].of, 5);
    }
}

fn judged(mean: &str, claim: &str) -> Judged {
    let text = format!("[[figures.claims]]\n{claim}");
    let plan = study(mean, &text);
    let records = records(&plan, &ipc);
    let shown = Results::new(&plan, &records).figure(0);
    let figure = &plan.study.figures[0];
    judge(&plan, figure, &shown, &figure.claims[0])
}

#[test]
fn claims_hold_or_not() {
    let verdict = |claim: &str| judged("geometric", claim).verdict;
    let holds = [
        "claim = 'gto > tls'",
        "claim = 'gto > lrr > tls'\ngroup = 'one'",
        "claim = 'gto > 1 > tls'\ngroup = 'one'",
        "claim = 'gto >= 1'\non = 'every'",
        "claim = 'tls > 1'\non = 'some'",
        "claim = 'tls > gto'\non = 'bfs'",
        "claim = 'tls < 1'\non = ['vecadd', 'matmul']",
        "claim = 'gto > 3.9'\non = 'best'",
        "claim = 'gto ~ 1'\non = 'worst'\nwithin = 0.001",
        "claim = 'gto / tls > 2'\non = 'vecadd'",
        "claim = 'gto ~ 0.99'\non = 'matmul'",
    ];
    for claim in holds {
        assert_eq!(verdict(claim), Verdict::Holds, "{claim}");
    }
    let fails = [
        "claim = 'tls > gto'",
        "claim = 'gto > 1'\non = 'every'",
        "claim = 'tls > 2'\non = 'some'",
        "claim = 'gto > tls > 1'\ngroup = 'one'",
        "claim = 'gto ~ 0.9'\non = 'matmul'",
        "claim = 'gto / tls > 4'\non = 'vecadd'",
    ];
    for claim in fails {
        assert_eq!(verdict(claim), Verdict::Fails, "{claim}");
    }
    let open = [
        "claim = 'newest > gto'",
        "claim = 'gto > 1'\non = 'not-written-yet'",
        "claim = 'tls > 1'\non = 'reduction'",
    ];
    for claim in open {
        assert_eq!(verdict(claim), Verdict::Untested, "{claim}");
    }
}

#[test]
fn a_claim_about_means_takes_the_workloads_all_sides_have() {
    // reduction is wrong under tls: gto's mean is over vecadd and matmul alone, sqrt(2).
    let judged = judged("geometric", "claim = 'gto > tls'\ngroup = 'one'");
    assert_eq!(
        judged.detail,
        "gto +41.4%, tls -50.0% (geometric mean over 2 of the 4)"
    );
}

#[test]
fn a_claim_that_fails_names_the_workloads() {
    let judged = judged("geometric", "claim = 'gto > 1'\non = 'every'");
    assert_eq!(
        judged.detail,
        "2 of 5 workloads. MM: gto 0.0%; bfs: gto 0.0% (1 of 5 not measured)"
    );
}

#[test]
fn stacks_are_normalised_to_the_whole_stack() {
    let text = r#"
schema = 1
name = "t"
machine = "gtx480"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
[[figures]]
id = "f"
groups = ["g"]
configurations = ["lrr", "gto"]
normalise = "lrr"
parts = [
    { title = "a", metric = "cycles" },
    { title = "b", metric = "(ipc + blocks) * 2" },
]
[[figures.claims]]
claim = "gto < lrr"
[[figures.claims]]
claim = "gto < lrr"
part = "b"
"#;
    let plan = plan(text).expect("a good study");
    let totals = |run: &warpsim_study::plan::Run| match run.configuration.as_str() {
        "lrr" => json!({"cycles": 6, "ipc": 0.5, "blocks": 0.5}),
        _ => json!({"cycles": 1, "ipc": 1.0, "blocks": 0.5}),
    };
    let made = |r: &std::sync::Arc<warpsim_study::plan::Run>| record(r, Status::Correct, totals(r));
    let records: Vec<_> = plan.runs.iter().map(made).collect();
    let shown = Results::new(&plan, &records).figure(0);
    // lrr: 6 + 2 = 8; gto: 1 + 3 = 4.
    let value = |layers: [f64; 2]| Cell::Value(Sample::new(vec![layers.into()]).expect("a value"));
    assert_eq!(shown.rows[0].cells[0], value([0.75, 0.25]));
    assert_eq!(shown.rows[0].cells[1], value([0.125, 0.375]));
    let figure = &plan.study.figures[0];
    let verdicts: Vec<Verdict> = figure
        .claims
        .iter()
        .map(|c| judge(&plan, figure, &shown, c).verdict)
        .collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Fails]);
}

#[test]
fn nothing_can_be_divided_by_nothing() {
    let text = STUDY
        .replace("MEAN", "geometric")
        .replace("CLAIMS", "")
        .replace("metric = \"ipc\"", "metric = \"ipc / blocks\"");
    let plan = plan(&text).expect("a good study");
    let made = |r: &std::sync::Arc<warpsim_study::plan::Run>| {
        record(r, Status::Correct, json!({"ipc": 1.0, "blocks": 0}))
    };
    let records: Vec<_> = plan.runs.iter().map(made).collect();
    let shown = Results::new(&plan, &records).figure(0);
    assert_eq!(shown.rows[0].cells[0], Cell::Undefined);
    assert_eq!(shown.means[0].cells[0], None);
}

#[test]
fn workloads_that_are_left_out_are_not_run_but_counted() {
    let choices = Choices {
        workloads: Some(vec!["matmul".into()]),
        ..Choices::default()
    };
    let text = STUDY.replace("MEAN", "geometric").replace("CLAIMS", "");
    let plan = plan_with(&text, &choices).expect("a good study");
    assert!(plan.runs.iter().all(|r| r.workload == "matmul"));
    assert_eq!(plan.runs.len(), 3);
    let records = records(&plan, &ipc);
    let shown = Results::new(&plan, &records).figure(0);
    assert_eq!(shown.means[0].of, 4);
    let (_, over) = shown.means[0].cells[0].as_ref().expect("a mean");
    assert_eq!(*over, 1);
}

#[test]
fn runs_that_are_the_same_run_once() {
    let text = r#"
schema = 1
name = "t"
machine = "gtx480"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd"]
[configurations]
plain = {}
named = { scheduler = "gto", set = { "sm.schedulers" = 2 } }
other = { set = { sm.schedulers = 1 } }
"#;
    let plan = plan(text).expect("a good study");
    assert_eq!(plan.pairs().len(), 3);
    assert_eq!(plan.runs.len(), 2, "gtx480 is gto with two schedulers");
}

#[test]
fn a_grid_is_every_combination() {
    let text = r#"
schema = 1
name = "t"
machine = "gtx480"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd"]
[[grid]]
scheduler = ["lrr", "gto"]
seed = [1, 2]
set = { "sm.schedulers" = [1, 2] }
[[grid]]
name = "{machine}-{n}"
machine = ["fx5800", "vws"]
param = { n = [1000, 2000] }
"#;
    let plan = plan(text).expect("a good study");
    let names: Vec<&str> = plan.setups.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(
        names[..4],
        [
            "lrr+seed=1+sm.schedulers=1",
            "lrr+seed=1+sm.schedulers=2",
            "lrr+seed=2+sm.schedulers=1",
            "lrr+seed=2+sm.schedulers=2",
        ]
    );
    assert_eq!(
        names[8..],
        ["fx5800-1000", "fx5800-2000", "vws-1000", "vws-2000"]
    );
    assert_eq!(plan.runs.len(), 12);
    let last = plan.runs.last().expect("a run");
    assert_eq!(
        (last.machine.name.as_str(), last.parameters.get("n")),
        ("vws", 2000)
    );
}

const KERNELS: &str = r#"
schema = 1
name = "t"
title = "Kernels"
machine = "gtx480"
size = "tiny"
[repeats]
count = 1
[labels]
"backprop:backprop_adjust" = "adjust"
[groups.g]
workloads = ["backprop:backprop_forward", "backprop:backprop_adjust", "backprop", "vecadd:vecadd"]
[configurations]
lrr = { scheduler = "lrr" }
[[figures]]
id = "f"
groups = ["g"]
configurations = ["lrr"]
metric = "warp_instructions"
[[figures.claims]]
text = "all four issue something"
claim = "lrr > 0"
on = "4"
"#;

#[test]
fn a_row_of_a_kernel_has_what_its_launches_have() {
    let plan = plan(KERNELS).expect("a good study");
    // Three rows are of one run.
    assert_eq!(plan.runs.len(), 2);
    let records: Vec<_> = plan
        .runs
        .iter()
        .map(|run| {
            let text = execute_alone(run, Box::new(Silent)).expect("a result");
            read_stored(&text).expect("an intact result")
        })
        .collect();
    let results = Results::new(&plan, &records);
    let shown = results.figure(0);
    let value = |row: usize| shown.rows[row].cells[0].values(None).expect("a value")[0];
    assert!(value(0) > 0.0 && value(1) > 0.0);
    assert_eq!(
        value(0) + value(1),
        value(2),
        "both kernels are the workload"
    );
    assert!(value(3) > 0.0, "a workload's only kernel is the workload");
    let labels: Vec<&str> = (0..4).map(|s| plan.subjects.label(s)).collect();
    assert_eq!(labels, ["backprop_forward", "adjust", "backprop", "vecadd"]);
    let prints = |row: usize| shown.rows[row].prints[0].clone();
    assert_ne!(prints(0), prints(1), "kernels are told apart");
    let claim = &plan.study.figures[0].claims[0];
    let judged = judge(&plan, &plan.study.figures[0], &shown, claim);
    assert_eq!(judged.verdict, Verdict::Holds, "{}", judged.detail);
}

#[test]
fn a_kernel_that_a_workload_does_not_have_is_an_error_with_those_it_has() {
    let study = KERNELS.replace("backprop:backprop_forward", "backprop:forward");
    let Err(error) = plan(&study) else {
        panic!("there is no such kernel");
    };
    let text = error.to_string();
    for expected in [
        "`backprop` has no kernel of that name",
        "kernels: backprop_forward, backprop_adjust",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}
