//! The timing laws of the SM, one test each: not ready a cycle earlier, ready then. The numbers
//! are those measured on the reference simulator; `docs/agreement.md` has whole kernels.

use crate::common;

use common::{Bench, Event, kernel, lone_warp, machine};
use warpsim_sim::observe::WarpEvent;

/// Cycles from `producer` (which writes `%r10`, `%f10`, `%fd10` or `%p2`) to `consumer`.
fn distance(preset: &str, setup: &str, producer: &str, consumer: &str) -> u64 {
    let body = format!("{setup}\nbar.sync 0;\n{producer} // @a\n{consumer} // @b\n");
    lone_warp(preset, 4096, &body).gap("a", "b")
}

const SETUP: &str = "mov.u32 %r2, 7; mov.u32 %r3, 9; mov.u32 %r18, 3; mov.f32 %f2, 0f3F800000;
    mov.f32 %f3, 0f40000000; mov.f64 %fd2, 0d3FF0000000000000; mov.f64 %fd3, 0d4000000000000000;
    setp.ne.u32 %p1, %r2, %r3;";

#[test]
fn a_dependent_instruction_issues_when_its_operand_is_written() {
    let use_r = "add.u32 %r11, %r10, %r3;";
    let use_f = "add.f32 %f11, %f10, %f3;";
    let use_d = "add.f64 %fd11, %fd10, %fd3;";
    for (producer, consumer, cycles) in [
        ("add.s32 %r10, %r2, %r3;", use_r, 10),
        ("sub.s32 %r10, %r2, %r3;", use_r, 10),
        ("add.f32 %f10, %f2, %f3;", use_f, 10),
        ("mul.f32 %f10, %f2, %f3;", use_f, 10),
        ("mul.lo.s32 %r10, %r2, %r3;", use_r, 10),
        ("mad.lo.s32 %r10, %r2, %r3, %r1;", use_r, 11),
        ("mad.rn.f32 %f10, %f2, %f3, %f4;", use_f, 11),
        ("fma.rn.f32 %f10, %f2, %f3, %f4;", use_f, 11),
        ("min.s32 %r10, %r2, %r3;", use_r, 19),
        ("max.f32 %f10, %f2, %f3;", use_f, 19),
        ("ex2.approx.f32 %f10, %f2;", use_f, 14),
        ("sqrt.approx.f32 %f10, %f2;", use_f, 14),
        ("add.f64 %fd10, %fd2, %fd3;", use_d, 14),
        ("fma.rn.f64 %fd10, %fd2, %fd3, %fd4;", use_d, 14),
        ("div.rn.f32 %f10, %f2, %f3;", use_f, 45),
        ("div.s32 %r10, %r2, %r3;", use_r, 151),
        ("rem.s32 %r10, %r2, %r3;", use_r, 151),
        ("div.rn.f64 %fd10, %fd2, %fd3;", use_d, 336),
        ("min.f64 %fd10, %fd2, %fd3;", use_d, 25),
        ("mov.u32 %r10, %r2;", use_r, 7),
        ("xor.b32 %r10, %r2, %r3;", use_r, 7),
        ("shl.b32 %r10, %r2, %r3;", use_r, 7),
        ("cvt.rn.f32.s32 %f10, %r2;", use_f, 7),
        (
            "setp.lt.s32 %p2, %r2, %r3;",
            "@%p2 add.u32 %r11, %r2, %r3;",
            7,
        ),
        ("selp.b32 %r10, %r2, %r3, %p1;", use_r, 7),
    ] {
        let got = distance("gtx480", SETUP, producer, consumer);
        assert_eq!(got, cycles, "{producer}");
    }
}

#[test]
fn the_reference_machine_is_quicker_with_fma_and_rem() {
    for (producer, consumer) in [
        (
            "fma.rn.f32 %f10, %f2, %f3, %f4;",
            "add.f32 %f11, %f10, %f3;",
        ),
        (
            "fma.rn.f64 %fd10, %fd2, %fd3, %fd4;",
            "add.f64 %fd11, %fd10, %fd3;",
        ),
        ("rem.s32 %r10, %r2, %r3;", "add.u32 %r11, %r10, %r3;"),
    ] {
        assert_eq!(
            distance("gtx480-ref", SETUP, producer, consumer),
            7,
            "{producer}"
        );
    }
}

#[test]
fn without_register_sources_it_is_a_cycle_less() {
    let consumer = "add.u32 %r11, %r10, %r3;";
    for producer in ["mov.u32 %r10, 5;", "mov.u32 %r10, %ctaid.x;"] {
        assert_eq!(
            distance("gtx480", SETUP, producer, consumer),
            6,
            "{producer}"
        );
    }
}

