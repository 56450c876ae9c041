//! `warpsim study`, `sweep` and `compare` as users see them.

use crate::common;

use common::{Scratch, fails, root, succeeds, warpsim};
use std::process::Command;

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
        "--repeats",
        "2",
    ]);
    let columns = |line: &str| -> Vec<String> {
        let words = line.split_whitespace().take(2);
        words.map(String::from).collect()
    };
    for row in [["scheduler", "sm.schedulers"], ["tls", "2"]] {
        assert!(shown.lines().any(|l| columns(l) == row), "{shown}");
    }
    assert!(shown.contains(" \u{b1}"), "spreads: {shown}");
    assert!(shown.contains("Sizes\n"), "{shown}");
    assert!(shown.contains("geometric mean over 2"), "{shown}");
    assert!(shown.contains("report.html"), "{shown}");
    let again = |repeats: &str| {
        let file = example("sweep.toml");
        warpsim(&["sweep", &file, "--out", &out, "--repeats", repeats])
    };
    let fewer = again("1");
    let progress = String::from_utf8_lossy(&fewer.stderr);
    assert!(
        progress.contains("12 runs, 12 of them done before"),
        "{progress}"
    );
    let output = again("2");
    let progress = String::from_utf8_lossy(&output.stderr);
    assert!(
        progress.contains("24 runs, 24 of them done before"),
        "{progress}"
    );
    let again = String::from_utf8_lossy(&output.stdout);
    assert_eq!(again, shown, "the same, from the folder");
}

#[test]
fn a_sweeps_baseline_can_be_chosen() {
    let scratch = Scratch::new("baseline");
    let out = scratch.path("r");
    let file = example("sweep.toml");
    let sweep = ["sweep", &file, "--out", &out, "--repeats", "1"];
    let shown = succeeds(&sweep);
    let first = "Speed-up over scheduler=lrr, sm.schedulers=1\n";
    assert!(shown.contains(first), "{shown}");
    let shown = succeeds(&[&sweep[..], &["--baseline", "gto"]].concat());
    let table = shown.split("Speed-up over scheduler=gto\n").nth(1);
    let table = table.and_then(|t| t.split("\n\n").next()).expect("a table");
    for line in table.lines().filter(|l| l.trim_start().starts_with("gto")) {
        assert!(line.ends_with(" 0.0%"), "{table}");
    }
    let report = std::fs::read_to_string(format!("{out}/report.html")).expect("a report");
    assert!(
        report.contains("--baseline gto"),
        "the command that repeats it"
    );
    let part = scratch.path("part");
    let sweep_part = ["sweep", &file, "--out", &part, "--repeats", "1", "-q"];
    succeeds(&[&sweep_part[..], &["--baseline", "gto", "--shard", "1/1"]].concat());
    let merged = succeeds(&["merge", &part]);
    assert!(merged.contains("Speed-up over scheduler=gto\n"), "{merged}");
    let wrong = fails(2, &[&sweep[..], &["--baseline", "schedular=gto"]].concat());
    assert!(wrong.contains("did you mean `scheduler=gto`?"), "{wrong}");
}

#[test]
fn on_a_terminal_no_line_has_to_be_broken() {
    let scratch = Scratch::new("narrow");
    let out = scratch.path("r");
    let arguments = ["study", "baws", "--size", "tiny", "--repeats", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .args(["--workloads", "matmul", "--out", &out])
        .env("COLUMNS", "80")
        .output()
        .expect("the command runs");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains("Nothing was tested: at size tiny"),
        "{shown}"
    );
    let long = |line: &&str| line.chars().count() > 80 && line.contains(' ');
    let long: Vec<&str> = shown.lines().filter(long).collect();
    // The folder's name is as long as it is.
    let long: Vec<&&str> = long.iter().filter(|l| !l.contains(&out)).collect();
    assert!(long.is_empty(), "{long:?}");
}

/// Interrupted by a signal it says what is kept and how to go on; and that goes on.
#[cfg(unix)]
#[test]
fn an_interrupted_study_says_how_to_go_on() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let scratch = Scratch::new("interrupted");
    let (file, out) = (scratch.path("study.toml"), scratch.path("r"));
    // Many short runs, so that some are done and some are not.
    let text = "schema = 1\nname = \"long\"\nmachine = \"gtx480\"\nsize = \"tiny\"\nrepeats = { count = 1 }\n\
                [groups.g]\nworkloads = [\"vecadd\", \"matmul\"]\n\
                [[grid]]\nset = { \"gpu.sms\" = SMS }\n";
    let sms: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    let text = text.replace("SMS", &format!("[{}]", sms.join(", ")));
    std::fs::write(&file, text).expect("written");
    let arguments = ["sweep", &file, "--out", &out, "--jobs", "1"];
    let child = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let runs = std::path::Path::new(&out).join("runs");
    let kept = || std::fs::read_dir(&runs).map_or(0, |entries| entries.count());
    let began = Instant::now();
    while kept() < 3 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(130), "{errors}");
    let said = errors.split_once("interrupted: ").expect(&errors).1;
    let (done, rest) = said
        .split_once(" of 120 runs are done and kept")
        .expect(said);
    let done: usize = done.parse().expect("a number");
    assert!((2..120).contains(&done), "{errors}");
    let command = format!("to go on with the others:\nwarpsim sweep {file} --out {out}\n");
    assert!(rest.contains(&command), "{errors}");
    assert!(!std::path::Path::new(&out).join("report.html").exists());
    let again = warpsim(&arguments);
    let progress = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{progress}");
    let before = progress.split_once("120 runs, ").expect(&progress).1;
    let (before, _) = before.split_once(" of them").expect(before);
    assert!(before.parse::<usize>().expect("a number") >= done);
}

