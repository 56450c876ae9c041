//! Laws of the network as a whole GPU shows them: ports that SMs share, and stores that nothing comes back for.

use crate::common;

use common::{Bench, check_laws, kernel, machine};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::stats::WarpState;

/// Loads, stores and an atomic of each thread, over and over.
const TRAFFIC: &str = "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %rd4, %r3, 4;
    and.b64 %rd4, %rd4, 32764; add.u64 %rd5, %rd2, %rd4; add.u64 %rd6, %rd1, %rd4; mov.u32 %r4, 0;
    MORE: ld.global.u32 %r5, [%rd5]; add.u32 %r6, %r5, %r4; st.global.u32 [%rd6], %r6;
    ld.global.cg.u32 %r7, [%rd5+128]; add.u32 %r8, %r7, %r6; st.global.u32 [%rd6+128], %r8;
    red.global.add.u32 [%rd1+60000], 1; membar.gl; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 2; @%p1 bra MORE;";

fn on(threads: usize) -> Options {
    Options {
        threads,
        ..Options::default()
    }
}

#[test]
fn a_shared_port_and_silent_stores_are_the_same_on_any_number_of_threads_watched_or_not() {
    let small = ["gpu.sms=10"];
    let tight = [
        "gpu.sms=10",
        "interconnect.sms_per_port=4",
        "interconnect.store_replies=false",
        "interconnect.reply_queue=1",
        "l2.latency=40",
    ];
    for (preset, set) in [
        ("fx5800-211b", &small[..]),
        ("gtx480-v302", &small[..]),
        ("gtx480", &tight[..]),
    ] {
        let ptx = kernel(0, TRAFFIC);
        let on_machine = || machine(preset, set);
        let seen = |bench: &mut Bench| {
            bench.launch(24, 64);
            check_laws(bench.report(), &on_machine());
            let counted = bench.output()[60000 / 4];
            assert_eq!(counted, 24 * 64 * 2, "{preset}: atomics");
            (bench.output(), format!("{:?}", bench.report().totals))
        };
        let watched = seen(&mut Bench::new(on_machine(), &ptx));
        for threads in [1, 3, 9] {
            let mut bench = Bench::unobserved(on_machine(), &ptx, on(threads));
            assert!(seen(&mut bench) == watched, "{preset} on {threads} threads");
        }
    }
}

#[test]
fn a_fence_waits_for_acknowledgements_or_until_stores_have_left() {
    let body = "st.global.u32 [%rd1], %r1; // @store\nmembar.gl; // @fence\nadd.u32 %r2, %r1, 1; // @next\n";
    let gap = |set: &[&str]| {
        let set = [set, &["gpu.sms=1"]].concat();
        let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, body));
        bench.launch(1, 32).launch(1, 32);
        bench.gap("store", "next")
    };
    // Network, partition and network, against the pipeline and the queue to the cache.
    let (acknowledged, silent) = (gap(&[]), gap(&["interconnect.store_replies=false"]));
    assert!(acknowledged > 120 && silent < 60, "{acknowledged} {silent}");
    let bypasses = ["interconnect.store_replies=false", "l1d.sets=0"];
    assert!(gap(&bypasses) < silent, "no cache is in the way");
}

#[test]
fn without_acknowledgements_a_warp_leaves_when_its_stores_have_but_the_launch_waits_for_them() {
    let run = |set: &[&str]| {
        let set = [set, &["gpu.sms=1"]].concat();
        let mut bench = Bench::new(
            machine("gtx480", &set),
            &kernel(0, "st.global.u32 [%rd1], %r1;"),
        );
        bench.launch(1, 32).launch(1, 32);
        let totals = &bench.report().totals;
        let replies = totals.memory.reply_flits;
        (
            totals.sm.warps.get(WarpState::ExitStores),
            totals.cycles,
            replies,
        )
    };
    let (waits, cycles, replies) = run(&[]);
    let (leaves, sooner, silent) = run(&["interconnect.store_replies=false"]);
    assert!(waits > leaves + 100, "{waits} {leaves}");
    assert_eq!(replies - silent, 1, "an acknowledgement for the sector");
    // To the partition and its delay it still goes; back it does not.
    assert!(sooner < cycles && cycles - sooner < 20, "{cycles} {sooner}");
}

/// Cycles of blocks that load all the time, one on each SM.
fn cycles(set: &[&str]) -> u64 {
    let body = "mov.u32 %r2, %ctaid.x; mul.lo.u32 %r2, %r2, 4096; cvt.u64.u32 %rd4, %r2; add.u64 %rd5, %rd2, %rd4;
        mul.wide.u32 %rd6, %r1, 4; add.u64 %rd5, %rd5, %rd6; mov.u32 %r4, 0;
        MORE: ld.global.cg.u32 %r5, [%rd5]; ld.global.cg.u32 %r6, [%rd5+1024]; ld.global.cg.u32 %r7, [%rd5+2048];
        add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 10; @%p1 bra MORE; add.u32 %r8, %r5, %r6; add.u32 %r8, %r8, %r7;
        st.global.u32 [%rd1], %r8;";
    // Five flits for a sector of 32 bytes: the network is what is short.
    let narrow = ["interconnect.flit=8", "interconnect.injection_queue=32"];
    let set = [set, &narrow, &["gpu.sms=6", "sm.max_blocks=1"]].concat();
    let machine: Machine = machine("gtx480", &set);
    let mut bench = Bench::unobserved(machine, &kernel(0, body), on(1));
    bench.launch(6, 512);
    bench.report().totals.cycles
}

#[test]
fn sms_that_share_a_port_get_its_bandwidth_together() {
    let own = cycles(&[]);
    let three = cycles(&["interconnect.sms_per_port=3"]);
    let six = cycles(&["interconnect.sms_per_port=6"]);
    // What they ask for comes at a flit per cycle and port.
    let times = |a: u64, b: u64| a as f64 / b as f64;
    assert!((2.5..3.1).contains(&times(three, own)), "{own} {three}");
    assert!((1.8..2.1).contains(&times(six, three)), "{three} {six}");
}

#[test]
fn lines_of_256_bytes_are_fetched_whole() {
    let reads = |line: u32, offset: u32| {
        let set = [format!("l2.line={line}"), format!("l2.sector={line}")];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let set = [&set[..], &["gpu.sms=1", "gpu.copies_warm_l2=false"]].concat();
        let body = format!(
            "ld.global.u32 %r2, [%rd2+8192]; add.u32 %r3, %r2, 1;\n\
             ld.global.u32 %r4, [%rd2+{}]; add.u32 %r5, %r4, %r3; st.global.u32 [%rd1], %r5;",
            8192 + offset
        );
        let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, &body));
        bench.launch(1, 32);
        let memory = &bench.report().totals.memory;
        (memory.dram_reads, memory.dram_read_bytes)
    };
    // Two lines of the L1: the second is there with the first, or is not.
    assert_eq!(reads(128, 128).0 - reads(128, 0).0, 1);
    assert_eq!(reads(256, 128), reads(256, 0));
    assert_eq!(reads(256, 256).1 - reads(256, 0).1, 256);
}

#[test]
fn a_network_with_credits_has_a_port_for_each_sm() {
    let set = [
        "interconnect.credits=true",
        "gpu.quantum=1",
        "interconnect.sms_per_port=3",
    ];
    let set = set.map(str::to_owned);
    let refused = Machine::resolve("gtx480", &set).expect_err("it is refused");
    assert!(
        refused
            .to_string()
            .contains("each SM has a port of its own"),
        "{refused}"
    );
}