#[test]
fn sources_in_one_bank_take_turns() {
    let consumer = "add.u32 %r11, %r10, %r3;";
    for (producer, cycles) in [
        ("add.s32 %r10, %r2, %r2;", 11),
        ("add.s32 %r10, %r2, %r18;", 11),
        ("mad.lo.s32 %r10, %r2, %r18, %r2;", 13),
        ("add.s32 %r10, %r2, 5;", 10),
    ] {
        let got = distance("gtx480", SETUP, producer, consumer);
        assert_eq!(got, cycles, "{producer}");
    }
}

#[test]
fn a_write_waits_for_an_earlier_write_but_not_for_a_read() {
    let waw = distance(
        "gtx480",
        SETUP,
        "min.s32 %r10, %r2, %r3;",
        "mov.u32 %r10, %r3;",
    );
    assert_eq!(waw, 19);
    // The pair behind the barrier is fetched together: at most three cycles apart.
    let war = distance(
        "gtx480",
        SETUP,
        "min.s32 %r10, %r2, %r3;",
        "mov.u32 %r2, %r3;",
    );
    assert!(war <= 3, "{war}");
}

#[test]
fn a_lone_warp_issues_two_instructions_in_three_cycles() {
    let mut body = String::from("bar.sync 0;\n");
    for i in 0..24 {
        body += &format!("mov.u32 %r{}, {i}; // @i{i}\n", 20 + i);
    }
    let bench = lone_warp("gtx480", 0, &body);
    let cycles: Vec<u64> = (0..24).map(|i| bench.at(&format!("i{i}"))).collect();
    for window in cycles.windows(3).skip(1) {
        assert_eq!(window[2] - window[0], 3, "{cycles:?}");
        assert_ne!(window[1], window[0]);
    }
}

#[test]
fn a_branch_target_issues_after_three_or_four_cycles() {
    let body = "setp.eq.u32 %p1, %r1, %r1; @!%p1 ret; bar.sync 0;
        @%p1 bra A; // @enter
        mov.u32 %r2, 1;
        A: @%p1 bra B; // @first
        mov.u32 %r2, 2;
        B: mov.u32 %r3, 3; // @b
        @%p1 bra C; // @second
        mov.u32 %r2, 4;
        C: mov.u32 %r4, 4; // @c\n";
    let bench = lone_warp("gtx480", 0, body);
    assert_eq!(bench.gap("first", "b"), 3, "first of its pair");
    assert_eq!(bench.gap("second", "c"), 4, "second of its pair");
}

/// Cycles from a marked load to the use of its value, with lanes `stride` bytes apart.
fn load_to_use(preset: &str, load: &str, stride: u32) -> u64 {
    let body = format!(
        "mul.lo.u32 %r2, %r1, {stride}; cvt.u64.u32 %rd3, %r2; add.u64 %rd4, %rd2, %rd3;
         bar.sync 0;
         {load} // @load
         add.u32 %r11, %r10, %r1; // @use\n"
    );
    lone_warp(preset, 8192, &body).gap("load", "use")
}

#[test]
fn shared_loads_take_31_cycles_and_one_for_each_conflict() {
    for (stride, ways) in [(0, 1), (4, 1), (8, 2), (32, 8), (128, 32)] {
        let got = load_to_use("gtx480", "ld.shared.u32 %r10, [%r2];", stride);
        assert_eq!(got, 31 + ways - 1, "stride {stride}");
    }
}

#[test]
fn l1_hits_take_39_cycles_and_one_for_each_access() {
    for (stride, accesses) in [(0, 1), (4, 1), (8, 2), (32, 8)] {
        let body = format!(
            "mul.lo.u32 %r2, %r1, {stride}; cvt.u64.u32 %rd3, %r2; add.u64 %rd4, %rd2, %rd3;
             ld.global.u32 %r9, [%rd4];
             add.u32 %r9, %r9, 1; bar.sync 0; mov.u32 %r12, %r9;
             ld.global.u32 %r10, [%rd4]; // @load
             add.u32 %r11, %r10, %r1; // @use\n"
        );
        let bench = lone_warp("gtx480", 0, &body);
        assert_eq!(
            bench.gap("load", "use"),
            39 + accesses - 1,
            "stride {stride}"
        );
        let counters = &bench.report().totals.sm.counters;
        assert_eq!(
            (counters.l1d_misses, counters.l1d_hits),
            (accesses, accesses)
        );
    }
}