#[test]
fn a_paper_at_its_smallest() {
    let scratch = Scratch::new("paper");
    let out = scratch.path("r");
    let tiny = ["study", "baws", "--size", "tiny", "--workloads", "matmul"];
    let page = succeeds(&[&tiny[..], &["--out", &out]].concat());
    assert!(page.lines().count() < 100, "a page or two: {page}");
    for line in [
        "Nothing was tested: at size tiny",
        "Speed-up over lrr (Figure 8)",
        "--full",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let shown = succeeds(&[&tiny[..], &["--full", "--out", &out]].concat());
    assert!(shown.starts_with("Barrier-aware warp scheduling\n\nNothing was tested"));
    assert!(shown.contains("l1i.sets=64 (4 otherwise)"), "{shown}");
    assert!(shown.contains("Figure 8: Speed-up over lrr"), "{shown}");
    assert!(shown.contains("geometric mean over 1 of the 13"), "{shown}");
    assert!(shown.contains("+16.9%"), "the paper's value: {shown}");
    // At this size nothing is tested, and what does nothing for verdicts is not run.
    assert!(
        shown.contains("claims: 0 hold, 0 fail, 0 within scatter"),
        "{shown}"
    );
    assert!(
        shown.contains("untested at size tiny; the study is of size small"),
        "{shown}"
    );
    let csv = std::fs::read_to_string(format!("{out}/results.csv")).expect("results");
    assert!(!csv.contains("n=768"), "no run at another size");
    let report = std::fs::read_to_string(format!("{out}/report.html")).expect("a report");
    let command = format!("warpsim study baws --size tiny --workloads matmul --out {out}");
    assert!(report.contains(&command));
    assert!(scratch.names().contains(&"r".to_string()));
}

#[test]
fn a_whole_study_is_kept_for_pages() {
    let scratch = Scratch::new("kept");
    let (out, kept) = (scratch.path("r"), scratch.path("kept"));
    std::fs::create_dir(&kept).expect("a folder");
    let study = example("barriers.toml");
    let run = ["study", &study, "--out", &out, "--keep", &kept];
    assert!(fails(2, &[&run[..], &["--size", "tiny"]].concat()).contains("--keep"));
    let shown = succeeds(&run);
    assert!(shown.contains("barriers.json"), "{shown}");
    let text = std::fs::read_to_string(format!("{kept}/barriers.json")).expect("kept");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["kinds"]["directions"]["all"], 1);
    let average = &json["averages"]["speedup"]["barriers"]["gto"];
    assert_eq!(average["paper"], "+8.0%");
    assert!(average["ours"].as_str().is_some_and(|o| o.ends_with('%')));
    let hash = json["pictures"]["speedup"].as_str().expect("a picture");
    assert_eq!(hash.len(), 64);
    assert_eq!(json["repeats"], 3);
    assert!(average["spread"].is_string());
    // Fewer repeats are kept as what they are.
    let once = ["--out", &scratch.path("once"), "--repeats", "1"];
    succeeds(&[&["study", &study, "--keep", &kept][..], &once].concat());
    let text = std::fs::read_to_string(format!("{kept}/barriers.json")).expect("kept");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["repeats"], 1);
    assert!(json["averages"]["speedup"]["barriers"]["gto"]["spread"].is_null());
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
    fails(2, &["study", "baws", "--repeats", "0", "--out", &out]);
    let shown = fails(2, &["study", "baws", "--jobs", "0", "--out", &out]);
    assert!(shown.contains("--jobs"), "{shown}");
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    std::fs::write(scratch.path("mine.txt"), "mine").expect("written");
    let folder = scratch.path("");
    let shown = fails(2, &["study", "baws", "--size", "tiny", "--out", &folder]);
    assert!(shown.contains("holds no results of a study"), "{shown}");
    assert_eq!(scratch.names(), ["mine.txt"]);
}

