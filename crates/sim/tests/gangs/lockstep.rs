//! Slices in lockstep are kept as one (`sm/warps/lockstep`). An observer hears of every warp, so that
//! each is kept for itself then: nothing else may change.

use super::{bench, quiet};
use crate::common::generate::Generator;
use crate::common::kernel;

/// Bodies that keep slices in lockstep, or that take some out of it for a while.
const BODIES: &[(&str, &str)] = &[
    (
        "arithmetic",
        "add.u32 %r2, %r1, 1; mul.lo.u32 %r3, %r2, %r2; xor.b32 %r4, %r3, %r2; sin.approx.f32 %f1, %f1;
        add.u32 %r4, %r4, %r3;",
    ),
    (
        "conversions of all kinds",
        "cvt.rn.f32.u32 %f1, %r1; cvt.rzi.s32.f32 %r2, %f1; cvt.sat.f32.f32 %f2, %f1; cvt.rni.u32.f32 %r3, %f2;
        add.u32 %r4, %r2, %r3; setp.lt.u32 %p1, %r1, 40; @%p1 cvt.rpi.s32.f32 %r4, %f1; xor.b32 %r5, %r4, %r2;",
    ),
    (
        "a loop, whose branch is fetched past",
        "mov.u32 %r2, 0; mov.u32 %r3, 7; LOOP: add.u32 %r2, %r2, 1; mul.lo.u32 %r3, %r3, %r2;
        setp.lt.u32 %p1, %r2, 9; @%p1 bra LOOP;",
    ),
    (
        "loads that come in parts",
        "mul.wide.u32 %rd3, %r1, 132; and.b64 %rd3, %rd3, 4092; add.u64 %rd4, %rd2, %rd3;
        ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r2, 1; ld.global.u32 %r4, [%rd4+128];
        add.u32 %r5, %r4, %r3; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd1, %rd5;
        st.global.u32 [%rd6], %r5;",
    ),
    (
        "barriers and shared memory",
        "and.b32 %r2, %r1, 127; mul.lo.u32 %r2, %r2, 4; st.shared.u32 [%r2], %r1; bar.sync 0;
        xor.b32 %r3, %r2, 64; ld.shared.u32 %r4, [%r3]; add.u32 %r5, %r4, 1; bar.sync 0;
        st.shared.u32 [%r2], %r5; membar.gl; ld.shared.u32 %r6, [%r3];",
    ),
    (
        "barriers of all kinds, vectors and special registers",
        "mov.u32 %r2, %laneid; mov.u32 %r3, %ntid.x; add.u32 %r3, %r3, 31; and.b32 %r3, %r3, -32;
        bar.sync 1, %r3; setp.lt.u32 %p1, %r2, 40; @%p1 bar.sync 2; mul.wide.u32 %rd3, %r1, 4;
        and.b64 %rd3, %rd3, 2032; add.u64 %rd4, %rd2, %rd3; ld.global.v2.u32 {%r4, %r5}, [%rd4];
        bar.red.popc.u32 %r6, 3, %p1; add.u32 %r4, %r4, %r6; bar.sync 0; xor.b32 %r5, %r5, %r4;",
    ),
    (
        "halves that part and meet",
        "and.b32 %r2, %r1, 31; setp.lt.u32 %p1, %r2, 16; @%p1 bra ELSE; add.u32 %r3, %r2, 1;
        mul.lo.u32 %r3, %r3, %r3; bra END; ELSE: add.u32 %r3, %r2, 5; END: add.u32 %r4, %r3, 1;
        add.u32 %r5, %r4, 1;",
    ),
    (
        "accesses of other kinds in every other slice",
        "and.b32 %r2, %r1, 4; setp.eq.u32 %p1, %r2, 0; and.b32 %r3, %r1, 127; mul.lo.u32 %r3, %r3, 4;
        mul.wide.u32 %rd3, %r1, 68; and.b64 %rd3, %rd3, 2032; add.u64 %rd4, %rd2, %rd3; mov.u32 %r4, 0;
        LOOP: @%p1 bra OTHER; ld.shared.u32 %r5, [%r3]; st.shared.u32 [%r3], %r4; ld.shared.u32 %r6, [%r3];
        bra NEXT; OTHER: ld.global.u32 %r5, [%rd4]; ld.global.u32 %r6, [%rd4+8]; ld.shared.u32 %r2, [%r3];
        NEXT: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 6; @%p2 bra LOOP; add.u32 %r5, %r5, %r6;",
    ),
    (
        "threads that exit early",
        "and.b32 %r2, %r1, 31; setp.lt.u32 %p1, %r2, 6; @%p1 ret; add.u32 %r3, %r2, 1;
        mul.lo.u32 %r3, %r3, %r3; add.u32 %r4, %r3, 1;",
    ),
];

const NAMES: &[&str] = &[
    "i-vws",
    "e-vws",
    "i-vws-8",
    "i-vws-lrr",
    "i-vws-lpc",
    "i-vws-mwf",
    "i-vws-impatient",
    "e-vws-impatient",
    "e-vws-sync20",
];

