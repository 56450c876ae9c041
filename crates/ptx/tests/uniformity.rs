//! Which branches are proven to go one way for a whole block.

use crate::common;
use common::kernel;
use warpsim_ptx::isa::Op;

/// Verdicts on the conditional branches, in order.
fn verdicts(body: &str) -> Vec<bool> {
    kernel(body)
        .code
        .iter()
        .filter(|i| i.op == Op::Bra && i.guard.is_some())
        .map(|i| i.uniform)
        .collect()
}

/// Is a branch on the `%r1` that `setup` computes uniform?
fn value(setup: &str) -> bool {
    let all = verdicts(&format!(
        "{setup}\nsetp.eq.s32 %p9, %r1, 0; @%p9 bra OUT; mov.u32 %r9, 1; OUT: ret;"
    ));
    *all.last().expect("the branch")
}

#[test]
fn sources_of_values() {
    assert!(value("ld.param.u32 %r1, [n];"));
    assert!(value("mov.u32 %r1, %ctaid.x; mad.lo.s32 %r1, %r1, 3, %r1;"));
    assert!(value("mov.u32 %r1, %ntid.y;"));
    assert!(!value("mov.u32 %r1, %tid.x;"));
    assert!(!value("mov.u32 %r1, %laneid;"));
    assert!(!value("mov.u32 %r1, %warpid;"));
    assert!(!value("mov.u32 %r1, %clock;"));
    assert!(!value(
        "mov.u32 %r2, %tid.x; add.s32 %r3, %r2, 1; and.b32 %r1, %r3, 1;"
    ));
    assert!(!value("ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1];"));
    assert!(value(
        "ld.param.u64 %rd1, [a]; ld.global.nc.u32 %r1, [%rd1];"
    ));
    assert!(!value(
        "mov.u32 %r2, %tid.x; cvt.u64.u32 %rd1, %r2; ld.global.nc.u32 %r1, [%rd1];"
    ));
    assert!(!value(
        "ld.param.u64 %rd1, [a]; atom.global.add.u32 %r1, [%rd1], 1;"
    ));
    assert!(!value("activemask.b32 %r1;"));
    assert!(!value(
        "mov.u32 %r2, 1; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;"
    ));
}

#[test]
fn a_guard_that_differs_taints_what_it_writes() {
    assert!(!value(
        "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2;"
    ));
    assert!(value(
        "ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 0; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2;"
    ));
}

#[test]
fn values_written_under_divergent_control_differ() {
    let divergent = verdicts(
        "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; mov.u32 %r1, 1; @%p1 bra SKIP;\n\
         mov.u32 %r1, 2;\nSKIP: setp.eq.u32 %p2, %r1, 1; @%p2 bra OUT; mov.u32 %r3, 1;\nOUT: ret;",
    );
    assert_eq!(divergent, [false, false]);
    let uniform = verdicts(
        "ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 0; mov.u32 %r1, 1; @%p1 bra SKIP;\n\
         mov.u32 %r1, 2;\nSKIP: setp.eq.u32 %p2, %r1, 1; @%p2 bra OUT; mov.u32 %r3, 1;\nOUT: ret;",
    );
    assert_eq!(uniform, [true, true]);
}

#[test]
fn after_a_loop_with_a_trip_count_that_differs_the_counter_differs() {
    let verdicts = verdicts(
        "mov.u32 %r1, %tid.x; mov.u32 %r2, 0;\nL: add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;\n\
         @%p1 bra L; setp.eq.u32 %p2, %r2, 7; @%p2 bra OUT; mov.u32 %r3, 1;\nOUT: ret;",
    );
    assert_eq!(verdicts, [false, false]);
}

#[test]
fn a_uniform_loop_inside_a_uniform_loop() {
    let verdicts = verdicts(
        "ld.param.u32 %r1, [n]; mov.u32 %r2, 0;\nO: mov.u32 %r3, 0;\nI: add.s32 %r3, %r3, 1;\n\
         setp.lt.u32 %p1, %r3, %r1; @%p1 bra I; add.s32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r1;\n\
         @%p2 bra O; ret;",
    );
    assert_eq!(verdicts, [true, true]);
}

#[test]
fn names_are_not_in_ssa_form() {
    // %r1 is uniform at the first branch in program order, but the loop brings the thread
    // number round to it.
    let verdicts = verdicts(
        "mov.u32 %r1, 0; mov.u32 %r4, 0;\nL: setp.eq.u32 %p1, %r1, 3; @%p1 bra OUT;\n\
         mov.u32 %r1, %tid.x; add.s32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 9; @%p2 bra L;\nOUT: ret;",
    );
    assert_eq!(verdicts, [false, false]);
}

#[test]
fn the_carry_flag_carries_the_taint() {
    assert!(!value(
        "mov.u32 %r2, %tid.x; add.cc.u32 %r3, %r2, -1; addc.u32 %r1, 0, 0;"
    ));
    assert!(value(
        "ld.param.u32 %r2, [n]; add.cc.u32 %r3, %r2, -1; addc.u32 %r1, 0, 0;"
    ));
}

#[test]
fn reductions_over_the_block_are_uniform() {
    let pred =
        |setup: &str| verdicts(&format!("{setup} @%p2 bra OUT; mov.u32 %r3, 1;\nOUT: ret;"))[0];
    let start = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;";
    assert!(pred(&format!("{start} bar.red.or.pred %p2, 0, %p1;")));
    assert!(!pred(&format!("{start} @%p1 bar.red.or.pred %p2, 0, %p1;")));
    assert!(!pred(&format!("{start} bar.red.or.pred %p2, 1, 64, %p1;")));
    assert!(!pred(&format!("{start} vote.sync.any.pred %p2, %p1, -1;")));
}
