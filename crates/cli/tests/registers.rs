//! `--registers`: who says how many registers a kernel takes, and what is said when no source does.

#![cfg(unix)]

use crate::common;

use common::{Scratch, root};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

/// An assembler that says the same about every file.
const ASSEMBLER: &str = r#"#!/bin/sh
case "$1" in
    --version) echo "Cuda compilation tools, release 11.8, V11.8.89" ;;
    --help) echo "'compute_35','sm_35','sm_90'" ;;
    *)
        echo "ptxas info    : Compiling entry function 'vecadd' for 'sm_35'"
        echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
        echo "ptxas info    : Used 41 registers, 348 bytes cmem[0]"
        ;;
esac >&$(case "$1" in --*) echo 1 ;; *) echo 2 ;; esac)
"#;

/// Writes a program that can be run.
fn program(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path(name);
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    path
}

fn with_assembler(assembler: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(arguments)
        .current_dir(root())
        .env("WARPSIM_PTXAS", assembler)
        .output()
        .expect("the command runs")
}

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).expect("text")
}

const PTX: &str = "examples/vector-add/vector-add.ptx";
const LAUNCH: &str = "examples/vector-add/vector-add.toml";

#[test]
fn inspect_says_who_is_believed() {
    let scratch = Scratch::new("registers-inspect");
    let assembler = program(&scratch, "ptxas", ASSEMBLER);
    let text = said(&with_assembler(&assembler, &["inspect", PTX]));
    assert!(text.contains("by our estimate"), "{text}");
    let ask = ["inspect", PTX, "--registers", "ptxas"];
    let text = said(&with_assembler(&assembler, &ask));
    assert!(
        text.contains("41 by ptxas 11.8.89; our estimate is "),
        "{text}"
    );
}

#[test]
fn an_assembler_decides_how_many_blocks_fit() {
    let scratch = Scratch::new("registers-run");
    let assembler = program(&scratch, "ptxas", ASSEMBLER);
    let registers = |more: &[&str]| {
        let stats = scratch.path("stats.json");
        let run = [&["run", LAUNCH, "--quiet", "--stats", &stats], more].concat();
        let output = with_assembler(&assembler, &run);
        assert!(output.status.success(), "{}", said(&output));
        let text = std::fs::read_to_string(&stats).expect("statistics");
        let stats: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        stats["launches"][0]["registers"]
            .as_u64()
            .expect("a number")
    };
    assert_eq!(registers(&["--registers", "ptxas"]), 41);
    assert!(registers(&[]) < 20);
    let flow = ["flow", LAUNCH, "--registers", "ptxas"];
    let output = with_assembler(&assembler, &flow);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn what_cannot_be_asked_is_named() {
    let scratch = Scratch::new("registers-missing");
    let silent = program(&scratch, "silent", "#!/bin/sh\nexit 0\n");
    let other = program(&scratch, "other", &ASSEMBLER.replace("vecadd", "another"));
    let refuses = ASSEMBLER.replace(
        "echo \"ptxas info    : Used 41 registers, 348 bytes cmem[0]\"",
        "echo 'ptxas fatal   : Unresolved extern'; exit 1",
    );
    let refuses = program(&scratch, "refuses", &refuses.replace("exit 1", "exit 255"));
    for (assembler, expected) in [
        (&scratch.path("nowhere"), "cannot run"),
        (&silent, "is not an assembler for PTX"),
        (&other, "refuses kernel vecadd"),
        (&refuses, "Unresolved extern"),
    ] {
        for command in [["inspect", PTX], ["run", LAUNCH]] {
            let ask = [&command[..], &["--registers", "ptxas"]].concat();
            let output = with_assembler(assembler, &ask);
            let text = said(&output);
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(text.contains(expected), "{expected}: {text}");
            assert!(output.stdout.is_empty(), "{text}");
        }
    }
}