/// That a kernel's statistics are the same whether slices are kept as one, and skipped or stepped.
fn check(set: &[&str], ptx: &str, blocks: u32, threads: u32, what: &str) {
    let mut apart = bench("vws", set, ptx, true);
    apart.launch(blocks, threads).launch(blocks, threads);
    for skip in [true, false] {
        let mut together = quiet("vws", set, ptx, skip);
        together.launch(blocks, threads).launch(blocks, threads);
        assert_eq!(together.report(), apart.report(), "{what}, {set:?}");
        assert!(together.output() == apart.output(), "{what}, {set:?}");
    }
}

#[test]
fn statistics_are_those_of_slices_kept_one_by_one() {
    for (what, body) in BODIES {
        let ptx = kernel(512, body);
        for name in NAMES {
            for threads in [128, 256, 72] {
                check(&[&format!("warps={name}")], &ptx, 3, threads, what);
            }
        }
    }
}

#[test]
fn the_same_with_units_that_slices_share_or_wait_for() {
    let sets: &[&[&str]] = &[
        &["warps=i-vws", "unit.sp.per=sm"],
        &["warps=i-vws", "collector.ideal=false"],
        &["warps=i-vws", "latency.int_mul=[10,4]"],
        &["warps=e-vws", "latency.int_mul=[10,4]", "sm.result_buses=1"],
        &["warps=i-vws", "fetch.wait_for_branch=true"],
        &["warps=i-vws", "fetch.cache_ports=1", "fetch.l0_bytes=64"],
        &["warps=i-vws", "sm.scoreboard=one-in-flight"],
    ];
    for (what, body) in BODIES {
        let ptx = kernel(512, body);
        for set in sets {
            check(set, &ptx, 2, 128, what);
        }
    }
}

#[test]
fn the_same_for_generated_programs() {
    for seed in 40..52 {
        let threads = [128, 96, 70][seed as usize % 3];
        let ptx = kernel(4 * threads, &Generator::body(seed, threads));
        let name = NAMES[seed as usize % NAMES.len()];
        let what = format!("seed {seed}");
        check(&[&format!("warps={name}")], &ptx, 3, threads, &what);
    }
}

/// Bodies in which warps of some slices alone have something to do for a while.
const SOME_SLICES: &[(&str, &str)] = &[
    (
        "the first warp goes on in a loop of its own",
        "and.b32 %r2, %r1, 31; mov.u32 %r3, 0; setp.ge.u32 %p1, %r2, 4; @%p1 bra END;
        mul.wide.u32 %rd3, %r1, 36; add.u64 %rd4, %rd2, %rd3; LOOP: ld.global.u32 %r4, [%rd4];
        add.u32 %r3, %r3, 1; st.shared.u32 [0], %r4; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;
        END: add.u32 %r5, %r3, 1;",
    ),
    (
        "a half goes on, and waits for the other at a barrier",
        "and.b32 %r2, %r1, 16; mov.u32 %r3, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra END;
        LOOP: add.u32 %r3, %r3, 1; mul.lo.u32 %r4, %r3, %r3; setp.lt.u32 %p2, %r3, 7; @%p2 bra LOOP;
        END: bar.sync 0; add.u32 %r5, %r3, 1; ld.shared.u32 %r6, [4]; bar.sync 0;",
    ),
    (
        "single warps go on side by side, and meet",
        "and.b32 %r2, %r1, 31; shr.u32 %r2, %r2, 2; mov.u32 %r3, 0; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3; LOOP: add.u32 %r3, %r3, 1; add.u32 %r4, %r4, %r3; setp.lt.u32 %p1, %r3, %r2;
        @%p1 bra LOOP; ld.global.u32 %r5, [%rd4]; add.u32 %r5, %r5, %r4; bar.sync 0; st.shared.u32 [8], %r5;",
    ),
    (
        "parts go on side by side",
        "and.b32 %r2, %r1, 31; shr.u32 %r2, %r2, 3; mov.u32 %r3, 0; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3; LOOP: setp.lt.u32 %p1, %r3, %r2; @%p1 bra NEXT; ld.global.u32 %r4, [%rd4];
        add.u32 %r5, %r4, %r3; NEXT: add.u32 %r3, %r3, 1; sin.approx.f32 %f1, %f1; setp.lt.u32 %p2, %r3, 5;
        @%p2 bra LOOP; red.global.add.u32 [%rd4], %r3;",
    ),
];

#[test]
fn the_same_where_warps_of_some_slices_alone_go_on() {
    let names = [
        "i-vws",
        "e-vws",
        "i-vws-8",
        "i-vws-lpc",
        "i-vws-impatient",
        "e-vws-sync20",
    ];
    for (what, body) in SOME_SLICES {
        let ptx = kernel(1024, body);
        for name in names {
            for threads in [1, 7, 128, 72] {
                check(&[&format!("warps={name}")], &ptx, 5, threads, what);
            }
        }
        // Units that some slices share, and a memory pipeline that is soon full.
        for set in [
            "unit.sp.per=sm",
            "sm.result_buses=1",
            "latency.int_mul=[10,4]",
        ] {
            check(&["warps=i-vws", set], &ptx, 3, 128, what);
        }
    }
}