#[test]
fn l2_hits_take_142_cycles_past_and_181_through_the_l1() {
    assert_eq!(
        load_to_use("gtx480", "ld.global.cg.u32 %r10, [%rd4];", 0),
        142
    );
    assert_eq!(load_to_use("gtx480", "ld.global.u32 %r10, [%rd4];", 0), 181);
    assert_eq!(load_to_use("gtx480", "ld.global.u32 %r10, [%rd4];", 4), 181);
}

#[test]
fn constants_and_parameters_that_hit_take_three_or_four_cycles() {
    let body = "ld.param.u32 %r9, [n]; add.u32 %r9, %r9, 1; bar.sync 0; mov.u32 %r12, %r9;
        ld.param.u32 %r10, [n]; // @param
        add.u32 %r11, %r10, %r1; // @used\n";
    let bench = lone_warp("gtx480", 0, body);
    assert_eq!(bench.gap("param", "used"), 3, "no address register");
    let ptx = kernel(
        0,
        "mov.u64 %rd5, c; ld.const.u32 %r9, [%rd5]; add.u32 %r9, %r9, 1; bar.sync 0;
         mov.u32 %r12, %r9;
         ld.const.u32 %r10, [%rd5]; // @const
         add.u32 %r11, %r10, %r1; // @used\n",
    )
    .replace(".visible", ".const .u32 c[4] = {1, 2, 3, 4};\n.visible");
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=1"]), &ptx);
    bench.launch(1, 32).launch(1, 32);
    assert_eq!(bench.gap("const", "used"), 4, "an address register");
}

#[test]
fn an_atomic_of_n_accesses_blocks_its_warp_139_and_n_cycles() {
    for n in [1, 2, 8, 32] {
        let body = format!(
            "setp.lt.u32 %p1, %r1, {n}; mov.u32 %r2, 1; bar.sync 0;
             @%p1 atom.global.add.u32 %r10, [%rd1], %r2; // @atom
             NEXT // @next\n"
        );
        for (next, cycles) in [
            ("mov.u32 %r12, %r2;", 139 + n),
            ("add.u32 %r11, %r10, %r2;", 140 + n),
        ] {
            let bench = lone_warp("gtx480-ref", 0, &body.replace("NEXT", next));
            assert_eq!(bench.gap("atom", "next"), cycles, "{n} accesses, {next}");
            assert_eq!(bench.output()[0], 2 * n as u32);
        }
    }
}

#[test]
fn a_barrier_opens_in_the_cycle_of_the_last_arrival_or_the_next() {
    let body = "setp.ge.u32 %p1, %r1, 32; mov.u32 %r2, 3; @%p1 bra ARRIVE;
        div.s32 %r3, %r1, %r2; add.u32 %r3, %r3, 1; mov.u32 %r5, %r3;
        ARRIVE: bar.sync 0; // @bar
        mov.u32 %r4, 5; // @after\n";
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=1"]), &kernel(0, body));
    bench.launch(1, 64).launch(1, 64);
    let last = bench.issues_of(0, "bar")[0];
    let early = bench.issues_of(1, "bar")[0];
    assert!(early + 100 < last, "warp 1 waits for warp 0");
    let next = bench.issues_of(1, "after")[0];
    assert!(next == last || next == last + 1, "{last} {next}");
    assert!(bench.issues_of(0, "after")[0] > last);
}

fn first(events: &[Event], sm: u16, of: impl Fn(WarpEvent) -> bool) -> u64 {
    let found = events.iter().find(|e| e.1 == sm && of(e.3));
    found.expect("it happened").0
}

#[test]
fn instructions_are_there_after_2_cycles_from_l1i_and_141_from_l2() {
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=2"]), &kernel(0, ""));
    // The first block of the second launch goes to SM 1, which has fetched nothing yet.
    bench.launch(1, 32).launch(2, 32);
    for (sm, cycles) in [(0, 2), (1, 141)] {
        let events = bench.events();
        let came = first(&events, sm, |e| matches!(e, WarpEvent::Launched { .. }));
        let issued = first(&events, sm, |e| matches!(e, WarpEvent::Issued { .. }));
        assert_eq!(issued - came, cycles, "SM {sm}");
    }
}

#[test]
fn a_load_of_a_line_under_way_returns_with_it() {
    let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; bar.sync 0;
        ld.global.u32 %r10, [%rd4]; // @one
        ld.global.u32 %r12, [%rd4]; // @two
        add.u32 %r11, %r10, %r1; // @first
        add.u32 %r13, %r12, %r1; // @second\n";
    let bench = lone_warp("gtx480", 0, body);
    assert_eq!(bench.gap("one", "first"), 181);
    assert!(
        bench.gap("first", "second") <= 3,
        "{}",
        bench.gap("first", "second")
    );
    let totals = &bench.report().totals;
    let counters = &totals.sm.counters;
    assert_eq!((counters.l1d_misses, counters.l1d_merges), (1, 1));
    assert_eq!(totals.memory.l2_reads, 4, "the sectors of one line");
}

