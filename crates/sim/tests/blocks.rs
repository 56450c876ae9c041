//! Blocks of every shape, kernels one after another, and runs that cannot end.

use crate::common;

use common::{Bench, check_laws, kernel, machine};
use warpsim_sim::gpu::{Options, SimError};

/// Every thread writes its linear number, plus one, at its place in the grid.
const NUMBER: &str = "mov.u32 %r2, %ntid.x; mov.u32 %r3, %ntid.y; mov.u32 %r4, %ntid.z;
    mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.z; mad.lo.u32 %r7, %r6, %r3, %r5;
    mad.lo.u32 %r7, %r7, %r2, %r1; mul.lo.u32 %r8, %r2, %r3; mul.lo.u32 %r8, %r8, %r4;
    mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ctaid.y; mov.u32 %r11, %ctaid.z;
    mov.u32 %r12, %nctaid.x; mov.u32 %r13, %nctaid.y;
    mad.lo.u32 %r14, %r11, %r13, %r10; mad.lo.u32 %r14, %r14, %r12, %r9;
    mad.lo.u32 %r15, %r14, %r8, %r7; mul.wide.u32 %rd3, %r15, 4; add.u64 %rd3, %rd1, %rd3;
    add.u32 %r15, %r15, 1; bar.sync 0; st.global.u32 [%rd3], %r15;";

#[test]
fn blocks_of_any_shape_run_every_thread_once() {
    let ptx = kernel(0, NUMBER);
    for (grid, block) in [
        ([1, 1, 1], [1, 1, 1]),
        ([3, 1, 1], [31, 1, 1]),
        ([7, 1, 1], [33, 1, 1]),
        ([9, 1, 1], [1024, 1, 1]),
        ([100, 1, 1], [64, 1, 1]),
        ([2, 3, 2], [5, 4, 3]),
        ([1, 4, 5], [1, 1, 37]),
        ([3, 2, 1], [8, 16, 2]),
    ] {
        for (preset, set) in [
            ("gtx480", vec![]),
            ("fx5800", vec!["gpu.sms=3"]),
            ("vws", vec!["sm.warp_width=4", "fetch.ports=8"]),
            (
                "gtx480",
                vec!["gpu.sms=1", "sm.warp_width=16", "sm.max_blocks=2"],
            ),
        ] {
            let machine = machine(preset, &set);
            let threads: u32 = block.iter().product();
            if threads > machine.sm.max_threads {
                continue;
            }
            let mut bench = Bench::new(machine.clone(), &ptx);
            let launched = bench.try_launch(grid, block, 0);
            launched.unwrap_or_else(|e| panic!("{grid:?} {block:?} on {preset} {set:?}: {e}"));
            let total = threads * grid.iter().product::<u32>();
            let output = bench.output();
            let expected: Vec<u32> = (1..=total).collect();
            assert!(
                output[..total as usize] == expected,
                "{grid:?} {block:?} on {preset}"
            );
            assert!(output[total as usize..].iter().all(|&w| w == 0));
            check_laws(bench.report(), &machine);
        }
    }
}

#[test]
fn launches_that_make_no_sense_are_refused() {
    let mut bench = Bench::new(machine("gtx480", &[]), &kernel(0, NUMBER));
    for (grid, block) in [
        ([1, 1, 1], [1025, 1, 1]),
        ([1, 1, 1], [0, 1, 1]),
        ([0, 1, 1], [32, 1, 1]),
        ([1, 1, 1], [32, 32, 2]),
    ] {
        let error = bench.try_launch(grid, block, 0).unwrap_err();
        assert!(matches!(*error, SimError::BadLaunch(_)), "{error}");
    }
    bench.launch(1, 32);
    assert_eq!(bench.output()[..3], [1, 2, 3], "it is as good as before");
}

/// Reads the input once and uses it.
const READ: &str = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;";

#[test]
fn caches_live_from_kernel_to_kernel_as_configured() {
    // L1 hits, L2 reads that hit, DRAM reads of the second of two equal kernels.
    let second = |set: &[&str]| {
        let set = [&["gpu.sms=1"], set].concat();
        let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, READ));
        bench.launch(1, 32).launch(1, 32);
        let totals = &bench.report().totals;
        assert_eq!(bench.output()[..3], [1, 2, 3]);
        let hits = totals.sm.counters.l1d_hits;
        (hits, totals.memory.l2_reads, totals.memory.dram_reads)
    };
    let (hits, l2_reads, dram) = second(&[]);
    assert_eq!((hits, l2_reads), (0, 4), "L1 is empty");
    assert_eq!(dram, 2, "L2 has it; only the new parameters come from DRAM");
    let (hits, l2_reads, _) = second(&["gpu.flush_l1_when_idle=false"]);
    assert_eq!((hits, l2_reads), (1, 0), "L1 has it");
    let (hits, l2_reads, dram) = second(&["gpu.flush_l2_between_kernels=true"]);
    assert_eq!((hits, l2_reads), (0, 4));
    assert!(dram >= 6, "L2 is empty: {dram}");
}

