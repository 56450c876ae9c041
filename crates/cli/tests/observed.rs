//! What a run writes beside its statistics changes none of them, and ends where its limit is.

use crate::common;

use common::{Scratch, fails, succeeds};
use serde_json::Value;

/// Every way to listen to a run: the argument and the ending of its file.
const LISTENERS: [(&str, &str); 6] = [
    ("--trace", "trace.json"),
    ("--profile", "profile.json"),
    ("--report", "report.html"),
    ("--watts", "watts.json"),
    ("--phases", "phases.json"),
    ("--gangs", "gangs.csv"),
];

/// The statistics of a run with more arguments, what depends on the host aside.
fn statistics(run: &[&str], more: &[&str]) -> Value {
    let arguments = [&["run"], run, &["--quiet", "--stats", "-"], more].concat();
    let text = succeeds(&arguments);
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    let host = value.as_object_mut().and_then(|all| all.remove("host"));
    assert!(host.is_some());
    value
}

/// On a machine whose schedulers look one after the other, on one where lanes are gated, and in gangs.
#[test]
fn who_listens_changes_no_statistic() {
    let scratch = Scratch::new("observed");
    for run in [
        &["matmul", "--size", "tiny", "--machine", "gtx480-ref"][..],
        &[
            "matmul",
            "--size",
            "tiny",
            "--machine",
            "gtx480-ref",
            "--scheduler",
            "tls",
        ],
        &["reduction", "--size", "tiny", "--power", "origami"],
        &[
            "reduction",
            "--size",
            "tiny",
            "--machine",
            "vws",
            "--warps",
            "i-vws",
        ],
    ] {
        let alone = statistics(run, &[]);
        let mut all = Vec::new();
        for (argument, ending) in LISTENERS {
            let in_gangs = run.contains(&"i-vws");
            if argument == "--gangs" && !in_gangs {
                continue;
            }
            let argument = format!("{argument}={}", scratch.path(ending));
            assert_eq!(statistics(run, &[&argument]), alone, "{run:?} {argument}");
            all.push(argument);
        }
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(statistics(run, &all), alone, "{run:?} {all:?}");
    }
}

#[test]
fn a_run_takes_no_longer_than_its_limit() {
    let run = ["run", "matmul", "--size", "tiny", "--quiet"];
    let whole = statistics(&run[1..4], &[]);
    let cycles = whole["totals"]["cycles"].as_u64().expect("a number");
    let with = |limit: u64, more: &[&str]| {
        let limit = limit.to_string();
        let all = [&run[..], &["--max-cycles", &limit], more].concat();
        fails(3, &all)
    };
    let same = statistics(&run[1..4], &["--max-cycles", &cycles.to_string()]);
    assert_eq!(same, whole);
    for limit in [cycles - 1, 2000, 1] {
        let text = with(limit, &[]);
        let begins = format!("did not end within {limit} cycles (--max-cycles)");
        assert!(text.contains(&begins), "{text}");
        assert_eq!(with(limit, &["--no-skip"]), text);
        assert_eq!(with(limit, &["--threads", "2"]), text);
    }
}

#[test]
fn more_threads_than_cores_are_not_taken_and_said() {
    let text = |quiet: &[&str]| {
        let all = [
            &["run", "vecadd", "--size", "tiny", "--threads", "1024"],
            quiet,
        ]
        .concat();
        let output = common::warpsim(&all);
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    let said = text(&[]);
    assert!(
        said.contains("note: --threads 1024: this host has "),
        "{said}"
    );
    assert_eq!(text(&["--quiet"]), "");
}
