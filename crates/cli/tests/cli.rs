//! The command as a user meets it: exit codes and messages that need no GPU.

use std::process::{Command, Output};

fn warpsim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .output()
        .expect("the command runs")
}

/// The exit code and standard error.
fn refused(arguments: &[&str]) -> String {
    let output = warpsim(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn lists_show_what_there_is() {
    for (what, expected) in [
        ("machines", "gtx480-v3"),
        ("workloads", "histogram"),
        ("settings", "l1d.ways = 4  (1 to 1024)"),
        ("schedulers", "scheduler.active = 6  (1 to 64 warps)"),
        ("fetch", "fetch.policy.waiters = never  (never | last)"),
        (
            "divergence",
            "divergence.compaction = true  (true or false)",
        ),
        ("stats", ""),
    ] {
        let output = warpsim(&["list", what]);
        assert!(output.status.success(), "{what}");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(!text.is_empty() && text.contains(expected), "{what}");
    }
}

#[test]
fn mistakes_are_bad_input() {
    assert!(refused(&["run", "vecad"]).contains("did you mean `vecadd`?"));
    assert!(refused(&["run", "vecadd", "--machine", "gtx580"]).contains("gtx480"));
    assert!(refused(&["run", "vecadd", "--set", "sm.schedulrs=4"]).contains("`sm.schedulers`"));
    assert!(refused(&["run", "vecadd", "--set", "sm.schedulers=0"]).contains("between 1 and 16"));
    assert!(refused(&["run", "vecadd", "--param", "m=4"]).contains("no such parameter"));
    assert!(refused(&["run", "matmul", "--param", "n=17"]).contains("multiple of 16"));
    assert!(refused(&["run", "vecadd", "--size", "huge"]).contains("tiny"));
    assert!(refused(&["run", "vecadd", "--stats", "no/such/dir/s.json"]).contains("cannot write"));
    assert!(refused(&["run", "nowhere.toml"]).contains("cannot read nowhere.toml"));
    assert!(refused(&["run", "x.toml", "--size", "tiny"]).contains("for workloads"));
    assert!(refused(&["frobnicate"]).contains("frobnicate"));
}

#[test]
fn a_mistake_in_a_launch_file_is_shown_in_its_line() {
    let path = std::env::temp_dir().join(format!("warpsim-cli-{}.toml", std::process::id()));
    std::fs::write(&path, "schema = 1\nptx = \"k.ptx\"\nstpes = 3\n").expect("written");
    let text = refused(&["run", &path.display().to_string()]);
    std::fs::remove_file(&path).expect("removed");
    assert!(
        text.contains(":3:1") && text.contains("3 | stpes = 3"),
        "{text}"
    );
    assert!(text.contains("did you mean `steps`?"), "{text}");
}

#[test]
fn inspect_describes_kernels_and_draws_one() {
    let bfs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bfs/bfs.ptx");
    let output = warpsim(&["inspect", bfs]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    assert!(
        text.contains("bfs_visit(") && text.contains("bfs_advance("),
        "{text}"
    );
    assert!(text.contains("may diverge, a loop"), "{text}");
    assert!(
        text.contains("6 blocks of 256 threads an SM of gtx480"),
        "{text}"
    );
    assert!(refused(&["inspect", bfs, "--svg", "x.svg"]).contains("--kernel"));
    assert!(refused(&["inspect", bfs, "--kernel", "bfs"]).contains("several kernels"));
    assert!(refused(&["inspect", "nowhere.ptx"]).contains("cannot read"));
    let svg = std::env::temp_dir().join(format!("warpsim-cli-{}.svg", std::process::id()));
    let path = svg.display().to_string();
    assert!(
        warpsim(&["inspect", bfs, "--kernel", "visit", "--svg", &path])
            .status
            .success()
    );
    assert!(
        std::fs::read_to_string(&svg)
            .expect("written")
            .contains("<svg")
    );
    std::fs::remove_file(&svg).expect("removed");
}
