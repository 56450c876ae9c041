//! `warpsim study`, `sweep` and `compare` as users see them.

mod common;

use common::{Scratch, fails, root, succeeds, warpsim};

fn example(name: &str) -> String {
    let path = root().join("studies/examples").join(name);
    path.display().to_string()
}

#[test]
fn a_sweep_shows_a_table_and_leaves_files() {
    let scratch = Scratch::new("sweep");
    let out = scratch.path("r");
    let shown = succeeds(&[
        "sweep",
        &example("sweep.toml"),
        "--out",
        &out,
        "--jobs",
        "2",
    ]);
    assert!(shown.contains("tls+sm.schedulers=2"), "{shown}");
    assert!(shown.contains("geometric mean over 2"), "{shown}");
    assert!(shown.contains("report.html"), "{shown}");
    let output = warpsim(&["sweep", &example("sweep.toml"), "--out", &out]);
    let progress = String::from_utf8_lossy(&output.stderr);
    assert!(
        progress.contains("12 runs, 12 of them done before"),
        "{progress}"
    );
    let again = String::from_utf8_lossy(&output.stdout);
    assert_eq!(again, shown, "the same, from the folder");
}

#[test]
fn a_paper_at_its_smallest() {
    let scratch = Scratch::new("paper");
    let out = scratch.path("r");
    let shown = succeeds(&[
        "study",
        "baws",
        "--size",
        "tiny",
        "--workloads",
        "matmul",
        "--out",
        &out,
    ]);
    assert!(shown.contains("Figure 8: Speed-up over lrr"), "{shown}");
    assert!(shown.contains("geometric mean over 1 of the 13"), "{shown}");
    assert!(shown.contains("+16.9%"), "the paper's value: {shown}");
    let report = std::fs::read_to_string(format!("{out}/report.html")).expect("a report");
    let command = format!("warpsim study baws --size tiny --workloads matmul --out {out}");
    assert!(report.contains(&command));
    assert!(scratch.names().contains(&"r".to_string()));
}

#[test]
fn quiet_is_quiet() {
    let scratch = Scratch::new("quiet");
    let output = warpsim(&[
        "sweep",
        &example("sweep.toml"),
        "-q",
        "--out",
        &scratch.path("r"),
    ]);
    assert!(output.status.success());
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn bad_input_is_said_clearly_and_nothing_is_written() {
    let scratch = Scratch::new("bad");
    let out = scratch.path("r");
    let shown = fails(2, &["study", "bawss", "--out", &out]);
    assert!(
        shown.contains("no study is called `bawss`; did you mean `baws`?"),
        "{shown}"
    );
    let shown = fails(2, &["sweep", &scratch.path("none.toml"), "--out", &out]);
    assert!(shown.contains("cannot read"), "{shown}");
    let shown = fails(
        2,
        &["study", "baws", "--workloads", "matmull", "--out", &out],
    );
    assert!(shown.contains("did you mean `matmul`?"), "{shown}");
    let shown = fails(2, &["study", "baws", "--jobs", "0", "--out", &out]);
    assert!(shown.contains("--jobs"), "{shown}");
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    std::fs::write(scratch.path("mine.txt"), "mine").expect("written");
    let folder = scratch.path("");
    let shown = fails(2, &["study", "baws", "--size", "tiny", "--out", &folder]);
    assert!(shown.contains("holds no results of a study"), "{shown}");
    assert_eq!(scratch.names(), ["mine.txt"]);
}

#[test]
fn failed_runs_decide_the_exit_code() {
    let scratch = Scratch::new("codes");
    let data = root().join("crates/cli/tests/data");
    let study = |launch: &str| {
        let file = data.join(launch).display().to_string();
        format!(
            "schema = 1\nname = \"t\"\nmachine = \"gtx480\"\nmax_cycles = 20000\n[groups.g]\n\
             workloads = [{file:?}, \"vecadd\"]\n[[grid]]\nscheduler = [\"gto\"]\n"
        )
    };
    for (launch, code, status) in [
        ("wrong.toml", 1, "wrong:"),
        ("deadlock.toml", 3, "program-failed:"),
        ("endless.toml", 3, "program-failed:"),
    ] {
        let file = scratch.path("study.toml");
        std::fs::write(&file, study(launch)).expect("written");
        let out = scratch.path(launch);
        let output = warpsim(&["study", &file, "--size", "tiny", "--out", &out]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{launch}: {errors}");
        assert!(errors.lines().any(|l| l.starts_with(status)), "{errors}");
        let csv = std::fs::read_to_string(format!("{out}/results.csv")).expect("written");
        assert!(
            csv.lines().any(|l| l.contains(",correct,")),
            "the other one ran"
        );
    }
}

#[test]
fn compare_shows_what_moved_worst_first() {
    let scratch = Scratch::new("compare");
    let (a, b) = (scratch.path("a.json"), scratch.path("b.json"));
    for (scheduler, file) in [("lrr", &a), ("gto", &b)] {
        succeeds(&[
            "run",
            "matmul",
            "--size",
            "tiny",
            "--scheduler",
            scheduler,
            "--stats",
            file,
            "-q",
        ]);
    }
    let shown = succeeds(&["compare", &a, &b]);
    assert!(shown.contains("statistics moved"), "{shown}");
    let changes: Vec<f64> = shown
        .lines()
        .skip_while(|l| !l.contains("B to A"))
        .skip(1)
        .filter_map(|l| l.split_whitespace().last()?.strip_suffix('%')?.parse().ok())
        .collect();
    assert!(changes.len() > 3, "{shown}");
    assert!(
        changes.is_sorted_by(|x: &f64, y: &f64| x.abs() >= y.abs()),
        "{changes:?}"
    );
    let same = succeeds(&["compare", &a, &a, &a]);
    assert!(same.contains("0 statistics moved"), "{same}");
    let shown = fails(2, &["compare", &a, &scratch.path("none.json")]);
    assert!(shown.contains("cannot read"), "{shown}");
    fails(2, &["compare", &a]);
}

#[test]
fn studies_are_listed() {
    let shown = succeeds(&["list", "studies"]);
    assert!(
        shown.contains("baws\n    Barrier-aware warp scheduling"),
        "{shown}"
    );
    assert!(
        shown.contains("tbc\n    Thread block compaction"),
        "{shown}"
    );
}
