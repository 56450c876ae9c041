//! `warpsim exec`: a program of C against the libraries, without any compiler of NVIDIA's. Skipped where there is no `cc`.

use crate::common::{Scratch, fails, root, succeeds};
use serde_json::Value;
use std::process::{Command, Output};
use warpsim_doors::libraries::LIBRARIES;

/// The program, linked in one of the ways that programs are.
struct Built {
    scratch: Scratch,
    program: String,
}

/// With the runtime of this library, or (none) one of its own.
fn built(name: &str, library: Option<&str>) -> Option<Built> {
    let scratch = Scratch::new(name);
    let program = scratch.path("program");
    let source = root().join("crates/cli/tests/data/exec/program.c");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-o", &program]).arg(source);
    match library {
        None => {
            cc.arg("-DOWN_RUNTIME");
        }
        Some(name) => {
            let bytes = LIBRARIES
                .iter()
                .find(|l| l.name == name)
                .expect("it is there")
                .bytes;
            let file = scratch.path(name);
            std::fs::write(&file, bytes).expect("written");
            cc.arg(file);
        }
    }
    let Ok(output) = cc.output() else {
        eprintln!("skipped: there is no cc");
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(Built { scratch, program })
}

impl Built {
    fn exec(&self, options: &[&str], arguments: &[&str]) -> Output {
        let mut words = vec!["exec"];
        words.extend(options);
        words.extend(["--", &self.program]);
        words.extend(arguments);
        crate::common::warpsim(&words)
    }
}

/// Standard output and standard error.
fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn programs_run_with_each_major_and_with_a_runtime_of_their_own() {
    for library in [
        Some("libcudart.so.11.0"),
        Some("libcudart.so.12"),
        Some("libcudart.so.13"),
        None,
    ] {
        let Some(built) = built(&format!("exec-{}", library.unwrap_or("own")), library) else {
            return;
        };
        let output = built.exec(&[], &["add"]);
        let (out, err) = texts(&output);
        assert_eq!(
            (output.status.code(), out.as_str()),
            (Some(0), "0 wrong\n"),
            "{library:?}: {err}"
        );
        assert!(
            err.contains("launch 1: scale <<<16, 64>>> ") && err.contains("launch 2: scale"),
            "{err}"
        );
        assert!(
            err.contains("on gtx480:") && err.contains("cycles"),
            "{err}"
        );
    }
}

#[test]
fn the_same_program_counts_the_same() {
    let Some(built) = built("exec-same", Some("libcudart.so.13")) else {
        return;
    };
    let stats = |name: &str, more: &[&str]| {
        let file = built.scratch.path(name);
        let options = [&["--quiet", "--stats", &file], more].concat();
        let output = built.exec(&options, &["add"]);
        assert_eq!(texts(&output).1, "");
        let text = std::fs::read_to_string(&file).expect("written");
        let mut all: Value = serde_json::from_str(&text).expect("JSON");
        all["host"].take();
        all
    };
    let first = stats("a.json", &[]);
    assert_eq!(first, stats("b.json", &[]));
    assert_eq!(first["exec"]["launches"], 2);
    let cycles = first["totals"]["cycles"].as_u64().expect("a number");
    assert!(cycles > 0);
    let second = stats("c.json", &["--launches", "2"]);
    assert_eq!(second["exec"]["untimed"], 1);
    assert!(second["totals"]["cycles"].as_u64().expect("a number") < cycles);
    assert_eq!(stats("d.json", &["--functional"])["totals"]["cycles"], 0);
    let names = built.scratch.names();
    assert!(!names.iter().any(|n| n.contains("-2")), "{names:?}");
}

#[test]
fn a_program_ends_as_it_does_and_is_reported() {
    let Some(built) = built("exec-ends", Some("libcudart.so.12")) else {
        return;
    };
    for (how, code) in [("exit", 7), ("crash", 128 + 11)] {
        let output = built.exec(&["--brief"], &[how]);
        let (out, err) = texts(&output);
        assert_eq!(
            (output.status.code(), out.as_str()),
            (Some(code), "0 wrong\n"),
            "{err}"
        );
        assert!(err.contains("launches") && err.contains("IPC"), "{err}");
    }
    let (_, err) = texts(&built.exec(&[], &["nothing"]));
    assert!(
        err.contains("nothing was launched: it is linked with CUDA, and never called it"),
        "{err}"
    );
    let err = fails(2, &["exec", "--", "/no/such/program"]);
    assert!(err.contains("cannot start /no/such/program"), "{err}");
}

#[test]
fn faults_are_told_and_sticky_and_what_lacks_is_named() {
    let Some(built) = built("exec-faults", Some("libcudart.so.13")) else {
        return;
    };
    for options in [&[][..], &["--functional"]] {
        let output = built.exec(options, &["fault"]);
        let (out, err) = texts(&output);
        let expected = "0 wrong\nlaunch: cudaSuccess\nthen: cudaErrorIllegalAddress\nthen: cudaErrorIllegalAddress\n";
        assert_eq!(out, expected, "{err}");
        assert!(
            err.contains("launch 3 of scale failed:") && err.contains("null pointer"),
            "{err}"
        );
    }
    let (out, err) = texts(&built.exec(&["--quiet"], &["lacking"]));
    assert_eq!(out, "0 wrong\nlacking: cudaErrorNotSupported\n");
    assert_eq!(
        err,
        "cudaGraphicsMapResources is not supported: it answers with an error\n"
    );
}

#[test]
fn children_have_sessions_of_their_own_or_none() {
    let Some(built) = built("exec-fork", Some("libcudart.so.13")) else {
        return;
    };
    let file = built.scratch.path("stats.json");
    let output = built.exec(&["--quiet", "--stats", &file], &["fork"]);
    let (out, err) = texts(&output);
    // The child's output was never flushed by `_exit`.
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("0 wrong\nthe child got 3\n", "")
    );
    let names = built.scratch.names();
    assert!(
        names.contains(&"stats.json".into()) && names.contains(&"stats-2.json".into()),
        "{names:?}"
    );
}

#[test]
fn a_stripped_program_with_a_runtime_of_its_own_is_told_about() {
    let Some(built) = built("exec-stripped", None) else {
        return;
    };
    let stripped = Command::new("strip").arg(&built.program).status();
    if !stripped.is_ok_and(|s| s.success()) {
        eprintln!("skipped: there is no strip");
        return;
    }
    let output = built.exec(&[], &["add"]);
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(99), "{err}");
    assert!(err.contains("nothing was launched"), "{err}");
}

#[test]
fn many_launches_take_no_more_memory_and_little_time_each() {
    let Some(built) = built("exec-many", Some("libcudart.so.13")) else {
        return;
    };
    let lines = |n: &str| {
        let (_, err) = texts(&built.exec(&["--functional"], &["many", n]));
        err.lines().filter(|l| l.starts_with("launch ")).count()
    };
    assert_eq!(lines("20"), 22);
    // Beyond the first thousand they are not listed.
    assert_eq!(lines("3000"), 1000);
}

#[test]
fn help_and_completions_know_it() {
    assert!(succeeds(&["exec", "--help"]).contains("--sample"));
    assert!(succeeds(&["help"]).contains("exec"));
    let err = fails(2, &["exec", "--launches", "0", "--", "true"]);
    assert!(err.contains("no list of launches"), "{err}");
    let err = fails(2, &["exec", "--capability", "eight", "--", "true"]);
    assert!(err.contains("--capability eight"), "{err}");
}
