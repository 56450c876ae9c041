//! Where the sides of a branch are likely to meet before they must.

mod common;
use common::kernel;
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Kernel, Likely, NO_PC, Pc};

/// For each conditional branch in order: the label of its likely-convergence point.
fn points(kernel: &Kernel) -> Vec<Option<&str>> {
    points_by(kernel, |likely| likely.loop_end)
}

/// The same by one of the rules.
fn points_by(kernel: &Kernel, rule: fn(Likely) -> Pc) -> Vec<Option<&str>> {
    let label = |pc: u32| {
        let block = kernel.blocks.iter().find(|b| b.start == pc);
        block.expect("a block starts there").label.as_deref()
    };
    kernel
        .code
        .iter()
        .filter(|i| i.op == Op::Bra && i.guard.is_some())
        .map(|i| rule(i.likely))
        .map(|pc| (pc != NO_PC).then(|| label(pc).expect("it has a label")))
        .collect()
}

/// The paper's example 2: a loop with a `break` in the `else` of its body.
const BREAK: &str = "mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
    A: setp.eq.u32 %p1, %r1, 0; @%p1 bra B;
    setp.eq.u32 %p2, %r1, 1; @%p2 bra D;
    bra E;
    B: add.u32 %r2, %r2, 7; bra E;
    D: add.u32 %r2, %r2, 9; bra F;
    E: sub.u32 %r1, %r1, 1; setp.gt.u32 %p3, %r1, 100; @%p3 bra A;
    F: ret;";

#[test]
fn a_break_makes_the_end_of_the_loop_a_likely_point() {
    let kernel = kernel(BREAK);
    // The branch in front of the break has a side that never comes to E, and the branch that
    // closes the loop is E's own.
    assert_eq!(points(&kernel), [Some("E"), None, None]);
}

#[test]
fn without_a_break_the_post_dominator_is_all_there_is() {
    let body = BREAK.replace("bra F;", "bra E;");
    assert_eq!(points(&kernel(&body)), [None, None, None]);
}

#[test]
fn the_exit_test_at_the_top_of_a_loop_has_none() {
    let body = "mov.u32 %r1, %tid.x;
        A: setp.eq.u32 %p1, %r1, 0; @%p1 bra F;
        sub.u32 %r1, %r1, 1; bra A;
        F: ret;";
    assert_eq!(points(&kernel(body)), [None]);
}

#[test]
fn the_closest_loop_counts() {
    // The inner loop has the break; the branch in the outer loop's own part meets for sure.
    let body = "mov.u32 %r1, %tid.x; mov.u32 %r3, 0;
        OUTER: mov.u32 %r2, %r1;
        A: setp.eq.u32 %p1, %r2, 0; @%p1 bra B;
        setp.eq.u32 %p2, %r2, 1; @%p2 bra REST;
        bra E;
        B: add.u32 %r3, %r3, 7;
        E: sub.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r2, 9; @%p3 bra A;
        REST: setp.gt.u32 %p5, %r3, 8; @%p5 bra ODD;
        add.u32 %r3, %r3, 1;
        ODD: add.u32 %r3, %r3, 2;
        sub.u32 %r1, %r1, 1; setp.gt.u32 %p4, %r1, 3; @%p4 bra OUTER;
        ret;";
    assert_eq!(points(&kernel(body)), [Some("E"), None, None, None, None]);
}

#[test]
fn a_loop_that_several_blocks_close_starts_over_at_its_header() {
    // BREAK with E's jump back folded into those that led there.
    let body = "mov.u32 %r1, %tid.x;
        A: sub.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra B;
        setp.eq.u32 %p2, %r1, 1; @%p2 bra D;
        bra A;
        B: add.u32 %r2, %r2, 7; setp.lt.u32 %p3, %r2, 99; @%p3 bra A;
        bra F;
        D: add.u32 %r2, %r2, 9;
        F: ret;";
    assert_eq!(points(&kernel(body)), [Some("A"), None, None]);
}

#[test]
fn by_the_papers_rule_the_closest_branch_backwards_counts() {
    // Two branches lead back to A, and the break keeps F from being where all have met.
    let body = "mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
        A: sub.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra B;
        setp.eq.u32 %p2, %r1, 1; @%p2 bra F;
        bra L1;
        B: add.u32 %r2, %r2, 7;
        L1: setp.lt.u32 %p3, %r2, 99; @%p3 bra A;
        L2: add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 999; @%p4 bra A;
        F: ret;";
    let kernel = kernel(body);
    assert_eq!(points(&kernel), [Some("A"), None, Some("A"), None]);
    let backward = points_by(&kernel, |likely| likely.backward);
    assert_eq!(backward, [Some("L1"), None, None, None]);
}

#[test]
fn a_return_from_inside_a_loop_needs_no_likely_point() {
    // Threads that are gone need not be waited for: the others meet at E itself.
    let body = BREAK.replace("bra F;", "ret;");
    assert_eq!(points(&kernel(&body)), [None, None, None]);
}
