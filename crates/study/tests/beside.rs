//! What is run beside the figures: experiments under claims, tables of sensitivities, sizes; and
//! what the report makes of them.

use crate::common;

use common::{Scratch, plan, repeated};
use serde_json::Value;
use warpsim_study::conduct;
use warpsim_study::runner::Silent;
use warpsim_study::store::Store;
use warpsim_study::verdict::Verdict;

const STUDY: &str = r#"
schema = 1
name = "t"
title = "Beside"
machine = "gtx480"
size = "tiny"
changed = "vecadd made smaller on 2 May: it took too long"
[groups.g]
workloads = ["vecadd", "bfs"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto" }
same = { scheduler = "gto", title = "gto again" }
[experiments.slow]
title = "a slow L2"
set = { "l2.latency" = 400 }
[experiments.mesh]
title = "a mesh-like graph"
workloads = { bfs = "bfs-mesh" }
[metrics.speed]
title = "speed"
value = "ipc"
paper = "how fast it goes"
definition = "thread instructions over cycles"
[[figures]]
id = "f"
number = "Figure 1"
groups = ["g"]
configurations = ["gto", "same"]
metric = "speed"
normalise = "lrr"
display = "change"
[[figures.claims]]
text = "gto is ten times as fast on bfs"
claim = "gto > 10"
on = "bfs"
paper = "ten times (section 5)"
reason = "nothing is"
by = "mesh"
experiment = ["slow", "mesh"]
changed = "was 100 until 1 May: misread"
[[figures.claims]]
text = "same is faster than gto"
claim = "same > gto"
[[figures.claims]]
text = "the figure that cannot be read"
untested = "it cannot be read"
[[sensitivity]]
figure = "f"
configurations = ["gto"]
repeats = 1
set = { "l2.latency" = [60, 240] }
note = "neither is the paper's"
[[few_blocks]]
workload = "bfs"
reason = "the paper's graph is small, too"
"#;

#[test]
fn experiments_and_sensitivities_are_planned_once() {
    let plan = plan(STUDY).expect("a good study");
    // Two workloads under lrr and gto (`same` is gto), three repeats: 12. The slow L2: bfs under
    // both, three repeats. The mesh: the same. Two latencies: both workloads under both, once.
    assert_eq!(plan.runs.len(), 12 + 6 + 6 + 8);
    let mesh = plan.runs.iter().filter(|r| r.workload == "bfs-mesh");
    assert_eq!(mesh.count(), 6);
    let slow = plan.runs.iter().filter(|r| r.machine.l2.latency >= 399);
    assert!(slow.clone().all(|r| r.workload == "bfs"));
    let mut latencies: Vec<u32> = slow.map(|r| r.machine.l2.latency).collect();
    latencies.sort_unstable();
    latencies.dedup();
    assert_eq!(latencies, [399, 400, 401], "repeats move what is set");
}

#[test]
fn an_experiment_may_have_fewer_repeats() {
    let once = STUDY.replace("[experiments.slow]", "[experiments.slow]\nrepeats = 1");
    let plan = plan(&once).expect("a good study");
    assert_eq!(plan.runs.len(), 12 + 2 + 6 + 8);
}

#[test]
fn experiments_run_for_claims_that_fail() {
    let runs = |name: &str, text: &str| {
        let scratch = Scratch::new(name);
        let out = scratch.path().join("r");
        let store = Store::open(&out, "t").expect("a folder");
        let plan = plan(text).expect("a good study");
        let conclusion = conduct(&plan, &store, 2, "", &mut Silent).expect("a result");
        let stored = std::fs::read_dir(out.join("runs")).expect("the runs");
        let csv = std::fs::read_to_string(out.join("results.csv")).expect("written");
        assert_eq!(csv.contains("@slow"), csv.contains("@mesh"));
        (stored.count(), csv.contains("@slow"), conclusion)
    };
    let (all, there, _) = runs("failing", STUDY);
    assert_eq!((all, there), (12 + 6 + 6 + 8, true));
    let (few, there, conclusion) = runs("holding", &STUDY.replace("gto > 10", "gto > 0.1"));
    assert_eq!((few, there), (12 + 8, false));
    let told = conclusion.claims.to_string();
    assert!(told.starts_with("1 hold, 0 fail"), "{told}");
}

#[test]
fn an_experiment_is_judged_like_its_claim() {
    let plan = plan(STUDY).expect("a good study");
    let records = repeated(&plan, &|workload, configuration, _| {
        Some(match (workload, configuration) {
            ("bfs-mesh", c) if c.starts_with("gto") => 20.0,
            (_, "gto@slow") => 3.0,
            (_, "gto@l2.latency=60") => 1.25,
            (_, c) if c.starts_with("gto") => 2.0,
            _ => 1.0,
        })
    });
    let results = warpsim_study::evaluate::Results::new(&plan, &records);
    let variants = plan.experiments(0, 0);
    assert_eq!(variants.len(), 2);
    let figure = &plan.study.figures[0];
    let verdicts: Vec<(Verdict, String)> = variants
        .iter()
        .map(|variant| {
            let shown = results.figure_under(0, Some(variant));
            let judged = warpsim_study::verdict::judge(&plan, figure, &shown, &figure.claims[0]);
            (judged.verdict, judged.detail)
        })
        .collect();
    assert_eq!(verdicts[0].0, Verdict::Fails);
    assert!(verdicts[0].1.contains("gto +200.0%"), "{}", verdicts[0].1);
    assert_eq!(verdicts[1].0, Verdict::Holds);
    assert!(verdicts[1].1.contains("gto +1900.0%"), "{}", verdicts[1].1);
}

#[test]
fn an_experiment_on_one_workload_leaves_the_others_as_they_are() {
    let study = STUDY
        .replace(
            "[experiments.slow]",
            "[experiments.slow]\non = [\"vecadd\"]",
        )
        .replace("on = \"bfs\"\npaper", "on = \"every\"\npaper");
    let plan = plan(&study).expect("a good study");
    let slow = plan.runs.iter().filter(|r| r.machine.l2.latency >= 399);
    // Under lrr and gto, three repeats.
    assert_eq!(slow.clone().count(), 6);
    assert!(slow.clone().all(|r| r.workload == "vecadd"));
    let records = repeated(&plan, &|_, configuration, _| {
        Some(match configuration {
            "gto@slow" => 20.0,
            "gto" => 11.0,
            _ => 1.0,
        })
    });
    let results = warpsim_study::evaluate::Results::new(&plan, &records);
    let figure = &plan.study.figures[0];
    let shown = results.figure_under(0, Some(&plan.experiments(0, 0)[0]));
    let judged = warpsim_study::verdict::judge(&plan, figure, &shown, &figure.claims[0]);
    assert_eq!(judged.verdict, Verdict::Holds);
    for expected in ["vecadd: gto +1900.0%", "bfs: gto +1000.0%"] {
        assert!(judged.detail.contains(expected), "{}", judged.detail);
    }
}

#[test]
fn the_report_explains_itself() {
    let scratch = Scratch::new("beside");
    let plan = plan(STUDY).expect("a good study");
    let out = scratch.path().join("r");
    let store = Store::open(&out, "t").expect("a folder");
    let conclusion = conduct(&plan, &store, 2, "", &mut Silent).expect("a result");
    assert_eq!(
        conclusion.claims.to_string(),
        "0 hold, 1 fail, 0 within scatter, 1 untested, 1 vacuous"
    );
    let text = &conclusion.text;
    for expected in [
        "  FAILS          gto is ten times as fast on bfs: ",
        "the paper: ten times (section 5)",
        "why: not explained",
        "with a slow L2 it fails: ",
        "with a mesh-like graph it fails: ",
        "changed after results were seen: was 100 until 1 May: misread",
        "  vacuous        same is faster than gto: ",
        "  untested       the figure that cannot be read: it cannot be read",
        "Sensitivity of Figure 1: arithmetic mean over g",
        "l2.latency=60 (",
        "Sizes\n",
        "as the paper's",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let report = std::fs::read_to_string(out.join("report.html")).expect("written");
    for expected in [
        "How far to trust this",
        "Everything ran 3 times",
        "vecadd made smaller on 2 May",
        "was 100 until 1 May",
        "it cannot be read",
        "identical in every statistic",
        "The paper:</b> how fast it goes",
        "Here:</b> thread instructions over cycles",
        "thread instructions per cycle, whole GPU",
        "With a slow L2: fails.",
        "neither is the paper",
        "the paper's graph is small, too",
        "class=\"repeats\"",
        "<h2>Sizes</h2>",
    ] {
        assert!(report.contains(expected), "{expected}");
    }
    let picture = std::fs::read_to_string(out.join("figures/f.svg")).expect("written");
    assert!(picture.contains("class=\"repeats\""), "error marks");
    let json = std::fs::read_to_string(out.join("conclusions.json")).expect("written");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["counts"]["vacuous"], 1);
    assert_eq!(
        json["claims"][0]["experiments"].as_array().map(Vec::len),
        Some(2)
    );
    let value = &json["values"][0]["measured"];
    assert_eq!(value["repeats"].as_array().map(Vec::len), Some(3));
    assert!(value["low"].as_f64() <= value["high"].as_f64());
    assert_eq!(json["sensitivities"].as_array().map(Vec::len), Some(3));
    let csv = std::fs::read_to_string(out.join("figures.csv")).expect("written");
    let head =
        "figure,group,workload,configuration,part,value,low,high,deviation,repeats,over,paper";
    assert_eq!(csv.lines().next(), Some(head));
    assert_eq!(csv.lines().count(), 1 + 2 * 2 + 2);
}
