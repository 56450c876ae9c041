//! The runner itself: what is wrong is found and said with its place.

use super::directive::Plan;
use super::{device, run, table};

const KERNEL: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}";

/// What is wrong with the kernel above under these directives.
fn complaint(directives: &[&str]) -> String {
    let comments: String = directives.iter().map(|d| format!("// {d}\n")).collect();
    let text = format!("{comments}{KERNEL}");
    let result = run::run_file(&text, &mut |plan| {
        plan.functional.then(|| device(plan.limit))
    });
    result.err().unwrap_or_default()
}

/// What is wrong with a table.
fn table_of(text: &str) -> Vec<String> {
    table::run_file("t", text, &|| Ok(device(1_000_000)))
}

#[track_caller]
fn says(directives: &[&str], wanted: &str) {
    let got = complaint(directives);
    assert!(got.contains(wanted), "`{wanted}` is not in `{got}`");
}

const LAUNCH: &str = "launch: block=4";
const BUFFER: &str = "buffer out: zeros 16";

#[test]
fn a_kernel_that_does_as_told_passes() {
    let expect = "expect out: u32 0..4";
    assert_eq!(complaint(&[LAUNCH, BUFFER, "arg: out", expect]), "");
}

#[test]
fn differences_name_line_element_and_values() {
    let expect = "expect out: u32 0 1 9 3";
    says(
        &[LAUNCH, BUFFER, "arg: out", expect],
        "line 4: out[2] is 2 (0x00000002), not 9 (0x00000009)",
    );
    // Not for such a device.
    let run = "run: timed";
    assert_eq!(complaint(&[LAUNCH, BUFFER, "arg: out", expect, run]), "");
}

#[test]
fn a_file_must_expect_something() {
    says(&[LAUNCH, BUFFER, "arg: out"], "expects nothing");
}

#[test]
fn an_expected_fault_error_or_print_must_come() {
    let base = [LAUNCH, BUFFER, "arg: out"];
    says(&[&base[..], &["fault: trap"]].concat(), "must fail");
    says(&[&base[..], &["error: bad"]].concat(), "must not");
    says(&[&base[..], &["print: hello"]].concat(), "prints []");
    let small = ["launch: block=5", BUFFER, "arg: out", "expect out: u32 0"];
    says(&small, "fails: invalid global write");
    let other = ["launch: block=5", BUFFER, "arg: out", "fault: trap"];
    says(&other, "`trap` is not in the message");
}

#[test]
fn mistakes_in_directives_have_their_line() {
    let expect = "expect out: u32 0";
    says(&["lanch: block=4", expect], "line 1: there is no `lanch`");
    says(&["launch: blok=4", expect], "line 1: `blok=4`");
    says(&[LAUNCH, "buffer out: u32 x"], "line 2: `x` is not a value");
    says(&[LAUNCH, "buffer out: u8 256"], "does not fit 8 bits");
    says(&[LAUNCH, "buffer out: q32 1"], "`q32` is not a type");
    says(&[LAUNCH, "expect out: u32 1*y"], "does not say how often");
    says(&[LAUNCH, BUFFER, expect], "0 arguments for 1 parameters");
    says(
        &[LAUNCH, BUFFER, "arg: u32 1", expect],
        "4 bytes for the parameter out of 8",
    );
    says(
        &[LAUNCH, "texture t: size=4 fast", expect],
        "`fast` says nothing",
    );
    assert!(Plan::parse("// any comment: fine\n// error: x").is_ok());
}

#[test]
fn tables_find_differences_and_mistakes() {
    let good = "add.u32 {d:u32}, {a:u32}, 1;\n1 -> 2\n";
    assert!(table_of(good).is_empty());
    let found = |text: &str, wanted: &str| {
        let all = table_of(text).join("\n");
        assert!(all.contains(wanted), "`{wanted}` is not in `{all}`");
    };
    found(
        &good.replace("> 2", "> 3"),
        "line 2: d is 2 (0x00000002), not 3",
    );
    found(
        &good.replace("1 ->", "1 1 ->"),
        "line 2: 2 values for 1 operands",
    );
    found("add.u32 {d:u32}, {a:u32}, 1;\n", "line 1: no rows");
    found("add.u32 {d}, {a:u32}, 1;\n1 -> 1\n", "`d` has no type");
    found("frob.u32 {d:u32}, {a:u32};\n1 -> 1\n", "frob");
    found("", "nothing in it");
    // A result that no instruction writes is not what memory held before.
    found(
        "mov.u32 %i, %i;\nxor.b32 {d:u32}, {a:u32}, {a};\n1 -> 0xa5a5a5a5\n",
        "d is 0",
    );
}

#[test]
fn distances_hold_for_floats_only_as_far_as_they_say() {
    let near = "ulp=1 add.f32 {d:f32}, {a:f32}, 0f00000000;\n1 -> 0x3f800001\n-0 -> 0\n";
    assert!(table_of(near).is_empty());
    let far = near.replace("0x3f800001", "0x3f800002");
    assert!(!table_of(&far).is_empty());
    let nan = "ulp=9 add.f32 {d:f32}, {a:f32}, 0f00000000;\n0x7fc00000 -> 1\n";
    assert!(!table_of(nan).is_empty());
}
