//! Which arrays in global memory kernels read and write.

use crate::common;
use common::{module, program};
use warpsim_ptx::inspect::arrays_in_words;

/// What is said of a kernel with parameters `a`, `b` and `c` (pointers), `n`, and `s` (a struct of 24 bytes), in a module with the
/// variables `table` and `words`.
fn said(body: &str) -> String {
    let text = module(&format!(
        ".global .b32 table[64];\n.const .b64 words[4];\n\
         .visible .entry k(.param .u64 k_a, .param .u64 b, .param .u64 c, .param .u32 n, .param .align 8 .b8 s[24])\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<20>;\n.reg .f64 %fd<4>;\n\
         .shared .b32 tile[32];\n\
         ld.param.u64 %rd1, [k_a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];\n\
         mov.u32 %r2, %tid.x; mul.wide.u32 %rd4, %r2, 4;\n{body}\nret;\n}}\n"
    ));
    let program = program(&text);
    arrays_in_words(&program, &program.kernels[0])
}

#[test]
fn pointers_are_followed_from_the_parameters() {
    assert_eq!(said(""), "none");
    assert_eq!(
        said(
            "cvta.to.global.u64 %rd5, %rd1; add.s64 %rd6, %rd5, %rd4; ld.global.f32 %f1, [%rd6];\n\
             add.s64 %rd7, %rd2, %rd4; st.f32 [%rd7+8], %f1;"
        ),
        "reads a; writes b"
    );
    assert_eq!(
        said("red.global.add.u32 [%rd1], %r2; atom.global.add.u32 %r3, [%rd2], 1;"),
        "updates by atomics a, b"
    );
    assert_eq!(
        said("ld.global.u32 %r3, [table+4]; mov.u64 %rd5, table; st.global.u32 [%rd5], %r3;"),
        "reads table; writes table"
    );
    assert_eq!(
        said(
            "ld.param.v2.u64 {%rd5, %rd6}, [s+8]; ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd6], %r3;"
        ),
        "reads s+8; writes s+16"
    );
}

#[test]
fn an_index_is_no_pointer_and_a_loaded_pointer_may_be_any() {
    // b[a[i]]
    let index = "add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5]; mul.wide.u32 %rd6, %r3, 4;\n\
                 add.s64 %rd7, %rd2, %rd6; ld.global.u32 %r4, [%rd7];";
    assert_eq!(said(index), "reads a, b");
    let chased = "ld.global.u64 %rd5, [%rd1]; st.global.u32 [%rd5], %r2;";
    assert_eq!(said(chased), "reads a; writes what cannot be told");
    assert_eq!(
        said("ld.const.u64 %rd5, [words]; ld.global.u32 %r3, [%rd5];"),
        "reads what cannot be told"
    );
    assert_eq!(
        said("mov.b64 %rd5, {%r1, %r2}; ld.global.u32 %r3, [%rd5];"),
        "reads what cannot be told",
        "put together from halves"
    );
    // An index that was a number with a fraction, and wide.
    let rounded = "ld.global.f64 %fd1, [%rd1]; cvt.rzi.s64.f64 %rd5, %fd1; add.s64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r2;";
    assert_eq!(said(rounded), "reads a; writes b");
}

#[test]
fn a_register_has_the_origins_of_all_that_is_written_to_it() {
    // Two arrays change places in a loop.
    let swapped = "LOOP: ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd2], %r3;\n\
                   mov.u64 %rd5, %rd1; mov.u64 %rd1, %rd2; mov.u64 %rd2, %rd5;\n\
                   setp.lt.u32 %p1, %r2, %r1; @%p1 bra LOOP;";
    assert_eq!(said(swapped), "reads a, b; writes a, b");
    let chosen =
        "setp.lt.u32 %p1, %r2, %r1; selp.b64 %rd5, %rd1, %rd3, %p1; st.global.u32 [%rd5], %r2;";
    assert_eq!(said(chosen), "writes a, c");
}

#[test]
fn what_a_thread_or_block_has_for_itself_is_none() {
    let generic =
        "mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; st.u32 [%rd6], %r2; ld.u32 %r3, [%rd6];";
    assert_eq!(said(generic), "none");
    assert_eq!(said("st.shared.u32 [tile], %r2;"), "none");
    let either = "mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; setp.lt.u32 %p1, %r2, %r1;\n\
                  selp.b64 %rd7, %rd6, %rd1, %p1; st.u32 [%rd7], %r2;";
    assert_eq!(said(either), "writes a");
}

#[test]
fn more_pointers_than_are_told_apart_may_be_any() {
    let params: Vec<String> = (0..70).map(|i| format!(".param .u64 p{i}")).collect();
    let uses: String = (0..70)
        .map(|i| format!("ld.param.u64 %rd{i}, [p{i}]; ld.global.u32 %r1, [%rd{i}];\n"))
        .collect();
    let text = module(&format!(
        ".visible .entry k({})\n{{\n.reg .b32 %r<2>;\n.reg .b64 %rd<70>;\n{uses}ret;\n}}\n",
        params.join(", ")
    ));
    let program = program(&text);
    let words = arrays_in_words(&program, &program.kernels[0]);
    assert!(words.contains("p61,") && !words.contains("p62"), "{words}");
    assert!(words.ends_with("what cannot be told"), "{words}");
}
