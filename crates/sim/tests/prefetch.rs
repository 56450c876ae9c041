//! Prefetches: when their lines are there, what they take and what they never take, what is counted.

use crate::common;

use common::{Bench, check_laws, kernel, lone_warp, machine};
use warpsim_sim::gpu::Options;
use warpsim_sim::stats::{LaunchReport, SmCounters};

/// A warp that addresses a word of a line with each lane.
const ADDRESS: &str =
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; mov.u32 %r20, 1; bar.sync 0;\n";

/// On `gtx480` an instruction that needs what a load brings issues so many cycles behind it.
const FROM_L1: u64 = 39;
const FROM_L2: u64 = 181;

fn counters(bench: &Bench) -> &SmCounters {
    &bench.report().totals.sm.counters
}

/// A prefetch, so many other instructions, a load of the same line and its use.
fn prefetch_then_load(prefetch: &str, others: usize) -> Bench {
    let other: String = (0..others)
        .map(|n| format!("mov.u32 %r{}, %r1;\n", 20 + n % 40))
        .collect();
    let body = format!(
        "{ADDRESS}{prefetch} [%rd4]; // @prefetch\n{other}ld.global.u32 %r10, [%rd4]; // @load\n\
         add.u32 %r11, %r10, %r1; // @use\n"
    );
    // Instructions are there at once, so that gaps do not depend on where fetches begin.
    let mut bench = Bench::new(
        machine("gtx480", &["gpu.sms=1", "fetch.ideal=true"]),
        &kernel(0, &body),
    );
    bench.launch(1, 32).launch(1, 32);
    bench
}

/// The line of a prefetch is there when that of a load would be, in its cycle and not before: a load whose lookup comes
/// earlier waits for it as long as if it were the prefetch, one that comes later hits.
#[test]
fn a_prefetched_line_is_there_when_that_of_a_load_would_be() {
    for prefetch in ["prefetch.global.L1", "prefetch.L1", "prefetchu.L1"] {
        // How far ahead the prefetch was, and whether that was too late.
        let outcome = |others| {
            let bench = prefetch_then_load(prefetch, others);
            let c = counters(&bench);
            assert_eq!((c.l1d_prefetches, c.l1d_prefetches_useful), (1, 1));
            assert_eq!((c.l1d_misses, c.l1d_reads), (0, 1), "nothing is fetched");
            let late = c.l1d_prefetches_late == 1;
            assert_eq!((c.l1d_merges, c.l1d_hits), (late.into(), (!late).into()));
            match late {
                true => assert_eq!(bench.gap("prefetch", "use"), FROM_L2, "{others}"),
                false => assert_eq!(bench.gap("load", "use"), FROM_L1, "{others}"),
            }
            (bench.gap("prefetch", "load"), late)
        };
        // The fewest instructions between the two with which it is not too late.
        let (mut late, mut in_time) = (0, 200);
        assert!(outcome(late).1 && !outcome(in_time).1);
        while in_time - late > 1 {
            let between = (late + in_time) / 2;
            match outcome(between).1 {
                true => late = between,
                false => in_time = between,
            }
        }
        let (before, then) = (outcome(late).0, outcome(in_time).0);
        assert!(then - before <= 2, "{before} {then}");
        // What the way to L2 and back adds to a hit, but for the cycles from the line to the register.
        let way = FROM_L2 - FROM_L1;
        assert!(before < way && way <= then + 4, "{before} {then}");
    }
}

/// A load that misses in L2 takes longer; one of a line that was prefetched into L2 only so long as from there, and the L1 has
/// not got it.
#[test]
fn a_prefetch_into_l2_brings_the_line_there_and_no_further() {
    let cold = ["gpu.sms=1", "gpu.flush_l2_between_kernels=true"];
    let used = |prefetch: &str| {
        let wait = "div.s32 %r20, %r1, %r20; add.u32 %r20, %r20, 1;\n".repeat(6);
        let body = format!(
            "{ADDRESS}{prefetch}\n{wait}ld.global.u32 %r10, [%rd4]; // @load\n\
             add.u32 %r11, %r10, %r1; // @use\n"
        );
        let mut bench = Bench::new(machine("gtx480", &cold), &kernel(0, &body));
        bench.launch(1, 32).launch(1, 32);
        bench
    };
    let plain = used("").gap("load", "use");
    assert!(plain > FROM_L2 + 50, "{plain}");
    for prefetch in ["prefetch.global.L2 [%rd4];", "prefetch.L2 [%rd4];"] {
        let bench = used(prefetch);
        assert_eq!(bench.gap("load", "use"), FROM_L2);
        let totals = &bench.report().totals;
        let (c, m) = (counters(&bench), &totals.memory);
        assert_eq!((c.l1d_misses, c.l1d_prefetches), (1, 0));
        assert_eq!((c.prefetch_instructions, c.prefetch_transactions), (1, 1));
        assert_eq!(
            (m.l2_prefetches, m.l2_prefetches_dropped),
            (4, 0),
            "sectors"
        );
        assert_eq!(m.l2_reads, 4, "the load's");
        // Nothing comes back for it: a request and four sectors, instructions and parameters aside, as without.
        let plain = used("");
        assert_eq!(m.reply_packets, plain.report().totals.memory.reply_packets);
        assert_eq!(
            m.request_packets,
            plain.report().totals.memory.request_packets + 1
        );
    }
    let l1 = used("prefetch.global.L1 [%rd4];");
    assert_eq!(l1.gap("load", "use"), FROM_L1);
}

