//! `warpsim compare`: files and folders of runs, and tables that fit.

use crate::common;

use common::{Scratch, fails, succeeds};
use std::process::Command;

fn statistics(scratch: &Scratch, file: &str, workload: &str, more: &[&str]) {
    let file = scratch.path(file);
    let run = ["run", workload, "--size", "tiny", "-q", "--stats", &file];
    succeeds(&[&run[..], more].concat());
}

#[test]
fn folders_of_files_belong_together_by_name() {
    let scratch = Scratch::new("compare-files");
    for folder in ["a", "b"] {
        std::fs::create_dir(scratch.path(folder)).expect("a folder");
    }
    for scheduler in ["lrr", "gto"] {
        let choice = ["--scheduler", scheduler];
        let slower = [&choice[..], &["--set", "l2.latency=300"]].concat();
        statistics(&scratch, &format!("a/{scheduler}.json"), "vecadd", &choice);
        statistics(&scratch, &format!("b/{scheduler}.json"), "vecadd", &slower);
    }
    statistics(&scratch, "a/other.json", "reduction", &[]);
    let (a, b) = (scratch.path("a"), scratch.path("b"));
    let shown = succeeds(&["compare", &a, &b]);
    let first = shown.lines().nth(4).unwrap_or_default();
    assert!(shown.contains("only in A: other"), "{shown}");
    assert!(first.starts_with("B is slower: "), "{shown}");
    assert!(first.contains("more cycles than A (geometric mean over 2; IPC -"));
    assert!(shown.contains("0 faster, 2 slower, 0 the same"), "{shown}");
    // Another workload under the same name is noticed.
    statistics(&scratch, "b/other.json", "vecadd", &[]);
    let shown = succeeds(&["compare", &a, &b]);
    assert!(
        shown.contains("warning: other is something else in B: vecadd"),
        "{shown}"
    );
    let same = succeeds(&["compare", &a, &a]);
    assert!(same.contains("B takes as long as A"), "{same}");
    assert!(fails(2, &["compare", &a, &scratch.path("b/gto.json")]).contains("one is a folder"));
    assert!(fails(2, &["compare", &a, &b, &a]).contains("two at a time"));
    std::fs::create_dir(scratch.path("empty")).expect("a folder");
    assert!(fails(2, &["compare", &a, &scratch.path("empty")]).contains("nothing to compare"));
}

const GRID: &str = r#"
schema = 1
name = "grid"
machine = "gtx480"
size = "tiny"
repeats = { count = 1 }
[groups.g]
workloads = ["vecadd", "reduction"]
[[grid]]
scheduler = ["lrr", "gto"]
seed = [1, 2, 3]
set = { "l2.latency" = [100, 140] }
"#;

#[test]
fn a_sweep_has_a_column_for_each_axis_and_seeds_as_spread() {
    let scratch = Scratch::new("compare-sweep");
    let file = scratch.path("grid.toml");
    std::fs::write(&file, GRID).expect("written");
    let (a, b) = (scratch.path("a"), scratch.path("b"));
    let shown = succeeds(&["sweep", &file, "--out", &a]);
    assert!(
        shown.contains("Speed-up over scheduler=lrr, l2.latency=100"),
        "{shown}"
    );
    let is_head = |l: &&str| l.trim_start().starts_with("scheduler ");
    let head = shown.lines().find(is_head).expect("a table");
    let columns: Vec<&str> = head.split_whitespace().take(4).collect();
    assert_eq!(columns, ["scheduler", "l2.latency", "vecadd", "reduction"]);
    // Four lines and not twelve: seeds are repeats of each other.
    let lines = shown.lines().skip_while(|l| !is_head(l)).skip(1);
    let lines: Vec<&str> = lines.take_while(|l| !l.trim().is_empty()).collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines.iter().all(|l| l.contains('\u{b1}')), "{shown}");
    let table = std::fs::read_to_string(format!("{a}/results.csv")).expect("written");
    let head = table.lines().next().expect("a head");
    assert!(head.contains(",l2.latency,"), "{head}");
    // After a change the folders are held against each other.
    std::fs::write(&file, GRID.replace("100, 140", "100, 240")).expect("written");
    succeeds(&["sweep", &file, "--out", &b]);
    let shown = succeeds(&["compare", &a, &b]);
    assert!(shown.contains("only in A: "), "{shown}");
    assert!(shown.contains("B takes as long as A"), "{shown}");
}

#[test]
fn tables_fit_the_terminal() {
    let scratch = Scratch::new("compare-width");
    let file = scratch.path("grid.toml");
    std::fs::write(&file, GRID).expect("written");
    let out = scratch.path("out");
    let wide = succeeds(&["sweep", &file, "--out", &out]);
    // Names of files are as long as they are.
    let tables = |text: &str| -> String {
        let lines = text.lines().filter(|l| !l.contains(&out));
        let lines = lines.filter(|l| !l.starts_with("written:"));
        lines.map(|l| format!("{l}\n")).collect()
    };
    let wide = tables(&wide);
    let longest = |text: &str| text.lines().map(|l| l.chars().count()).max();
    assert!(longest(&wide) > Some(60), "{wide}");
    let mut narrow = Command::new(env!("CARGO_BIN_EXE_warpsim"));
    narrow.args(["sweep", &file, "--out", &out]);
    let narrow = narrow.env("COLUMNS", "60").output().expect("it runs");
    let narrow = tables(&String::from_utf8_lossy(&narrow.stdout));
    assert!(longest(&narrow) <= Some(60), "{narrow}");
    let words = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(String::from).collect();
        words.sort();
        words.dedup();
        words
    };
    assert_eq!(words(&wide), words(&narrow), "nothing is left out");
}
