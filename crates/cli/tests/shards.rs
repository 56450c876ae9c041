//! Studies in parts: any engine may run them, in any order, twice or on machines that die.

use crate::common;

use common::{Scratch, fails, root, succeeds, warpsim};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn example(name: &str) -> String {
    root()
        .join("studies/examples")
        .join(name)
        .display()
        .to_string()
}

/// Every file of a folder with its bytes; of a run's record, all but the time that it took.
fn files(folder: &str) -> BTreeMap<String, Vec<u8>> {
    fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            let name = format!("{below}{name}");
            if path.is_dir() {
                collect(&path, &format!("{name}/"), files);
                continue;
            }
            let mut bytes = std::fs::read(&path).expect("readable");
            if name.starts_with("runs/") {
                let text = String::from_utf8(bytes).expect("text");
                let timed = |l: &&str| !l.contains("\"seconds\"") && !l.contains("\"checksum\"");
                let timeless: Vec<&str> = text.lines().filter(timed).collect();
                bytes = timeless.join("\n").into_bytes();
            }
            files.insert(name, bytes);
        }
    }
    let mut all = BTreeMap::new();
    collect(Path::new(folder), "", &mut all);
    all
}

/// Runs the command in a folder of its own, so that the report's command line is the same.
fn within(folder: &str, arguments: &[&str]) {
    std::fs::create_dir_all(folder).expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
}

#[test]
fn merged_shards_are_what_one_machine_makes_byte_for_byte() {
    let scratch = Scratch::new("shards");
    // Figures, claims and recorded timelines.
    let study = example("barriers.toml");
    let asked = ["study", &study, "--repeats", "2"];
    let one = scratch.path("one");
    within(&one, &[&asked[..], &["--out", "whole"]].concat());
    let three = scratch.path("three");
    for shard in ["2/3", "3/3", "1/3"] {
        let out = format!("part-{}", &shard[..1]);
        let more = ["--shard", shard, "--out", &out];
        within(&three, &[&asked[..], &more].concat());
        let there = files(&format!("{three}/{out}"));
        assert!(!there.contains_key("report.html"), "a part has no report");
    }
    let runs = |folder: &str| {
        let there = files(folder);
        there.keys().filter(|n| n.starts_with("runs/")).count()
    };
    let parts = [1, 2, 3].map(|n| runs(&format!("{three}/part-{n}")));
    assert_eq!(parts.iter().sum::<usize>(), runs(&format!("{one}/whole")));
    assert!(parts.iter().all(|p| *p > 0), "{parts:?}");
    let before = files(&format!("{three}/part-1"));
    let merge = ["merge", "part-1", "part-2", "part-3", "--out", "whole"];
    within(&three, &merge);
    let (merged, whole) = (
        files(&format!("{three}/whole")),
        files(&format!("{one}/whole")),
    );
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&merged), names(&whole));
    for (name, bytes) in &whole {
        assert!(merged[name] == *bytes, "{name} differs");
    }
    assert!(names(&whole).iter().any(|n| n.starts_with("timelines/")));
    assert_eq!(files(&format!("{three}/part-1")), before, "only read");
    // The same again is harmless: all shards into one folder, one of them twice, overlapping ones.
    let shared = scratch.path("shared");
    for shard in ["1/2", "2/2", "1/2", "1/3"] {
        let more = ["--shard", shard, "--out", "whole"];
        within(&shared, &[&asked[..], &more].concat());
    }
    within(&shared, &["merge", "whole"]);
    let mut merged = files(&format!("{shared}/whole"));
    assert!(merged.remove("request.json").is_some());
    for (name, bytes) in &whole {
        assert!(merged[name] == *bytes, "{name} differs");
    }
    assert_eq!(names(&merged), names(&whole));
}

