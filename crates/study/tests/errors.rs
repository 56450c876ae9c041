//! What a mistake in a study file is answered with.

use crate::common;

use common::{plan, plan_with};
use warpsim_study::Choices;

const GOOD: &str = r#"schema = 1
name = "mine"
machine = "gtx480"
[groups.g]
workloads = ["vecadd", "matmul"]
[configurations]
lrr = { scheduler = "lrr" }
gto = { scheduler = "gto", set = { "sm.schedulers" = 2 } }
oldest = { scheduler = "oldest" }
[metrics.waiting]
value = "warp_states.barrier / warp_cycles"
[[figures]]
id = "speedup"
groups = ["g"]
configurations = ["gto"]
metric = "ipc"
normalise = "lrr"
[figures.paper]
mean.g = { gto = 1.1 }
values.gto = { matmul = 1.2 }
[[figures.claims]]
claim = "gto > lrr"
"#;

fn message(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let error = plan(&GOOD.replacen(from, to, 1)).err();
    shortened(&error.unwrap_or_else(|| panic!("{to} was accepted")).text)
}

/// Lists of what a build has grow: they are not what is tested here.
fn shortened(text: &str) -> String {
    const LISTS: [&str; 4] = [
        "workloads: ",
        "presets: ",
        "there are: lrr",
        "there are: pdom",
    ];
    let short = |line: &str| {
        let list = LISTS
            .iter()
            .find_map(|list| line.find(list).map(|at| at + list.len()));
        list.map_or(line.to_string(), |end| format!("{}...", &line[..end]))
    };
    text.lines().map(short).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_study_itself_is_good() {
    assert!(plan(GOOD).is_ok());
}

#[test]
fn every_mistake_is_shown_where_it_is() {
    let mistakes = [
        ("no schema", "schema = 1", ""),
        ("another schema", "schema = 1", "schema = 7"),
        ("not TOML", "schema = 1", "schema = = 1"),
        ("unknown key", "machine =", "mashine ="),
        ("no name", "name = \"mine\"", ""),
        ("name of two words", "\"mine\"", "\"my study\""),
        ("unknown machine", "\"gtx480\"", "\"gtx840\""),
        ("unknown workload", "\"vecadd\"", "\"vecad\""),
        (
            "unknown set",
            "workloads = [\"vecadd\", \"matmul\"]",
            "sets = [\"divergence\"]",
        ),
        (
            "no workloads",
            "workloads = [\"vecadd\", \"matmul\"]",
            "title = \"none\"",
        ),
        (
            "unknown scheduler",
            "{ scheduler = \"lrr\" }",
            "{ scheduler = \"lru\" }",
        ),
        (
            "unknown fetch policy",
            "{ scheduler = \"lrr\" }",
            "{ fetch = \"newest\" }",
        ),
        (
            "unknown model",
            "{ scheduler = \"lrr\" }",
            "{ divergence = \"pdomm\" }",
        ),
        ("unknown setting", "\"sm.schedulers\"", "\"sm.shedulers\""),
        (
            "setting out of range",
            "\"sm.schedulers\" = 2",
            "\"sm.schedulers\" = 0",
        ),
        (
            "setting of the wrong kind",
            "\"sm.schedulers\" = 2",
            "\"sm.schedulers\" = [2]",
        ),
        (
            "unknown parameter",
            "set = { \"sm.schedulers\" = 2 }",
            "param = { m = 2 }",
        ),
        (
            "parameter out of range",
            "set = { \"sm.schedulers\" = 2 }",
            "param = { n = 0 }",
        ),
        ("unknown statistic", "metric = \"ipc\"", "metric = \"icp\""),
        (
            "broken expression",
            "barrier / warp_cycles",
            "barrier / / warp_cycles",
        ),
        ("unknown group", "groups = [\"g\"]", "groups = [\"h\"]"),
        (
            "unknown configuration",
            "configurations = [\"gto\"]",
            "configurations = [\"got\"]",
        ),
        ("unknown base", "normalise = \"lrr\"", "normalise = \"rrr\""),
        (
            "unknown mean",
            "metric = \"ipc\"",
            "metric = \"ipc\"\nmean = \"harmonious\"",
        ),
        ("no metric", "metric = \"ipc\"\n", ""),
        ("paper's group", "mean.g =", "mean.k ="),
        (
            "paper's configuration",
            "mean.g = { gto",
            "mean.g = { oldest",
        ),
        (
            "paper's workload",
            "values.gto = { matmul",
            "values.gto = { matmult",
        ),
        (
            "paper's number",
            "mean.g = { gto = 1.1 }",
            "mean.g = { gto = \"fast\" }",
        ),
        ("no claim", "gto > lrr", "gto is better than lrr"),
        ("claim about nothing", "gto > lrr", "mwf > gto"),
        ("claim about what is not shown", "gto > lrr", "gto > oldest"),
        (
            "claim about a workload",
            "claim = \"gto > lrr\"",
            "claim = \"gto > 1\"\non = \"bfs\"",
        ),
        ("labels that are no text", "[configurations]", "[labels]"),
        ("equality without tolerance", "gto > lrr", "gto = 1.2"),
        (
            "untested without words",
            "claim = \"gto > lrr\"",
            "untested = \"illegible\"",
        ),
        (
            "exceptions to an average",
            "claim = \"gto > lrr\"",
            "claim = \"gto > 1\"\nexcept = \"matmul\"",
        ),
        (
            "unknown exception",
            "claim = \"gto > lrr\"",
            "claim = \"gto > 1\"\non = \"every\"\nexcept = \"bfs\"",
        ),
        (
            "unknown experiment",
            "claim = \"gto > lrr\"",
            "claim = \"gto > 1\"\nexperiment = \"wide\"",
        ),
        (
            "experiment that changes nothing",
            "[metrics.waiting]",
            "[experiments.wide]\ntitle = \"wide\"\n[metrics.waiting]",
        ),
        (
            "experiment with an unknown setting",
            "claim = \"gto > lrr\"",
            "claim = \"gto > 1\"\nexperiment = \"wide\"\n\
             [experiments.wide]\nset = { \"interconnect.flitt\" = 40 }",
        ),
        (
            "sensitivity of an unknown figure",
            "[metrics.waiting]",
            "[[sensitivity]]\nfigure = \"speed\"\nset = { \"l2.latency\" = 9 }\n[metrics.waiting]",
        ),
        (
            "sensitivity to nothing",
            "[metrics.waiting]",
            "[[sensitivity]]\nfigure = \"speedup\"\n[metrics.waiting]",
        ),
        (
            "sensitivity to a value out of range",
            "[metrics.waiting]",
            "[[sensitivity]]\nfigure = \"speedup\"\nset = { \"sm.schedulers\" = 99 }\n[metrics.waiting]",
        ),
        (
            "few blocks of what is not there",
            "[metrics.waiting]",
            "[[few_blocks]]\nworkload = \"bfs\"\nreason = \"so\"\n[metrics.waiting]",
        ),
    ];
    let mut all = String::new();
    for (name, from, to) in mistakes {
        all += &format!("--- {name}\n{}\n\n", message(from, to));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn mistakes_in_repeats() {
    let mistakes = [
        "count = 0",
        "cuont = 3",
        "vary = \"input\"",
        "workloads = { matmul = \"input\" }",
        "workloads = { bfs = \"seed\" }",
        "perturb = \"l2.latency\"",
        "perturb = []",
        "perturb = [{}]",
        "perturb = [{ \"l2.latency\" = 0 }]",
        "perturb = [{ \"l2.latency\" = 1 }]",
        "perturb = [{ \"l2.latency\" = 1 }, { \"l2.latency\" = -10000 }]",
        "perturb = [{ \"l2.latencies\" = 1 }, { \"l2.latency\" = 1 }]",
        "perturb = [{ \"dram.model\" = 1 }, { \"l2.latency\" = 1 }]",
    ];
    let mut all = String::new();
    for mistake in mistakes {
        let to = format!("[repeats]\n{mistake}\n[groups.g]");
        all += &format!("{}\n\n", message("[groups.g]", &to));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn mistakes_in_grids() {
    let head =
        "schema = 1\nname = \"g\"\nmachine = \"gtx480\"\n[groups.g]\nworkloads = [\"vecadd\"]\n";
    let mistakes = [
        "[[grid]]\nscheduler = []\n",
        "[[grid]]\nscheduler = [\"lrr\", \"lrr\"]\n",
        "[[grid]]\nname = \"{fetch}\"\nscheduler = [\"lrr\", \"gto\"]\n",
        "[[grid]]\nseed = [-1]\n",
        "[[grid]]\nscheduler = [[\"lrr\"]]\n",
        "[[grid]]\nsched = [\"lrr\"]\n",
        "[grid]\nscheduler = [\"lrr\"]\n",
        "[[grid]]\nset = { \"sm.schedulers\" = [1, 3000] }\n",
    ];
    let mut all = String::new();
    for grid in mistakes {
        let error = plan(&format!("{head}{grid}")).err();
        let text = error.unwrap_or_else(|| panic!("{grid} was accepted")).text;
        all += &format!("{text}\n\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_workload_that_is_not_in_the_study() {
    let choices = Choices {
        workloads: Some(vec!["matmull".into()]),
        ..Choices::default()
    };
    let error = plan_with(GOOD, &choices).err().expect("refused").text;
    assert_eq!(
        error,
        "--workloads: study `mine` has no workload `matmull`; did you mean `matmul`?\n\
         it has: vecadd, matmul\n\
         groups: g"
    );
}

#[test]
fn a_group_stands_for_its_workloads() {
    let text = GOOD
        .replace(
            "[configurations]",
            "[groups.h]\nworkloads = [\"reduction\"]\n[configurations]",
        )
        .replace("groups = [\"g\"]", "groups = [\"g\", \"h\"]");
    let runs = |chosen: &[&str]| {
        let choices = Choices {
            workloads: Some(chosen.iter().map(|c| c.to_string()).collect()),
            ..Choices::default()
        };
        let plan = plan_with(&text, &choices).expect("a good plan");
        let mut names: Vec<String> = plan.runs.iter().map(|r| r.workload.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(runs(&["g"]), ["matmul", "vecadd"]);
    assert_eq!(runs(&["h", "matmul"]), ["matmul", "reduction"]);
    assert_eq!(runs(&["matmul"]), ["matmul"]);
}

#[test]
fn the_studies_that_come_with_warpsim_are_good() {
    for (name, text) in warpsim_study::embedded::STUDIES {
        let plan = plan(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(plan.study.name, *name);
        assert!(plan.study.figures.iter().all(|f| !f.number.is_empty()));
        for missing in &plan.missing {
            eprintln!("{name}: {missing}");
        }
    }
}