/// A prefetch is looked up like a load, a line per cycle, and its warp waits for nothing.
#[test]
fn a_prefetch_asks_for_each_line_once_and_holds_no_warp_up() {
    let body = "mul.wide.u32 %rd3, %r1, 64; add.u64 %rd4, %rd2, %rd3; mov.u32 %r20, 1; bar.sync 0;
        prefetch.global.L1 [%rd4]; // @prefetch
        add.u32 %r11, %r20, %r1; // @next\n";
    let bench = lone_warp("gtx480", 0, body);
    let c = counters(&bench);
    assert_eq!((c.prefetch_instructions, c.prefetch_transactions), (1, 16));
    assert_eq!(c.l1d_prefetch_lookups, 16);
    assert_eq!(c.l1d_prefetches, 16);
    assert!(bench.gap("prefetch", "next") <= 2);
    assert_eq!(
        c.l1d_prefetches_unused, 16,
        "the block leaves, and no load used them"
    );
    // Without an L1 data cache the lines come as far as L2.
    let mut bench = Bench::new(
        machine("gtx480", &["gpu.sms=1", "l1d.sets=0"]),
        &kernel(0, body),
    );
    bench.launch(1, 32);
    assert_eq!(counters(&bench).l1d_prefetch_lookups, 0);
    assert_eq!(bench.report().totals.memory.l2_prefetches, 64);
}

#[test]
fn where_there_is_nothing_to_fetch_nothing_happens() {
    let body = "cvta.shared.u64 %rd5, %rd6; mov.u64 %rd7, 64; mov.u64 %rd8, -8; mov.u64 %rd9, tile;
        cvta.shared.u64 %rd9, %rd9; setp.gt.u32 %p1, %r1, 100;
        prefetch.L1 [%rd9]; prefetch.global.L2 [%rd7]; prefetch.L1 [%rd8]; prefetchu.L1 [%rd7];
        @%p1 prefetch.global.L1 [%rd2];\n";
    let bench = lone_warp("gtx480", 64, body);
    let c = counters(&bench);
    assert_eq!(
        c.l1d_prefetch_lookups + bench.report().totals.memory.l2_prefetches,
        0
    );
}

/// Local memory has lines, too; `prefetchu` is for global memory alone.
#[test]
fn local_memory_is_prefetched_but_not_as_uniform() {
    for (prefetch, lines) in [
        ("prefetch.local.L1 [%rd5];", 1),
        ("prefetch.L1 [%rd6];", 1),
        ("prefetchu.L1 [%rd6];", 0),
    ] {
        let body = format!(
            ".local .align 4 .b8 own[16]; mov.u64 %rd5, own; cvta.local.u64 %rd6, %rd5;\n{prefetch}\n"
        );
        let bench = lone_warp("gtx480", 0, &body);
        assert_eq!(counters(&bench).l1d_prefetches, lines, "{prefetch}");
    }
}

/// A warp that reads one line after the other, each when it has the one before.
const CHAIN: &str =
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; mov.u32 %r9, 0; bar.sync 0;
    LOOP:
    ld.global.u32 %r10, [%rd4]; // @load
    add.u32 %r11, %r10, %r11;
    div.u32 %r12, %r11, 7; div.u32 %r12, %r12, 7; add.u32 %r12, %r12, 1;
    add.u64 %rd4, %rd4, 128; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 16; @%p1 bra LOOP;\n";