#[test]
fn a_kernel_ends_183_cycles_after_its_last_store() {
    let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; bar.sync 0;
        st.global.u32 [%rd4], %r1; // @store\n";
    let bench = lone_warp("gtx480", 0, body);
    let came = first(&bench.events(), 0, |e| {
        matches!(e, WarpEvent::Launched { .. })
    });
    let end = came - 1 + bench.report().totals.cycles;
    assert_eq!(end - bench.at("store"), 183);
}

/// The most blocks of an SM that were there at once, from arrivals and departures.
fn most_resident(events: &[Event], warps_per_block: u64) -> u64 {
    let (mut here, mut most) = (0u64, 0);
    let mut retired = 0;
    for (_, sm, _, event) in events {
        match event {
            WarpEvent::Launched { .. } if *sm == 0 => here += 1,
            WarpEvent::Retired if *sm == 0 => {
                retired += 1;
                // All warps of a block leave together in this test's kernel.
                if retired == warps_per_block {
                    here -= warps_per_block;
                    retired = 0;
                }
            }
            _ => {}
        }
        most = most.max(here / warps_per_block);
    }
    most
}

#[test]
fn an_sm_holds_as_many_blocks_as_its_scarcest_resource_allows() {
    for (shared, block, set, blocks) in [
        (0, 32, "sm.max_blocks=8", 8),
        (0, 512, "sm.max_threads=1536", 3),
        (20_000, 32, "shared.bytes=49152", 2),
        (0, 256, "sm.registers=2048", 2),
    ] {
        let one = machine("gtx480", &["gpu.sms=1", set]);
        let mut bench = Bench::new(one, &kernel(shared, "st.global.u32 [%rd1], %r1;"));
        bench.launch(1, block);
        let expected = bench.report().blocks_per_sm;
        bench.launch(20, block);
        let most = most_resident(&bench.events(), block as u64 / 32);
        assert_eq!((most, expected as u64), (blocks, blocks), "{set}");
        assert_eq!(bench.report().totals.sm.counters.blocks, 20);
    }
}

#[test]
fn two_schedulers_issue_together_from_even_and_odd_warps() {
    let body = "mov.f32 %f1, 0f3F800000; mov.u32 %r9, 0; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3;
        LOOP:
        add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; xor.b32 %r4, %r1, 3;
        ex2.approx.f32 %f2, %f1; // @sfu
        ld.global.u32 %r5, [%rd4]; // @mem
        add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 8; @%p1 bra LOOP;\n";
    for scheduler in common::issue_policies() {
        let set = format!("scheduler=\"{scheduler}\"");
        let mut bench = Bench::new(machine("gtx480", &[&set]), &kernel(0, body));
        bench.launch(1, 256).launch(1, 256);
        let (sfu, mem) = (bench.pc("sfu"), bench.pc("mem"));
        let issued: Vec<(u64, u16, u32)> = bench
            .events()
            .iter()
            .filter_map(|e| match e.3 {
                WarpEvent::Issued { pc, .. } => Some((e.0, e.2, pc)),
                _ => None,
            })
            .collect();
        let mut together = 0;
        for pair in issued.chunk_by(|a, b| a.0 == b.0) {
            assert!(pair.len() <= 2);
            if let [a, b] = pair {
                together += 1;
                assert_ne!(a.1 % 2, b.1 % 2, "one warp of each scheduler");
                assert!(!(a.2 == sfu && b.2 == sfu), "one SFU instruction per cycle");
                assert!(
                    !(a.2 == mem && b.2 == mem),
                    "one memory instruction per cycle"
                );
            }
        }
        assert!(together > 50, "{scheduler}: {together}");
    }
}

#[test]
fn the_sfu_takes_an_instruction_every_eight_cycles() {
    let mut body = String::from("mov.f32 %f1, 0f3F800000; bar.sync 0;\n");
    for i in 0..40 {
        body += &format!("ex2.approx.f32 %f{}, %f1; // @i{i}\n", 10 + i);
    }
    let bench = lone_warp("gtx480", 0, &body);
    // Collectors fill first; from then on the unit's pace is the issue pace.
    for i in 20..39 {
        assert_eq!(
            bench.gap(&format!("i{i}"), &format!("i{}", i + 1)),
            8,
            "{i}"
        );
    }
}