fn error_of(body: &str, threads: u32, set: &[&str], skip: bool) -> SimError {
    let options = Options {
        max_cycles: Some(20_000),
        skip,
        ..Options::default()
    };
    let mut bench = Bench::with(machine("gtx480", set), &kernel(0, body), options);
    *bench.try_launch([1, 1, 1], [threads, 1, 1], 0).unwrap_err()
}

#[test]
fn a_barrier_that_waits_for_threads_that_never_come_is_a_deadlock() {
    // Barrier 1 expects 96 threads of a block of 64; no other thread can come.
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; bar.sync 1, 96; bra END;
        LOW: bar.sync 2, 64; // @low
        END: mov.u32 %r2, 1;";
    let mut cycles = Vec::new();
    for skip in [true, false] {
        let stuck = match error_of(body, 64, &[], skip) {
            SimError::Deadlock(stuck) => stuck,
            other => panic!("skip {skip}: {other}"),
        };
        assert_eq!(stuck.warps.len(), 2, "each warp is named");
        for (warp, id, expected) in [(0, 2, 64), (1, 1, 96)] {
            let found = stuck
                .warps
                .iter()
                .find(|w| w.warp == warp)
                .expect("it is stuck");
            let text = format!("barrier {id}: 32 of {expected} threads have arrived");
            assert!(found.waits_for.contains(&text), "{}", found.waits_for);
            assert!(found.place.starts_with("PTX line "), "{}", found.place);
        }
        assert!(stuck.cycle < 2000, "seen at once: {}", stuck.cycle);
        cycles.push(stuck.cycle);
    }
    assert_eq!(
        cycles[0], cycles[1],
        "skipped and stepped runs see it in the same cycle"
    );
}

#[test]
fn a_barrier_whose_other_threads_spin_is_a_livelock_and_names_the_loop() {
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra WAIT;
        SPIN: ld.global.cg.u32 %r2, [%rd1]; // @spin
        setp.eq.u32 %p2, %r2, 0; @%p2 bra SPIN; // @back
        WAIT: bar.sync 0;";
    for skip in [true, false] {
        let SimError::CycleLimit {
            limit,
            stuck,
            loops,
            ended: None,
        } = error_of(body, 64, &[], skip)
        else {
            panic!("not seen as a livelock");
        };
        assert_eq!(limit, 20_000);
        assert_eq!(stuck.warps.len(), 2);
        assert!(stuck.warps[0].waits_for.contains("32 of 64"));
        assert_eq!(loops.len(), 1, "one warp spins");
        assert_eq!(loops[0].warp, 1);
        assert!(loops[0].first_line < loops[0].last_line && loops[0].instructions > 10);
    }
}

#[test]
fn a_barrier_whose_siblings_have_exited_opens() {
    let body = "setp.ge.u32 %p1, %r1, 32; @%p1 exit;
        bar.sync 0; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], 7;";
    for threads in [33, 64, 128] {
        for preset in ["gtx480", "fx5800", "vws"] {
            let mut bench = Bench::new(machine(preset, &[]), &kernel(0, body));
            bench.launch(2, threads);
            let output = bench.output();
            assert!(output[..32].iter().all(|&w| w == 7));
            assert!(output[32..].iter().all(|&w| w == 0));
        }
    }
}

#[test]
fn a_spin_on_another_blocks_store_ends() {
    let body = "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra PRODUCE;
        SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;
        st.global.u32 [%rd1+4], 5; bra END;
        PRODUCE: st.global.u32 [%rd1], 9;
        END: mov.u32 %r4, 1;";
    for preset in ["gtx480", "fx5800", "vws"] {
        let mut bench = Bench::new(machine(preset, &[]), &kernel(0, body));
        bench.launch(2, 32);
        assert_eq!(bench.output()[..2], [9, 5], "{preset}");
    }
}

/// Where the L1 answers in the same cycle, a store that it keeps is done as soon as it is sent.
#[test]
fn stores_that_the_cache_keeps_are_counted_before_they_are_acknowledged() {
    let body = ".local .align 4 .b8 own[8]; st.local.u32 [own], %r1; ld.local.u32 %r2, [own];
        add.u32 %r2, %r2, 7; st.local.u32 [own], %r2; st.local.u32 [own+4], %r2;
        ld.local.u32 %r3, [own+4]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3;
        st.global.u32 [%rd4], %r3;";
    for (preset, latency) in [("fx5800", "l1d.latency=0"), ("gtx480", "l1d.latency=0")] {
        let mut bench = Bench::new(machine(preset, &[latency]), &kernel(0, body));
        bench.launch(1, 64);
        let expected: Vec<u32> = (7..71).collect();
        assert_eq!(bench.output()[..64], expected, "{preset}");
    }
}
