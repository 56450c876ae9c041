//! Mistakes in PTX that lowering finds, and that it finds all of them.

use crate::common;
use common::{body_errors, errors, kernel_text, module, try_lower};
use warpsim_ptx::diagnostic::render_all;

#[test]
fn unknown_names_suggest_a_known_one() {
    assert_eq!(
        body_errors("add.s32 %r1, %r2, %rr3; mov.u32 %r4, %tid.w; bra JION; JOIN: ret;"),
        [
            "`%rr3` is not declared; did you mean `%r3`?",
            "`%tid.w` is not declared; did you mean `%tid.x`?",
            "`JION` is not declared; did you mean `JOIN`?",
        ]
    );
    assert_eq!(
        body_errors("mov.u32 %r20, 1; mov.u32 %r20, 2; ret;"),
        ["`%r20` is not declared; the declaration `%r<20>` ends at `%r19`"]
    );
}

#[test]
fn widths_must_fit() {
    assert_eq!(
        body_errors(
            "add.s32 %r1, %rd2, 1; add.s64 %rd1, %rd2, %r3; mul.wide.s32 %r1, %r2, 3; ret;"
        ),
        [
            "`%rd2` has 64 bits but `add.s32` needs 32 here; `%rd2` is declared `.b64`",
            "`%r3` has 32 bits but `add.s64` needs 64 here; `%r3` is declared `.b32`",
            "`%r1` has 32 bits but `mul.wide.s32` needs 64 here; `%r1` is declared `.b32`",
        ]
    );
    assert_eq!(
        body_errors("ld.global.u64 %r1, [%rd1]; ret;"),
        ["`%r1` has 32 bits but `ld.global.u64` needs at least 64 here; `%r1` is declared `.b32`"]
    );
    // Loads, stores and conversions take wider registers.
    let relaxed =
        "ld.global.u8 %r1, [%rd1]; st.global.u16 [%rd1], %r1; cvt.u16.u32 %r2, %rd3; ret;";
    assert!(try_lower(&kernel_text(relaxed)).is_ok());
}

#[test]
fn predicates_are_no_values() {
    assert_eq!(
        body_errors("add.s32 %r1, %p1, 1; selp.b32 %r1, 1, 2, %r3; @%r1 bra L; L: ret;"),
        [
            "`%p1` is a predicate but `add.s32` needs a value here; `%p1` is declared `.pred`",
            "`%r3` is a `.b32` register but `selp.b32` needs a predicate here; `%r3` is declared `.b32`",
            "`%r1` is a `.b32` register; a predicate is needed here",
        ]
    );
}

#[test]
fn kinds_of_operands() {
    assert_eq!(
        body_errors("add.f32 %f1, %f2, 3; ld.global.u32 %r1, [%h1]; mov.u32 L, 1; L: ret;"),
        [
            "an integer stands where a `.f32` is needed; write it as `0f…` or `0d…`",
            "`%h1` cannot hold an address; addresses are kept in registers of 32 or 64 bits",
            "`mov.u32` writes a register; `L` is a label",
        ]
    );
    assert_eq!(
        body_errors("bra %r1; ld.shared.u32 %r1, [n]; st.param.u32 [n], 1; ret;"),
        [
            "`%r1` is a register, not a label",
            "`ld.shared.u32` cannot access `n`, which is a parameter",
            "kernel parameters cannot be written",
        ]
    );
    assert_eq!(
        body_errors("ld.param.u64 %rd1, [n]; ret;"),
        ["`ld.param.u64` reaches beyond parameter `n` (8 bytes at 0, 4 there)"]
    );
}

#[test]
fn names_are_declared_once() {
    assert_eq!(
        body_errors(".reg .u32 x; .reg .u32 x; L: L: ret;"),
        ["`x` is declared twice", "`L` is declared twice"]
    );
    let text = module(
        ".func f() { ret; }\n.func f() { ret; }\n.global .u32 g;\n.global .u32 g;\n.entry k() { ret; }",
    );
    let found = errors(&text);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn initialisers_are_checked() {
    let text = module(
        ".global .u32 g[2] = {1, 2, 3};\n.shared .u32 s;\n.global .u64 p = s;\n.global .u64 q = gg;\n.entry k() { ret; }",
    );
    let found = errors(&text);
    assert!(
        found[0].contains("more initial values than room"),
        "{}",
        found[0]
    );
    assert!(found[1].contains("not known before launch"), "{}", found[1]);
    assert!(found[2].contains("`gg` is not declared"), "{}", found[2]);
}

#[test]
fn a_mistake_in_a_function_called_twice_is_reported_once() {
    let text = module(
        ".func f() { .reg .b32 %r; add.s32 %r, %q, 1; ret; }\n.entry k() { call f, (); call f, (); ret; }",
    );
    assert_eq!(errors(&text).len(), 1);
}

#[test]
fn the_report_points_at_the_operand() {
    let text = kernel_text("add.s32 %r1, %r2, %rd3;\nret;");
    let errors = try_lower(&text).expect_err("the widths differ");
    insta::assert_snapshot!(render_all(&errors, "k.ptx", &text), @r"
    error: `%rd3` has 64 bits but `add.s32` needs 32 here
      --> k.ptx:12:19
       |
    12 | add.s32 %r1, %r2, %rd3;
       |                   ^^^^
       |
       = hint: `%rd3` is declared `.b64`
    ");
}
