//! Parameters of single workloads, in a study and in its experiments; experiments as lines of a table of
//! sensitivities; and the range of a headline over what a paper leaves open.

use crate::common;

use common::{Scratch, plan, plan_with, repeated};
use std::collections::BTreeSet;
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;
use warpsim_study::{Choices, Plan, conduct};
use warpsim_workloads::suite::Size;

const STUDY: &str = r#"
schema = 1
name = "t"
machine = "gtx480"
size = "tiny"
headlines = ["f"]
[inputs]
vecadd = { n = 1000 }
matmul = { n = 32 }
[groups.g]
workloads = ["vecadd", "matmul"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
[experiments.waves-1]
title = "one wave"
[experiments.waves-1.inputs]
vecadd = { n = 500 }
[experiments.waves-2]
title = "two waves"
inputs = { vecadd = { n = 700 }, matmul = { n = 64 } }
[[figures]]
id = "f"
number = "Figure 1"
groups = ["g"]
configurations = ["gto"]
metric = "ipc"
normalise = "lrr"
display = "change"
mean = "geometric"
[figures.paper]
mean = { gto = 1.5 }
[[sensitivity]]
figure = "f"
repeats = 1
experiments = ["waves-1", "waves-2"]
open = "one to two waves"
"#;

/// The sizes at which a workload runs under configurations whose names end so.
fn sizes(plan: &Plan, workload: &str, ends: &str) -> BTreeSet<u64> {
    let runs = plan.runs.iter().filter(|r| r.workload == workload);
    let runs = runs.filter(|r| r.configuration.ends_with(ends));
    runs.map(|r| r.parameters.get("n")).collect()
}

#[test]
fn each_workload_has_its_own_parameters() {
    let plan = plan(STUDY).expect("a good study");
    let only = |n: u64| BTreeSet::from([n]);
    assert_eq!(sizes(&plan, "vecadd", "gto"), only(1000));
    assert_eq!(sizes(&plan, "matmul", "lrr"), only(32));
    assert_eq!(sizes(&plan, "vecadd", "@waves-1"), only(500));
    assert_eq!(sizes(&plan, "vecadd", "@waves-2"), only(700));
    assert_eq!(sizes(&plan, "matmul", "@waves-2"), only(64));
    // matmul is as usual with one wave, so that its run is that of the study.
    assert_eq!(sizes(&plan, "matmul", "@waves-1"), BTreeSet::new());
    // Two workloads, two configurations, three repeats; then once vecadd twice and matmul once.
    assert_eq!(plan.runs.len(), 12 + 2 + 4);
}

#[test]
fn they_hold_at_the_study_s_own_size() {
    let choices = Choices {
        size: Some(Size::Small),
        ..Choices::default()
    };
    let plan = plan_with(STUDY, &choices).expect("a good study");
    assert_eq!(sizes(&plan, "matmul", "gto"), BTreeSet::from([320]));
    assert!(plan.sensitivities[0].lines.is_empty());
}

#[test]
fn a_headline_has_a_range_over_what_is_open() {
    let plan = plan(STUDY).expect("a good study");
    let records = repeated(&plan, &|_, configuration, _| {
        Some(match configuration {
            "gto@waves-1" => 4.0,
            "gto" => 2.0,
            "gto@waves-2" => 1.25,
            _ => 1.0,
        })
    });
    let results = warpsim_study::evaluate::Results::new(&plan, &records);
    let setup = plan.setup("gto");
    let ranges = warpsim_study::sensitivity::ranges(&results, "f", "g", setup);
    assert_eq!(ranges.len(), 1);
    assert_eq!(ranges[0].what, "one to two waves");
    // With one wave vecadd has 4 and matmul 2.
    assert!((ranges[0].low - 1.25).abs() < 1e-9, "{ranges:?}");
    assert!((ranges[0].high - 8f64.sqrt()).abs() < 1e-9, "{ranges:?}");
    let other = warpsim_study::sensitivity::ranges(&results, "f", "all", setup);
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn a_part_of_the_workloads_gives_no_range() {
    let choices = Choices {
        workloads: Some(vec!["vecadd".to_string()]),
        ..Choices::default()
    };
    let plan = plan_with(STUDY, &choices).expect("a good study");
    let records = repeated(&plan, &|_, _, _| Some(1.0));
    let results = warpsim_study::evaluate::Results::new(&plan, &records);
    let ranges = warpsim_study::sensitivity::ranges(&results, "f", "g", plan.setup("gto"));
    assert!(ranges.is_empty(), "{ranges:?}");
}

#[test]
fn report_and_terminal_show_the_range() {
    let scratch = Scratch::new("inputs");
    let plan = plan(STUDY).expect("a good study");
    let out = scratch.path().join("r");
    let store = Store::open(&out, "t").expect("a folder");
    let conclusion = conduct(&plan, &store, 1, "", &mut Silent).expect("a result");
    let text = &conclusion.text;
    for expected in [
        "\n  one wave ",
        "\n  two waves ",
        " over one to two waves.\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let report = std::fs::read_to_string(out.join("report.html")).expect("written");
    for expected in [
        "range over what the paper leaves open",
        " over one to two waves</td>",
    ] {
        assert!(report.contains(expected), "{expected}");
    }
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let mistakes = [
        (
            "vecadd = { n = 1000 }",
            "vecad = { n = 1000 }",
            "did you mean `vecadd`?",
        ),
        (
            "vecadd = { n = 1000 }",
            "vecadd = { m = 1000 }",
            "the workload has no such parameter",
        ),
        (
            "vecadd = { n = 1000 }",
            "vecadd = 1000",
            "the parameters of `vecadd` are a table",
        ),
        (
            "vecadd = { n = 500 }",
            "bfs = { block = 64 }",
            "called `bfs`",
        ),
        (
            "\"waves-1\", \"waves-2\"",
            "\"waves-3\"",
            "no experiment is called `waves-3`",
        ),
    ];
    for (right, wrong, expected) in mistakes {
        let error = plan(&STUDY.replacen(right, wrong, 1)).err();
        let text = error.expect(wrong).to_string();
        assert!(text.contains(expected), "{wrong}: {text}");
        assert!(text.contains("test.toml"), "{wrong}: {text}");
    }
}