fn chain(set: &[&str]) -> Bench {
    let set = [&["gpu.sms=1"], set].concat();
    let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, CHAIN));
    bench.launch(1, 32).launch(1, 32);
    bench
}

#[test]
fn next_line_fetches_the_line_behind_a_miss_or_a_first_use() {
    let bench = chain(&["l1d.prefetch=next-line"]);
    let c = counters(&bench);
    // A miss, a hit of what followed it, a miss...
    assert_eq!((c.l1d_misses, c.l1d_hits, c.l1d_prefetches), (8, 8, 8));
    assert_eq!((c.l1d_prefetches_useful, c.l1d_prefetches_unused), (8, 0));
    let bench = chain(&["l1d.prefetch=next-line", "l1d.prefetch.on=first-use"]);
    let c = counters(&bench);
    assert_eq!((c.l1d_misses, c.l1d_hits, c.l1d_prefetches), (1, 15, 16));
    assert_eq!((c.l1d_prefetches_useful, c.l1d_prefetches_unused), (15, 1));
    assert_eq!((c.l1d_prefetches_late, c.l1d_prefetches_dropped), (0, 0));
}

#[test]
fn a_stride_is_followed_from_the_third_load_on() {
    let bench = chain(&["l1d.prefetch=stride"]);
    let c = counters(&bench);
    // Misses on lines 0, 1 and 2, the last of which shows that the stride holds.
    assert_eq!((c.l1d_misses, c.l1d_hits, c.l1d_prefetches), (3, 13, 14));
    assert_eq!((c.l1d_prefetches_useful, c.l1d_prefetches_unused), (13, 1));
    let plain = chain(&[]);
    assert_eq!(counters(&plain).l1d_misses, 16);
    assert_eq!(counters(&plain).l1d_prefetch_lookups, 0);
    let saved = plain.report().totals.cycles - bench.report().totals.cycles;
    assert_eq!(saved, 13 * (FROM_L2 - FROM_L1));
}

/// With a distance of one stride a load that comes as soon as it can finds its line on its way.
#[test]
fn what_is_wanted_too_late_is_counted_as_late() {
    let body = CHAIN.replace("div.u32 %r12, %r11, 7; div.u32 %r12, %r12, 7;", "");
    let late = |set: &[&str]| {
        let set = [&["gpu.sms=1", "l1d.prefetch=stride"], set].concat();
        let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, &body));
        bench.launch(1, 32).launch(1, 32);
        let c = counters(&bench);
        assert!(c.l1d_prefetches_useful >= 10, "{}", c.l1d_prefetches_useful);
        (c.l1d_prefetches_late, bench.report().totals.cycles)
    };
    let (near, far) = (late(&[]), late(&["l1d.prefetch.distance=4"]));
    assert!(near.0 > 0 && far.0 == 0, "{near:?} {far:?}");
    assert!(far.1 < near.1, "{near:?} {far:?}");
}

#[test]
fn a_full_queue_drops_what_is_wanted() {
    let bench = chain(&[
        "l1d.prefetch=next-line",
        "l1d.prefetch.degree=8",
        "l1d.prefetch_queue=3",
    ]);
    let c = counters(&bench);
    assert!(c.l1d_prefetches_dropped > 0);
    assert_eq!(
        c.l1d_prefetches_dropped % 5,
        0,
        "three of each eight find a place"
    );
}

/// Lookups of prefetches cost as much as others.
#[test]
fn prefetches_are_in_the_energy_ledger() {
    let with_l1 = |set: &[&str]| chain(set).report().totals.energy.sm_memory;
    let free = |set: &[&str]| with_l1(&[&["energy.l1=0"], set].concat());
    let picojoules = |set: &[&str], lookups: u64| {
        let each = u64::from(machine("gtx480", &[]).energy.l1);
        let spent = with_l1(set) - free(set);
        assert!(spent.abs_diff(lookups * each / 1000) <= 1, "{spent}");
    };
    picojoules(&[], 16);
    picojoules(&["l1d.prefetch=stride"], 16 + 14);
}

