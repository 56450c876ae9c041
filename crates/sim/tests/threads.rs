//! Launches on several threads: where blocks go, which fault is named, and what a panic ends.

use crate::common;

use common::{Bench, kernel, machine};
use warpsim_sim::gpu::Options;
use warpsim_sim::schedule::{IssuePolicy, Place};

fn on(threads: usize) -> Options {
    Options {
        threads,
        ..Options::default()
    }
}

/// Each of 60 blocks counts for a while, some of them for as long as others, and then stores where nothing is.
fn failing(pattern: &str) -> String {
    kernel(
        0,
        &format!(
            "mov.u32 %r2, %ctaid.x; {pattern}\n\
             MORE: setp.eq.u32 %p2, %r3, 0; @%p2 bra NOW; sub.u32 %r3, %r3, 1; bra MORE;\n\
             NOW: st.global.u32 [%rd1], %r2; setp.lt.u32 %p3, %r2, 7; @%p3 bra END;\n\
             st.global.u32 [%rd1+1048576], %r2; END:"
        ),
    )
}

/// Of several threads of the program that fail, the first in time is named, and of those in one quantum the one on the first SM: however far
/// others have come.
#[test]
fn the_first_thread_that_fails_is_named_on_any_number_of_threads() {
    let patterns = [
        "mul.lo.u32 %r3, %r2, 37; rem.u32 %r3, %r3, 61; add.u32 %r3, %r3, 30;",
        "sub.u32 %r3, 90, %r2; mul.lo.u32 %r3, %r3, 11;",
        "mov.u32 %r3, 300;",
    ];
    for pattern in patterns {
        let ptx = failing(pattern);
        let fails = |mut bench: Bench| {
            let failed = bench.try_launch([60, 1, 1], [64, 1, 1], 0);
            failed.expect_err("nothing is there").to_string()
        };
        let listened_to = fails(Bench::new(machine("gtx480", &[]), &ptx));
        assert!(listened_to.contains("out of bounds"), "{listened_to}");
        for threads in [1, 2, 4, 8, 16] {
            let bench = Bench::unobserved(machine("gtx480", &[]), &ptx, on(threads));
            assert_eq!(fails(bench), listened_to, "{threads} threads, {pattern}");
        }
    }
}

/// Blocks that end at all times, and some together, while others wait.
#[test]
fn blocks_go_to_the_same_sms_on_any_number_of_threads() {
    let body = "mov.u32 %r2, %ctaid.x; mul.lo.u32 %r3, %r2, 29; rem.u32 %r3, %r3, 97;\n\
         MORE: add.u64 %rd4, %rd2, 0; mul.wide.u32 %rd5, %r3, 128; add.u64 %rd5, %rd5, %rd2;\n\
         ld.global.u32 %r6, [%rd5]; add.u32 %r7, %r7, %r6;\n\
         setp.eq.u32 %p2, %r3, 0; @%p2 bra NOW; sub.u32 %r3, %r3, 1; bra MORE;\n\
         NOW: mad.lo.u32 %r8, %r2, 64, %r1; mul.wide.u32 %rd6, %r8, 4; add.u64 %rd6, %rd6, %rd1;\n\
         st.global.u32 [%rd6], %r7;";
    for set in [&[][..], &["sm.max_blocks=1"], &["gpu.sms=40"]] {
        let run = |threads: usize| {
            let mut bench =
                Bench::unobserved(machine("gtx480", set), &kernel(0, body), on(threads));
            bench.launch(250, 64);
            let report = bench.report();
            (bench.output(), format!("{:?}", report.totals))
        };
        let (output, totals) = run(1);
        for threads in [2, 3, 7, 16] {
            let (same_output, same_totals) = run(threads);
            assert_eq!(same_output, output, "{threads} threads, {set:?}");
            assert_eq!(same_totals, totals, "{threads} threads, {set:?}");
        }
    }
}

/// The oldest place first, for a while.
struct Stops(u32);

impl IssuePolicy for Stops {
    fn launched(&mut self, _: Place, _: u64, _: u16) {}
    fn finished(&mut self, _: Place) {}
    fn issued(&mut self, _: Place) {
        self.0 -= 1;
        assert!(self.0 > 0, "enough issued");
    }
    fn before(&self, _: usize, a: u8, b: u8) -> bool {
        a < b
    }
}

/// A host thread that panics takes all others with it: none waits for it forever.
#[test]
#[should_panic(expected = "enough issued")]
fn a_panic_ends_the_run() {
    let counts = "mov.u32 %r3, 5000; MORE: sub.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra MORE;\n\
         st.global.u32 [%rd1], %r3;";
    let mut bench = Bench::unobserved(machine("gtx480", &[]), &kernel(0, counts), on(4));
    let made = std::cell::Cell::new(0);
    bench.gpu.replace_issue_policy(|_| {
        // The ninth SM's is the one.
        made.set(made.get() + 1);
        Box::new(Stops(if made.get() == 9 { 3000 } else { u32::MAX }))
    });
    bench.launch(15, 32);
}