#[test]
fn what_a_lost_machine_had_to_do_is_said_and_can_be_made_up_for() {
    let scratch = Scratch::new("lost");
    let sweep = example("sweep.toml");
    let (a, b, out) = (scratch.path("a"), scratch.path("b"), scratch.path("out"));
    let shard = |shard: &str, out: &str| {
        succeeds(&[
            "sweep",
            &sweep,
            "--repeats",
            "1",
            "--shard",
            shard,
            "--out",
            out,
        ])
    };
    let shown = shard("1/2", &a);
    assert!(
        shown.contains("shard 1/2 of study schedulers is done"),
        "{shown}"
    );
    assert!(shown.contains(&format!("warpsim merge {a}")), "{shown}");
    let shown = fails(2, &["merge", &a, "--out", &out]);
    assert!(
        shown.contains("6 of 12 runs are in none of the folders: "),
        "{shown}"
    );
    let again = format!("warpsim sweep {sweep} --repeats 1 --out {out}");
    assert!(shown.contains(&again), "{shown}");
    assert!(!Path::new(&out).join("report.html").exists());
    // A damaged result is passed over and, here, made up for by another folder.
    shard("2/2", &b);
    let damaged = std::fs::read_dir(Path::new(&a).join("runs"));
    let damaged = damaged
        .expect("runs")
        .next()
        .expect("one")
        .expect("an entry")
        .path();
    let text = std::fs::read_to_string(&damaged).expect("text");
    std::fs::write(&damaged, text.replacen("\"cycles\": ", "\"cycles\": 1", 1)).expect("written");
    let fresh = scratch.path("fresh");
    let shown = fails(2, &["merge", &a, &b, "--out", &fresh]);
    assert!(
        shown.contains("not as it was written, and passed over"),
        "{shown}"
    );
    assert!(shown.contains("1 of 12 runs are in none"), "{shown}");
    assert!(damaged.exists(), "what is merged is left as it is");
    succeeds(&["merge", &a, &b, "--out", &out]);
    assert!(Path::new(&out).join("report.html").exists());
    // What is missing can be run where the rest is.
    let output = warpsim(&["sweep", &sweep, "--repeats", "1", "--out", &fresh]);
    let progress = String::from_utf8_lossy(&output.stderr);
    assert!(
        progress.contains("12 runs, 11 of them done before"),
        "{progress}"
    );
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let scratch = Scratch::new("unmerged");
    let (a, b, c) = (scratch.path("a"), scratch.path("b"), scratch.path("c"));
    let sweep = example("sweep.toml");
    let part = ["--repeats", "1", "--workloads", "matmul", "--shard", "1/6"];
    succeeds(&[&["sweep", &sweep, "--out", &a][..], &part].concat());
    let shown = fails(2, &["merge", &a, &scratch.path("none")]);
    assert!(shown.contains("holds no results of a study"), "{shown}");
    // Another selection, another study.
    let other = ["--repeats", "2", "--workloads", "matmul", "--shard", "1/12"];
    succeeds(&[&["sweep", &sweep, "--out", &b][..], &other].concat());
    let shown = fails(2, &["merge", &a, &b, "--out", &c]);
    assert!(shown.contains("different requests"), "{shown}");
    assert!(shown.contains("--repeats 2"), "{shown}");
    let barriers = example("barriers.toml");
    succeeds(&[&["study", &barriers, "--out", &c][..], &part].concat());
    let whole = scratch.path("whole");
    let shown = fails(2, &["merge", &a, &c, "--out", &whole]);
    assert!(
        shown.contains("the study `barriers`, not of `schedulers`"),
        "{shown}"
    );
    // A whole study is no shard.
    let done = scratch.path("done");
    succeeds(&[
        "sweep",
        &sweep,
        "--repeats",
        "1",
        "--workloads",
        "matmul",
        "--out",
        &done,
    ]);
    let shown = fails(2, &["merge", &done]);
    assert!(shown.contains("holds no shard of a study"), "{shown}");
    for bad in ["0/2", "3/2", "half"] {
        let shown = fails(2, &["sweep", &sweep, "--shard", bad, "--out", &whole]);
        assert!(shown.contains("a shard is K/N"), "{shown}");
    }
    // A moved study file.
    let moved = scratch.path("moved.toml");
    std::fs::copy(&sweep, &moved).expect("copied");
    let part = ["--repeats", "1", "--workloads", "matmul", "--shard", "1/1"];
    let d = scratch.path("d");
    succeeds(&[&["sweep", &moved, "--out", &d][..], &part].concat());
    std::fs::remove_file(&moved).expect("removed");
    let shown = fails(2, &["merge", &d]);
    assert!(shown.contains("cannot read"), "{shown}");
    assert!(shown.contains("--study FILE"), "{shown}");
    succeeds(&["merge", &d, "--study", &sweep]);
    assert!(Path::new(&d).join("report.html").exists());
}

#[test]
fn two_results_of_one_run_that_differ_are_an_error() {
    let scratch = Scratch::new("differ");
    let (a, b) = (scratch.path("a"), scratch.path("b"));
    let sweep = example("sweep.toml");
    for out in [&a, &b] {
        let part = ["--repeats", "1", "--workloads", "matmul", "--shard", "1/6"];
        succeeds(&[&["sweep", &sweep, "--out", out][..], &part].concat());
    }
    let only = |folder: &str| {
        let runs = std::fs::read_dir(Path::new(folder).join("runs")).expect("runs");
        runs.map(|e| e.expect("an entry").path())
            .next()
            .expect("one")
    };
    // A changed record with a checksum that is right: what a forger, or a bug, would leave.
    let path = only(&b);
    let text = std::fs::read_to_string(&path).expect("text");
    let (open, _) = text.rsplit_once(",\n  \"checksum\"").expect("sealed");
    let open = open.replacen("\"cycles\": ", "\"cycles\": 1", 1);
    let sum = Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut sum) = sum else {
        return; // no such program here
    };
    std::io::Write::write_all(&mut sum.stdin.take().expect("piped"), open.as_bytes())
        .expect("written");
    let sum = String::from_utf8(sum.wait_with_output().expect("a sum").stdout).expect("text");
    let sum = sum.split_whitespace().next().expect("a sum");
    std::fs::write(&path, format!("{open},\n  \"checksum\": \"{sum}\"\n}}\n")).expect("written");
    let shown = fails(2, &["merge", &a, &b, "--out", &scratch.path("out")]);
    assert!(shown.contains("two results of one run differ"), "{shown}");
    assert!(shown.contains(&path.display().to_string()), "{shown}");
}