/// Several warps that read, write and read again over more than the cache holds, in strides and at random, and prefetch
/// themselves.
const MIXED: &str = "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r4, %r20, %r21, %r1; mov.u32 %r9, 0;
    mul.lo.u32 %r5, %r4, 4; mov.u32 %r10, 0;
    LOOP:
    and.b32 %r6, %r5, 65532; cvt.u64.u32 %rd3, %r6; add.u64 %rd4, %rd2, %rd3;
    ld.global.u32 %r7, [%rd4]; add.u32 %r10, %r10, %r7;
    mad.lo.u32 %r8, %r4, 2820, %r9; mul.lo.u32 %r8, %r8, 132; and.b32 %r8, %r8, 65532;
    cvt.u64.u32 %rd5, %r8; add.u64 %rd6, %rd2, %rd5; ld.global.u32 %r11, [%rd6];
    add.u64 %rd7, %rd6, 256; and.b32 %r12, %r9, 3; setp.eq.u32 %p2, %r12, 1;
    @%p2 prefetch.global.L1 [%rd7]; setp.eq.u32 %p3, %r12, 2; @%p3 prefetch.global.L2 [%rd7];
    add.u32 %r10, %r10, %r11; mul.wide.u32 %rd8, %r4, 4; add.u64 %rd9, %rd1, %rd8; st.global.u32 [%rd9], %r10;
    add.u32 %r5, %r5, 3072; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 24; @%p1 bra LOOP;\n";

fn mixed(set: &[&str], options: Options, observed: bool) -> (Vec<LaunchReport>, Vec<u32>) {
    let set = [&["gpu.sms=4"], set].concat();
    let ptx = kernel(0, MIXED);
    let machine = machine("gtx480", &set);
    let mut bench = match observed {
        true => Bench::with(machine.clone(), &ptx, options),
        false => Bench::unobserved(machine.clone(), &ptx, options),
    };
    bench.launch(9, 96).launch(5, 160);
    check_laws(bench.report(), &machine);
    (bench.gpu.reports().to_vec(), bench.output())
}

/// What holds of the prefetches of two launches, whatever is prefetched.
fn check_prefetches(reports: &[LaunchReport], lines: u64) {
    let sum = |of: fn(&SmCounters) -> u64| -> u64 {
        let each = reports.iter().map(|r| of(&r.totals.sm.counters));
        each.sum()
    };
    let (sent, useful) = (sum(|c| c.l1d_prefetches), sum(|c| c.l1d_prefetches_useful));
    let gone = useful + sum(|c| c.l1d_prefetches_unused);
    assert!(sent > 0 && useful > 0, "{sent} {useful}");
    // The others are still there.
    assert!(gone <= sent && sent <= gone + lines, "{gone} of {sent}");
    assert!(sum(|c| c.l1d_prefetches_late) <= useful);
    assert!(sent <= sum(|c| c.l1d_prefetch_lookups));
    let found = sum(|c| c.l1d_hits + c.l1d_misses + c.l1d_merges);
    assert_eq!(sum(|c| c.l1d_reads), found);
}

const MACHINES: [&[&str]; 8] = [
    &[],
    &[
        "l1d.prefetch=next-line",
        "l1d.prefetch.on=load",
        "l1d.prefetch.degree=4",
    ],
    &[
        "l1d.prefetch=stride",
        "l1d.prefetch.by=pc-and-warp",
        "l1d.prefetch.distance=2",
    ],
    &[
        "l1d.prefetch=stride",
        "l1d.latency=0",
        "l1d.miss_queue=2",
        "l1d.mshrs=4",
    ],
    &[
        "l1d.prefetch=next-line",
        "l1d.global_write=write-back",
        "scheduler=ccws",
    ],
    &[
        "l1d.prefetch=next-line",
        "l1d.replacement=srrip",
        "l2.replacement=random",
        "l2.sets=2",
    ],
    &[
        "l1d.replacement=fifo",
        "l1i.replacement=random",
        "constant.replacement=srrip",
        "l1d.sets=16",
    ],
    &[
        "l1d.replacement=random",
        "l1d.latency=0",
        "l2.replacement=srrip",
        "l2.sets=2",
    ],
];

#[test]
fn statistics_are_the_same_watched_or_not_stepped_or_skipped_on_any_number_of_threads() {
    let plain = mixed(&[], Options::default(), false).1;
    for set in MACHINES {
        let (report, output) = mixed(set, Options::default(), false);
        assert_eq!(output, plain, "{set:?}");
        check_prefetches(&report, 4 * 128);
        assert_eq!(
            mixed(set, Options::default(), true).0,
            report,
            "{set:?} watched"
        );
        let stepped = Options {
            skip: false,
            ..Options::default()
        };
        assert_eq!(mixed(set, stepped, false).0, report, "{set:?} stepped");
        for threads in [2, 3] {
            let options = Options {
                threads,
                ..Options::default()
            };
            let on_threads = mixed(set, options, false).0;
            assert_eq!(on_threads, report, "{set:?} on {threads} threads");
        }
    }
}
