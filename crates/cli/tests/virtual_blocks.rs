//! Virtual thread blocks on the command line: the rewrite, and runs with it.

use crate::common;

use common::{Scratch, fails, root, succeeds, warpsim};

fn kernel(name: &str) -> String {
    let path = root().join("crates/workloads/kernels").join(name);
    path.display().to_string()
}

#[test]
fn a_file_is_rewritten_to_one_that_can_be_rewritten_no_more() {
    let scratch = Scratch::new("transform");
    let to = scratch.path("virtual.ptx");
    let file = kernel("hotspot.ptx");
    let output = warpsim(&["transform", "vtw", &file, "-o", &to]);
    assert!(output.status.success());
    let notes = String::from_utf8(output.stderr).expect("text");
    assert!(notes.contains("hotspot: registers"), "{notes}");
    let text = std::fs::read_to_string(&to).expect("written");
    assert!(text.contains("vtw.next_tb.u32"), "{text}");
    assert_eq!(
        text,
        succeeds(&["transform", "vtw", &file]),
        "the same on standard output"
    );
    let again = fails(2, &["transform", "vtw", &to]);
    assert!(again.contains("is a rewritten kernel already"), "{again}");
    let software = succeeds(&["transform", "vtw", &file, "--software"]);
    assert!(!software.contains("vtw.next"), "plain PTX");
    let shown = succeeds(&["inspect", &file, "--virtualize", "software"]);
    assert!(shown.contains("with virtual blocks:"), "{shown}");
}

#[test]
fn nothing_is_written_where_nothing_can_be_rewritten() {
    let scratch = Scratch::new("transform-refused");
    let (from, to) = (scratch.path("in.ptx"), scratch.path("out.ptx"));
    let text = ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %smid;\nret;\n}\n";
    std::fs::write(&from, text).expect("written");
    let said = fails(2, &["transform", "vtw", &from, "-o", &to]);
    assert!(said.contains("reads %smid"), "{said}");
    assert_eq!(scratch.names(), ["in.ptx"]);
    fails(2, &["transform", "vtw", &scratch.path("none.ptx")]);
}

#[test]
fn runs_say_how_many_blocks_were_virtual() {
    let run = [
        "run",
        "hotspot",
        "--size",
        "tiny",
        "--virtualize",
        "hardware",
        "--virtual-blocks",
        "3",
    ];
    let shown = succeeds(&run);
    assert!(shown.contains("virtual blocks"), "{shown}");
    assert!(shown.contains("500 bytes of state per SM"), "{shown}");
    assert!(shown.contains("result            correct"), "{shown}");
    let wrong = fails(2, &["run", "hotspot", "--virtualize", "hard"]);
    assert!(wrong.contains("hardware"), "{wrong}");
    let gangs = [
        "run",
        "hotspot",
        "--machine",
        "vws",
        "--warps",
        "i-vws",
        "--virtualize",
        "hardware",
    ];
    let said = fails(2, &gangs);
    assert!(said.contains("--virtualize software"), "{said}");
}
