//! Phase timelines, and the example about fetch policies.

use crate::common;

use common::{Scratch, fails, root, succeeds, warpsim};
use serde_json::Value;

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(path).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().expect("a list")
}

/// Mean RTRU of the blocks of a timeline whose warps all meet at the same barriers.
fn rtru(timeline: &Value) -> f64 {
    let mut all = Vec::new();
    for block in list(timeline, "blocks") {
        let warps = list(block, "warps");
        for k in 0..list(&warps[0], "phases").len() {
            let time = |warp: &Value| {
                let phase = &list(warp, "phases")[k];
                let number = |key: &str| phase[key].as_u64().expect("a cycle");
                assert!(number("arrived") <= number("released"));
                (number("arrived") - number("began")) as f64
            };
            let times: Vec<f64> = warps.iter().map(time).collect();
            let longest = times.iter().copied().fold(0.0, f64::max);
            let unused: f64 = times.iter().map(|t| longest - t).sum();
            all.push(unused / (times.len() as f64 * longest));
        }
    }
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn a_timeline_of_all_blocks_has_the_rtru_of_the_statistics() {
    let scratch = Scratch::new("phases");
    let (p, s) = (scratch.path("p.json"), scratch.path("s.json"));
    for scheduler in ["lrr", "mwf-gto"] {
        let blocks = ["--phases", &p, "--phases-blocks", "0-4095"];
        let run = [
            "run",
            "reduction",
            "--size",
            "tiny",
            "--scheduler",
            scheduler,
        ];
        succeeds(&[&run[..], &blocks, &["--stats", &s]].concat());
        let (timeline, stats) = (read(&p), read(&s));
        let launch = &list(&stats, "launches")[0]["stats"];
        assert_eq!(timeline["cycles"], launch["cycles"]);
        assert_eq!(list(&timeline, "blocks").len() as u64, launch["blocks"]);
        let counted = launch["rtru"].as_f64().expect("a number");
        assert!((rtru(&timeline) - counted).abs() < 1e-5, "{scheduler}");
        assert!(counted > 0.0);
        assert!(
            timeline["setting"]
                .as_str()
                .expect("text")
                .contains(scheduler)
        );
    }
}

#[test]
fn pictures_beside_a_trace_and_a_choice_of_blocks() {
    let scratch = Scratch::new("picture");
    let (svg, trace) = (scratch.path("p.svg"), scratch.path("t.json"));
    let run = ["run", "reduction", "--size", "tiny", "-q"];
    let files = ["--phases", &svg, "--phases-sm", "1", "--trace", &trace];
    succeeds(&[&run[..], &files].concat());
    let picture = std::fs::read_to_string(&svg).expect("written");
    assert!(picture.starts_with("<svg") && picture.contains("SM 1</text>"));
    assert!(!picture.contains("SM 0</text>"));
    assert!(picture.contains("Warp-phases of"));
    assert!(list(&read(&trace), "traceEvents").len() > 100);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let scratch = Scratch::new("no-phases");
    let file = scratch.path("p.svg");
    fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["run", "vecadd", "--size", "tiny", "-q"], more].concat()
    }
    let errors = fails(2, &run(&["--phases", &scratch.path("p.png")]));
    assert!(errors.contains("must end in .json") && errors.contains(".svg"));
    let errors = fails(2, &run(&["--phases", &file, "--phases-sm", "99"]));
    assert!(errors.contains("there is no SM 99"));
    fails(2, &run(&["--phases", &file, "--functional"]));
    fails(2, &run(&["--phases-sm", "0"]));
    fails(2, &run(&["--phases", &file, "--phases-blocks", "4-2"]));
    // A launch that never comes is no reason to lose the run.
    let output = warpsim(&run(&["--phases", &file, "--phases-launch", "7"]));
    assert!(output.status.success());
    let note = String::from_utf8(output.stderr).expect("text");
    assert!(
        note.contains("was not written: no such block ran (1 launches"),
        "{note}"
    );
    assert!(scratch.names().is_empty());
}

#[test]
fn fef_says_what_it_needs() {
    let errors = fails(2, &["run", "vecadd", "--fetch", "fef"]);
    assert!(errors.contains("fetch.eligible=room"), "{errors}");
    let room = ["--fetch", "fef", "--set", "fetch.eligible=room"];
    succeeds(&[&["run", "vecadd", "--size", "tiny"], &room[..]].concat());
}

/// Critical fetch first matters where one port cannot keep up, and does not where four can.
#[test]
fn the_fetch_policy_matters_where_fetch_is_the_bottleneck() {
    let scratch = Scratch::new("critical");
    let file = root().join("examples/critical-fetch/critical-fetch.toml");
    let file = file.display().to_string();
    let cycles = |fetch: &str, ports: &str| {
        let stats = scratch.path("s.json");
        let machine = ["--machine", "gtx480-v3", "--scheduler", "mwf-gto"];
        let more = ["--fetch", fetch, "--set", ports, "--stats", &stats, "-q"];
        succeeds(&[&["run", &file], &machine[..], &more].concat());
        let totals = &read(&stats)["totals"];
        let fetch_stalls = totals["scheduler_states"]["fetch"].as_u64();
        (totals["cycles"].as_f64().expect("a number"), fetch_stalls)
    };
    let (lrr, stalls) = cycles("lrr", "fetch.ports=1");
    let (cff, fewer) = cycles("cff", "fetch.ports=1");
    assert!(lrr / cff > 1.05, "one port: {lrr} against {cff}");
    assert!(fewer < stalls, "{fewer:?} {stalls:?}");
    let (lrr, _) = cycles("lrr", "fetch.ports=4");
    let (cff, _) = cycles("cff", "fetch.ports=4");
    assert!(
        (lrr / cff - 1.0).abs() < 0.01,
        "four ports: {lrr} against {cff}"
    );
}
