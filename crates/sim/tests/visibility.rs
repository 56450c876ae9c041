//! When SMs see what others have stored, and what they may rely on meanwhile.

use crate::common;

use common::{Bench, kernel, machine};
use std::fmt::Write;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;

fn on(threads: usize) -> Options {
    Options {
        threads,
        ..Options::default()
    }
}

/// Loads that the reader makes.
const LOADS: usize = 40;

/// Block 0 sets a flag after `n` rounds. Block 1 looks at it again and again, and writes down what it saw.
fn flag() -> String {
    let mut body = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 bra WRITE;\n\
         bra READ;\n\
         WRITE: ld.param.u32 %r3, [n];\n\
         MORE: setp.eq.u32 %p2, %r3, 0; @%p2 bra NOW; sub.u32 %r3, %r3, 1; bra MORE;\n\
         NOW: mov.u32 %r4, 1;\n\
         st.global.u32 [%rd2], %r4; // @store\n\
         ret;\n\
         READ:\n"
        .to_string();
    for i in 0..LOADS {
        let to = 10 + i;
        let _ = writeln!(body, "ld.global.u32 %r{to}, [%rd2]; // @load{i}");
    }
    for i in 0..LOADS {
        let _ = writeln!(body, "st.global.u32 [%rd1+{}], %r{};", 4 * i, 10 + i);
    }
    kernel(0, &body)
}

/// The cycle in which the marked instruction issued, on any SM.
fn issued(bench: &Bench, mark: &str) -> u64 {
    let wanted = bench.pc(mark);
    let is = |e: &common::Event| match *e {
        (cycle, _, _, WarpEvent::Issued { pc, .. }) if pc == wanted => Some(cycle),
        _ => None,
    };
    bench.events().iter().find_map(is).expect("it has issued")
}

/// A store is seen by the other SM in the first cycle that is a multiple of `gpu.store_visibility`
/// after it has issued, and not before.
#[test]
fn a_store_is_seen_when_the_period_is_over() {
    for period in [4, 12, 48] {
        let visibility = format!("gpu.store_visibility={period}");
        let on_two = || machine("gtx480", &["gpu.sms=2", &visibility]);
        let mut between = 0;
        for n in 0..24 {
            let mut bench = Bench::new(on_two(), &flag());
            bench.try_launch([2, 1, 1], [1, 1, 1], n).expect("it ends");
            let seen_from = (issued(&bench, "store") + 1).next_multiple_of(period);
            let output = bench.output();
            for (i, &saw) in output[..LOADS].iter().enumerate() {
                let at = issued(&bench, &format!("load{i}"));
                assert_eq!(saw == 1, at >= seen_from, "{visibility}, {n}: in {at}");
                between += usize::from(at > issued(&bench, "store") && saw == 0);
            }
            // No observer listens: SMs run for a period at once.
            let mut alone = Bench::unobserved(on_two(), &flag(), on(1));
            alone.try_launch([2, 1, 1], [1, 1, 1], n).expect("it ends");
            assert_eq!(alone.output(), output, "{visibility}, {n}");
        }
        assert!(between > 0, "{visibility}: no load came in between");
    }
}

/// What a thread has atomically changed it finds changed when it has the answer, and what was
/// stored before an atomic is there for who has seen the atomic.
#[test]
fn atomics_are_seen_by_the_thread_that_has_their_answer() {
    // Each thread counts up and looks; then thread 0 of block 0 hands a word to the other blocks.
    let body = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0; mov.u32 %r9, 0;\n\
         COUNT: atom.global.add.u32 %r4, [%rd2], 1; add.u32 %r5, %r4, 1; ld.global.cg.u32 %r6, [%rd2];\n\
         setp.lt.u32 %p1, %r6, %r5; @%p1 add.u32 %r9, %r9, 1;\n\
         add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20; @%p2 bra COUNT;\n\
         setp.ne.u32 %p3, %r2, 0; @%p3 bra WAIT;\n\
         mov.u32 %r7, 77; st.global.u32 [%rd1+1024], %r7; membar.gl; atom.global.exch.b32 %r8, [%rd1+2048], 1;\n\
         bra DONE;\n\
         WAIT: atom.global.or.b32 %r8, [%rd1+2048], 0; setp.eq.u32 %p4, %r8, 0; @%p4 bra WAIT;\n\
         ld.global.cg.u32 %r7, [%rd1+1024];\n\
         DONE: mul.wide.u32 %rd3, %r2, 8; add.u64 %rd4, %rd1, %rd3;\n\
         st.global.u32 [%rd4], %r9; st.global.u32 [%rd4+4], %r7;";
    for visibility in ["gpu.store_visibility=4", "gpu.store_visibility=48"] {
        for threads in [1, 2] {
            let machine = machine("gtx480", &[visibility]);
            let mut bench = Bench::unobserved(machine, &kernel(0, body), on(threads));
            bench.launch(15, 1);
            let output = bench.output();
            for block in 0..15 {
                let told = &output[2 * block..2 * block + 2];
                assert_eq!(told, [0, 77], "{visibility}, {threads} threads, {block}");
            }
        }
    }
}
