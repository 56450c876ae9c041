//! Machine code: `run --isa sass`, `inspect --isa sass`, and what they refuse.

use crate::common;

use common::{Scratch, fails, succeeds, warpsim};

const RUN: [&str; 6] = ["run", "vecadd", "--size", "tiny", "--isa", "sass"];

#[test]
fn a_workload_is_executed_as_machine_code_and_checked() {
    let text = succeeds(&[&RUN[..], &["--functional"]].concat());
    assert!(text.contains("correct (5000 values checked)"), "{text}");
    let json = succeeds(&[&RUN[..], &["--functional", "--json"]].concat());
    let ptx = succeeds(&["run", "vecadd", "--size", "tiny", "--functional", "--json"]);
    let instructions = |text: &str| {
        let all: serde_json::Value = serde_json::from_str(text).expect("JSON");
        all["totals"]["warp_instructions"]
            .as_u64()
            .expect("a count")
    };
    assert!(instructions(&json) > 0);
    assert_ne!(instructions(&json), instructions(&ptx), "it is other code");
}

#[test]
fn what_machine_code_has_not_is_refused_with_the_reason() {
    let text = fails(2, &RUN);
    assert!(
        text.contains("machine code has no timing yet: add --functional"),
        "{text}"
    );
    let text = fails(2, &[&RUN[..], &["--check", "races"]].concat());
    assert!(text.contains("--check races looks at PTX"), "{text}");
    let software = ["--functional", "--set", "virtual.mode=software"];
    let text = fails(2, &[&RUN[..], &software].concat());
    assert!(text.contains("virtual blocks are made of PTX"), "{text}");
}

#[test]
fn machine_code_is_shown_with_its_control_bits() {
    let text = succeeds(&["inspect", "vecadd", "--isa", "sass"]);
    assert!(text.starts_with("vecadd (sm_90, ptxas"), "{text}");
    assert!(
        text.contains("parameters 28 B from c[0x0][0x210]"),
        "{text}"
    );
    assert!(text.contains("0x0040  IMAD R9,R9,UR4,R0"), "{text}");
    assert!(
        text.contains("B0-----:R-:W-:-:S01  waits for 0; stall 1"),
        "{text}"
    );
    let text = succeeds(&["inspect", "bfs", "--isa", "sass"]);
    assert!(
        text.contains("meet here") && text.contains("meets again at"),
        "{text}"
    );
    let text = fails(
        2,
        &["inspect", "vecadd", "--isa", "sass", "--kernel", "vecad_"],
    );
    assert!(text.contains("did you mean `vecadd`?"), "{text}");
}

#[test]
fn tools_that_are_not_there_are_named_with_what_to_install() {
    let scratch = Scratch::new("machine-code");
    let cubin = scratch.path("k.cubin");
    std::fs::write(&cubin, b"\x7fELF\x02\x01\x01\x33").expect("written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(["inspect", &cubin])
        .env("WARPSIM_NVDISASM", scratch.path("nothing"))
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("is not NVIDIA's disassembler"), "{text}");
    assert!(
        text.contains("pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm"),
        "{text}"
    );
    let missing = warpsim(&["inspect", &scratch.path("none.cubin")]);
    assert_eq!(missing.status.code(), Some(2));
}