/// What a full disk does, without one: the shell limits the size of files, in blocks of 512 bytes
/// (or 1,024, by shell). A run's record takes 9 KB, the report of this sweep 30.
#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let scratch = Scratch::new("full");
    let limited = |blocks: u32, out: &str| {
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" sweep \"$1\" --jobs 1 --repeats 1 --out \"$2\""
        );
        let arguments = ["-c", &script, env!("CARGO_BIN_EXE_warpsim")];
        std::process::Command::new("sh")
            .args(arguments)
            .args([&example("sweep.toml"), out])
            .output()
            .expect("a shell")
    };
    // Room for nothing at all; for the folder's mark; for the runs but not for the report.
    for (blocks, unwritten, stored) in [(0, "study.json", 0), (4, "runs/", 0), (40, "report", 12)] {
        let out = scratch.path(&blocks.to_string());
        let output = limited(blocks, &out);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{blocks}: {errors}");
        let last: Vec<&str> = errors.lines().rev().take(2).collect();
        assert!(last[1].starts_with("error: cannot write "), "{errors}");
        assert!(last[1].contains(unwritten), "{errors}");
        assert!(last[0].contains("finished runs are kept"), "{errors}");
        // No half of a file is left, and the same command goes on once there is room.
        let file = example("sweep.toml");
        let again = warpsim(&["sweep", &file, "--repeats", "1", "--out", &out]);
        let progress = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{blocks}: {progress}");
        if stored > 0 {
            let reused = format!("12 runs, {stored} of them done before");
            assert!(progress.contains(&reused), "{progress}");
        }
        let names = |folder: &str| -> Vec<String> {
            let entries = std::fs::read_dir(folder).expect("readable");
            let name = |e: std::io::Result<std::fs::DirEntry>| {
                e.expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("text")
            };
            entries.map(name).collect()
        };
        let runs = names(&format!("{out}/runs"));
        assert_eq!(runs.len(), 12, "{runs:?}");
        assert!(!names(&out).iter().any(|n| n.ends_with(".tmp")));
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let scratch = Scratch::new("nonsense");
    let out = scratch.path("r");
    let good = std::fs::read_to_string(example("sweep.toml")).expect("the example");
    let metric = "[[figures]]\nid = \"f\"\ngroups = [\"both\"]\nconfigurations = \
                  [\"lrr+sm.schedulers=1\"]\nmetric = \"cyclez\"\n";
    let cases = [
        (
            good.replace("\"matmul\"", "\"matmull\""),
            "did you mean `matmul`?",
        ),
        (
            good.replace("sm.schedulers", "sm.shedulers"),
            "did you mean `sm.schedulers`?",
        ),
        (
            good.replace("[1, 2]", "[1, 99]"),
            "it must lie between 1 and 16",
        ),
        (format!("{good}{metric}"), "did you mean `cycles`?"),
        // A combination that cannot be: the message names the configuration and the way out.
        (
            good.replace("\"tls\"]", "\"tls\"]\nfetch = [\"fef\"]"),
            "configuration `lrr+sm.schedulers=1`: `fetch.eligible` is \"empty\"",
        ),
    ];
    for (text, expected) in cases {
        let file = scratch.path("study.toml");
        std::fs::write(&file, &text).expect("written");
        for command in ["sweep", "study"] {
            let shown = fails(2, &[command, &file, "--out", &out]);
            assert!(shown.contains(expected), "{shown}");
            assert!(shown.contains("study.toml:"), "where it is: {shown}");
        }
        assert_eq!(scratch.names(), ["study.toml"]);
    }
    // Policies that do not go together are rows with their reason; the others run.
    let mixed = good
        .replace("\"tls\"]", "\"majority\"]\ndivergence = [\"tbc\"]")
        .replace("\"matmul\", ", "");
    let file = scratch.path("study.toml");
    std::fs::write(&file, mixed).expect("written");
    let output = warpsim(&["sweep", &file, "--repeats", "1", "--out", &out]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("use it with dwf or dwf-wb"), "{errors}");
    let csv = std::fs::read_to_string(format!("{out}/results.csv")).expect("written");
    assert_eq!(csv.matches(",correct,").count(), 4, "{csv}");
    assert_eq!(csv.matches(",bad-input,").count(), 2, "{csv}");
}

#[test]
fn files_that_cannot_be_compared_are_refused() {
    let scratch = Scratch::new("uncomparable");
    let good = scratch.path("good.json");
    succeeds(&["run", "vecadd", "--size", "tiny", "-q", "--stats", &good]);
    let text = std::fs::read_to_string(&good).expect("written");
    let cases = [
        ("no statistics", "{}".to_string()),
        ("not JSON", "what?".to_string()),
        ("schema 9", text.replace("\"schema\": 1", "\"schema\": 9")),
    ];
    for (expected, text) in cases {
        let bad = scratch.path("bad.json");
        std::fs::write(&bad, text).expect("written");
        let shown = fails(2, &["compare", &good, &bad]);
        assert!(shown.contains("bad.json"), "{shown}");
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn a_folder_of_another_version_is_left_as_it_is() {
    let scratch = Scratch::new("version");
    std::fs::write(scratch.path("warpsim-study.json"), "{\"schema\": 99}").expect("written");
    let folder = scratch.path("");
    for arguments in [
        ["study", "baws", "--size", "tiny", "--out", &folder],
        [
            "sweep",
            &example("sweep.toml"),
            "--size",
            "tiny",
            "--out",
            &folder,
        ],
    ] {
        let shown = fails(2, &arguments);
        assert!(
            shown.contains("another version of warpsim (schema 99"),
            "{shown}"
        );
        assert!(
            shown.contains("choose another folder with --out"),
            "{shown}"
        );
    }
    assert_eq!(scratch.names(), ["warpsim-study.json"]);
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
