//! Virtual thread blocks: what kernels compute with them, and the rules of the hardware that hands
//! out logical blocks.

use crate::common;

use common::{Bench, Event, kernel, machine};
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::WarpState;

/// Two SMs with few places, so that virtual blocks have much to do.
fn with(set: &[&str]) -> Machine {
    let few = ["gpu.sms=2", "sm.max_blocks=3"];
    machine("gtx480", &[&few[..], set].concat())
}

/// Every way to run virtual blocks.
const WAYS: &[&[&str]] = &[
    &["virtual.mode=software"],
    &["virtual.mode=software", "virtual.blocks=1"],
    &["virtual.mode=hardware"],
    &["virtual.mode=hardware", "virtual.blocks=1"],
    &["virtual.mode=hardware", "virtual.next_tid=slowest-lane"],
    &[
        "virtual.mode=hardware",
        "virtual.next_tid=low-to-high",
        "virtual.blocks=2",
    ],
    &["virtual.mode=hardware", "scheduler=progress"],
    &[
        "virtual.mode=hardware",
        "scheduler=progress",
        "virtual.next_tid=slowest-lane",
    ],
    &[
        "virtual.mode=hardware",
        "divergence=pdom-lcp",
        "virtual.latency=77",
    ],
];

/// Where thread `%r10` of all (its number in `%rd10` times four) puts its result.
const OWN_PLACE: &str = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r10, %r2, %r3, %r1;\n\
                         mul.wide.u32 %rd10, %r10, 4; add.u64 %rd11, %rd1, %rd10;\n";

/// Kernels of awkward shapes: name, bytes of shared memory, body.
fn shapes() -> Vec<(&'static str, u32, String)> {
    let plain = format!("{OWN_PLACE} add.u32 %r4, %r10, 7; st.global.u32 [%rd11], %r4;");
    // Some threads return at once, some later, under a guard and by a branch.
    let exits = format!(
        "{OWN_PLACE} and.b32 %r4, %r10, 3; setp.eq.u32 %p1, %r4, 1; @%p1 ret;\n\
         setp.eq.u32 %p2, %r4, 2; @%p2 exit;\n\
         add.u32 %r5, %r10, 1; st.global.u32 [%rd11], %r5; setp.eq.u32 %p3, %r4, 3; @%p3 bra DONE;\n\
         add.u32 %r5, %r5, 100; st.global.u32 [%rd11], %r5; DONE: ret;"
    );
    let local = format!(
        ".local .align 4 .b8 own[64]; {OWN_PLACE} mov.u64 %rd3, own; and.b32 %r4, %r1, 7; mul.wide.u32 %rd4, %r4, 4;\n\
         add.u64 %rd5, %rd3, %rd4; st.local.u32 [%rd5], %r10; st.local.u32 [own+32], %r1; ld.local.u32 %r5, [%rd5];\n\
         ld.local.u32 %r6, [own+32]; add.u32 %r5, %r5, %r6; st.global.u32 [%rd11], %r5;"
    );
    // The neighbour's word, through shared memory, twice.
    let exchange = "shl.b32 %r4, %r1, 2; mov.u32 %r5, tile; add.u32 %r6, %r5, %r4; st.shared.u32 [%r6], %r10; bar.sync 0;\n\
         add.u32 %r7, %r1, 1; rem.u32 %r7, %r7, %r3; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r5; ld.shared.u32 %r8, [%r7];\n\
         bar.sync 0; mad.lo.u32 %r8, %r8, 3, 1; st.shared.u32 [%r6], %r8; bar.sync 0; ld.shared.u32 %r9, [%r7];\n\
         st.global.u32 [%rd11], %r9;";
    let shared = format!("{OWN_PLACE} {exchange}");
    // Whole warps, and parts of warps, return before barriers that others wait at.
    let returns = format!(
        "{OWN_PLACE} shr.u32 %r4, %r1, 5; add.u32 %r4, %r4, %r2; rem.u32 %r4, %r4, 3; setp.eq.u32 %p1, %r4, 0;\n\
         st.global.u32 [%rd11], %r4; @%p1 bra OUT;\n\
         and.b32 %r5, %r1, 5; setp.eq.u32 %p2, %r5, 5; @%p2 ret;\n\
         shl.b32 %r6, %r1, 2; mov.u32 %r7, tile; add.u32 %r8, %r7, %r6; st.shared.u32 [%r8], %r10; bar.sync 0;\n\
         ld.shared.u32 %r9, [%r8]; bar.sync 0; add.u32 %r9, %r9, 5; st.global.u32 [%rd11], %r9; OUT: ret;"
    );
    // Work that differs from warp to warp, in the order of what the block number says.
    let uneven = format!(
        "{OWN_PLACE} shr.u32 %r4, %r1, 5; mad.lo.u32 %r4, %r2, 7, %r4; rem.u32 %r4, %r4, 5; mul.lo.u32 %r4, %r4, 30;\n\
         mov.u32 %r5, %r10; MORE: setp.eq.u32 %p1, %r4, 0; @%p1 bra ENOUGH; mad.lo.u32 %r5, %r5, 5, 3; sub.u32 %r4, %r4, 1; bra MORE;\n\
         ENOUGH: {} xor.b32 %r9, %r9, %r5; st.global.u32 [%rd11], %r9;",
        exchange
    );
    let atomic = format!(
        "{OWN_PLACE} atom.global.add.u32 %r4, [%rd1+32768], 1; red.global.max.u32 [%rd1+32772], %r10;\n\
         st.global.u32 [%rd11], %r10;"
    );
    vec![
        ("plain", 0, plain),
        ("exits", 0, exits),
        ("local", 0, local),
        ("shared", 1024, shared),
        ("returns", 1024, returns),
        ("uneven", 1024, uneven),
        ("atomic", 0, atomic),
    ]
}

fn options(functional: bool) -> Options {
    Options {
        functional,
        max_cycles: Some(3_000_000),
        ..Options::default()
    }
}

/// The memory that a kernel leaves.
fn memory(set: &[&str], ptx: &str, shape: [[u32; 3]; 2], functional: bool) -> Vec<u32> {
    let mut bench = Bench::unobserved(with(set), ptx, options(functional));
    let launched = bench.try_launch(shape[0], shape[1], 0);
    launched.unwrap_or_else(|e| panic!("{set:?} {shape:?}: {e}\n{ptx}"));
    bench.output()
}

#[test]
fn kernels_of_every_shape_compute_the_same() {
    for (name, shared, body) in shapes() {
        let ptx = kernel(shared, &body);
        for threads in [25, 61, 120, 169, 208, 256] {
            let shape = [[19, 1, 1], [threads, 1, 1]];
            let expected = memory(&[], &ptx, shape, false);
            for way in WAYS {
                for functional in [false, true] {
                    let got = memory(way, &ptx, shape, functional);
                    assert_eq!(got, expected, "{name} {threads} {way:?} {functional}");
                }
            }
        }
    }
}

/// Threads that have returned are named by those that vote, shuffle and meet: none waits for them. (In the software variant they wait
/// for their next block in plain PTX, and naming them is as wrong as it would be on a GPU.)
#[test]
fn threads_that_have_returned_are_no_longer_members() {
    let body = format!(
        "{OWN_PLACE} add.u32 %r4, %r10, %r2; and.b32 %r4, %r4, 7; setp.eq.u32 %p1, %r4, 3; @%p1 ret;\n\
         setp.gt.u32 %p2, %r4, 4; vote.sync.ballot.b32 %r5, %p2, 0xffffffff; bar.warp.sync 0xffffffff;\n\
         shfl.sync.bfly.b32 %r6, %r10, 1, 0x1f, 0xffffffff; match.any.sync.b32 %r7, %r4, 0xffffffff;\n\
         add.u32 %r8, %r5, %r6; xor.b32 %r8, %r8, %r7; st.global.u32 [%rd11], %r8; setp.eq.u32 %p3, %r4, 6; @%p3 ret;\n\
         vote.sync.any.pred %p4, %p2, 0xffffffff; selp.u32 %r9, 1, 2, %p4; add.u32 %r8, %r8, %r9; st.global.u32 [%rd11], %r8;"
    );
    let ptx = kernel(0, &body);
    for threads in [25, 61, 256] {
        let shape = [[19, 1, 1], [threads, 1, 1]];
        let expected = memory(&[], &ptx, shape, false);
        for way in WAYS
            .iter()
            .filter(|way| way.contains(&"virtual.mode=hardware"))
        {
            for functional in [false, true] {
                let got = memory(way, &ptx, shape, functional);
                assert_eq!(got, expected, "{threads} {way:?} {functional}");
            }
        }
    }
}

#[test]
fn indices_of_several_dimensions_are_recovered() {
    // Every thread writes its own number, made of all six indices and the sizes of the grid.
    let body = "mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n\
        mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %ntid.z; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;\n\
        mad.lo.u32 %r12, %r6, %r11, %r5; mad.lo.u32 %r12, %r12, %r10, %r4; mad.lo.u32 %r12, %r12, %r9, %r3;\n\
        mad.lo.u32 %r12, %r12, %r8, %r2; mad.lo.u32 %r12, %r12, %r7, %r1; mul.wide.u32 %rd10, %r12, 4; add.u64 %rd11, %rd1, %rd10;\n\
        mad.lo.u32 %r13, %r1, 11, %r2; mad.lo.u32 %r13, %r13, 13, %r3; mad.lo.u32 %r13, %r13, 17, %r4; mad.lo.u32 %r13, %r13, 19, %r5;\n\
        mad.lo.u32 %r13, %r13, 23, %r6; mov.u32 %r14, %nctaid.z; add.u32 %r13, %r13, %r14; st.global.u32 [%rd11], %r13;";
    let ptx = kernel(0, body);
    for shape in [
        [[3, 4, 5], [8, 4, 2]],
        [[1, 7, 2], [5, 6, 3]],
        [[9, 1, 1], [13, 1, 3]],
    ] {
        let expected = memory(&[], &ptx, shape, false);
        for way in WAYS {
            for functional in [false, true] {
                let got = memory(way, &ptx, shape, functional);
                assert_eq!(got, expected, "{shape:?} {way:?} {functional}");
            }
        }
    }
}

/// A kernel whose device functions read indices, one of them through another.
const FUNCTIONS: &str = "
.version 6.0
.target sm_35
.address_size 64
.func (.param .b32 r) block_of(.param .b32 scale)
{
    .reg .b32 %a<4>;
    ld.param.u32 %a1, [scale];
    mov.u32 %a2, %ctaid.x;
    mul.lo.u32 %a3, %a2, %a1;
    st.param.b32 [r], %a3;
    ret;
}
.func (.param .b32 r) place_of()
{
    .reg .b32 %b<6>;
    mov.u32 %b1, %ntid.x;
    {
        .param .b32 p; .param .b32 q;
        st.param.b32 [p], %b1;
        call (q), block_of, (p);
        ld.param.b32 %b2, [q];
    }
    mov.u32 %b3, %tid.x;
    add.u32 %b4, %b2, %b3;
    st.param.b32 [r], %b4;
    ret;
}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    {
        .param .b32 q;
        call (q), place_of, ();
        ld.param.b32 %r1, [q];
    }
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    add.u32 %r2, %r1, 9;
    st.global.u32 [%rd3], %r2;
    ret;
}
";

#[test]
fn device_functions_that_read_indices_get_them() {
    let shape = [[17, 1, 1], [96, 1, 1]];
    let expected = memory(&[], FUNCTIONS, shape, false);
    assert_eq!(expected[16 * 96 + 5], 16 * 96 + 5 + 9);
    for way in WAYS {
        assert_eq!(memory(way, FUNCTIONS, shape, false), expected, "{way:?}");
    }
}

#[test]
fn several_launches_follow_each_other() {
    let body = format!(
        "{OWN_PLACE} ld.global.u32 %r4, [%rd11]; mad.lo.u32 %r4, %r4, 3, %r10; st.global.u32 [%rd11], %r4;"
    );
    let ptx = kernel(0, &body);
    let run = |set: &[&str]| {
        let mut bench = Bench::unobserved(with(set), &ptx, options(false));
        for (grid, block) in [(20, 64), (3, 169), (40, 25), (1, 32)] {
            bench.launch(grid, block);
        }
        bench.output()
    };
    let expected = run(&[]);
    for way in WAYS {
        assert_eq!(run(way), expected, "{way:?}");
    }
}

#[test]
fn skipped_and_stepped_runs_are_equal_and_quanta_change_no_result() {
    for (name, shared, body) in shapes() {
        let ptx = kernel(shared, &body);
        let run = |set: &[&str], skip: bool| {
            let options = Options {
                skip,
                ..options(false)
            };
            let mut bench = Bench::unobserved(with(set), &ptx, options);
            bench.launch(23, 169);
            (bench.report().clone(), bench.output())
        };
        for way in WAYS {
            let skipped = run(way, true);
            assert_eq!(skipped, run(way, false), "{name} {way:?}");
            for quantum in ["gpu.quantum=1", "gpu.quantum=2", "gpu.quantum=3"] {
                let (_, output) = run(&[&[quantum], *way].concat(), true);
                assert_eq!(output, skipped.1, "{name} {way:?} {quantum}");
            }
        }
    }
}

#[test]
fn every_scheduler_of_stacks_runs_virtual_warps() {
    let (_, shared, body) = shapes().remove(5);
    let ptx = kernel(shared, &body);
    let shape = [[19, 1, 1], [169, 1, 1]];
    let expected = memory(&[], &ptx, shape, false);
    // Gangs, too: on wide warps each is a warp by itself.
    for scheduler in common::issue_policies() {
        let scheduler = format!("scheduler={scheduler}");
        let set = [scheduler.as_str(), "virtual.mode=hardware"];
        assert_eq!(memory(&set, &ptx, shape, false), expected, "{scheduler}");
    }
}

/// The events of a kernel on one SM with one place.
fn alone(set: &[&str], shared: u32, body: &str, blocks: u32, threads: u32) -> (Bench, Vec<Event>) {
    let one = ["gpu.sms=1", "sm.max_blocks=1", "virtual.mode=hardware"];
    let machine = machine("gtx480", &[&one[..], set].concat());
    let mut bench = Bench::with(machine, &kernel(shared, body), options(false));
    bench.launch(blocks, threads);
    let events = bench.events();
    (bench, events)
}

/// Warp w of block b sleeps for `table[b][w]` units of 10,000 ns (7,000 cycles on gtx480).
fn sleeper(table: &[[u32; 3]]) -> String {
    let mut body = String::from(
        "mov.u32 %r2, %ctaid.x; shr.u32 %r3, %r1, 5; mad.lo.u32 %r4, %r2, 3, %r3; mov.u32 %r5, 0;\n",
    );
    for (number, time) in table.iter().flatten().enumerate() {
        body += &format!(
            "setp.eq.u32 %p1, %r4, {number}; @%p1 mov.u32 %r5, {};\n",
            time * 10_000
        );
    }
    body + "nanosleep.u32 %r5;"
}

/// The paper's first figure: three blocks of three warps with one place take 145 units of time,
/// and 120 if no warp waits for its siblings.
#[test]
fn figure_1() {
    let table = [[40, 50, 30], [50, 30, 40], [28, 40, 45]];
    let body = sleeper(&table);
    let unit = 7000.0;
    for (set, units) in [(vec!["virtual.mode=off"], 145.0), (vec![], 120.0)] {
        let (bench, _) = alone(&set, 0, &body, 3, 96);
        let took = bench.report().totals.cycles as f64 / unit;
        assert!((took - units).abs() < 0.5, "{set:?}: {took} units");
    }
}

#[test]
fn warps_are_at_most_one_iteration_apart() {
    // Warp 1 is slow for its first block: the others finish a second one and then wait.
    let table = [[1, 60, 1], [2, 1, 2], [1, 1, 1], [1, 1, 1]];
    let (bench, events) = alone(&[], 0, &sleeper(&table), 4, 96);
    let mut iteration = [0u64; 3];
    let mut largest = 0;
    for (_, _, slot, event) in &events {
        if let WarpEvent::NextBlock { block, .. } = event {
            iteration[*slot as usize] += 1;
            assert_eq!(*block, iteration[*slot as usize], "one place: in order");
        }
        let apart = iteration.iter().max().unwrap_or(&0) - iteration.iter().min().unwrap_or(&0);
        largest = largest.max(apart);
    }
    assert_eq!(largest, 1);
    assert_eq!(iteration, [3, 3, 3]);
    // The time of the two that wait for the third counts as that of finished warps.
    let waits = |state| bench.report().totals.sm.warps.get(state);
    assert!(waits(WarpState::ExitSiblings) > 2 * 50 * 7000);
    assert!(waits(WarpState::NextBlock) > 0);
    let counters = &bench.report().totals.sm.counters;
    assert_eq!(counters.next_blocks, 3);
    assert!(counters.next_tb_wait >= waits(WarpState::NextBlock));
    assert_eq!(bench.report().totals.sm.warps.sum(), counters.warp_cycles);
    assert_eq!(bench.report().virtual_blocks, Some(1));
}

/// Which indices the warps in slots 0, 1, 2 and 3 take for the second block; the last is partial.
fn taken(scheme: &str, table: &[[u32; 3]]) -> Vec<u16> {
    let scheme = format!("virtual.next_tid={scheme}");
    let (_, events) = alone(&[&scheme], 0, &sleeper(table), 2, 96);
    let mut indices = vec![9; 3];
    for (_, _, slot, event) in events {
        if let WarpEvent::NextBlock { warp, .. } = event {
            indices[slot as usize] = warp;
        }
    }
    indices
}

#[test]
fn each_scheme_hands_out_its_indices() {
    // Finishing order 2, 0, 1.
    let table = [[5, 9, 2], [1, 1, 1]];
    assert_eq!(taken("same-lane", &table), [0, 1, 2]);
    assert_eq!(taken("low-to-high", &table), [1, 2, 0]);
    // When the first finishes, all have executed the same instructions but one: it has executed
    // `vtw.next_tb`. The others are as slow as each other, the lower index first.
    assert_eq!(taken("slowest-lane", &table), [1, 2, 0]);
}

/// The cycles at which a slot did what `which` says.
fn cycles(events: &[Event], slot: u16, which: impl Fn(&WarpEvent) -> bool) -> Vec<u64> {
    let of = events.iter().filter(|e| e.2 == slot && which(&e.3));
    of.map(|e| e.0).collect()
}

#[test]
fn a_warp_that_is_ahead_touches_shared_memory_when_its_siblings_are_done() {
    let table = [[1, 20, 1], [1, 1, 1]];
    // Before: the sleep; then a store to shared memory, and one to global memory before it.
    let body = format!(
        "{} st.global.u32 [%rd1+60000], %r1; shl.b32 %r6, %r1, 2; mov.u32 %r7, tile; add.u32 %r8, %r7, %r6;\n\
         st.shared.u32 [%r8], %r1;",
        sleeper(&table)
    );
    let (bench, events) = alone(&[], 512, &body, 2, 96);
    let code = &bench.code();
    let find = |op: &str| code.iter().position(|t| t.contains(op)).expect("there") as u32;
    let (global, shared) = (find("st.global"), find("st.shared"));
    let issues = |slot, pc| {
        cycles(
            &events,
            slot,
            move |e| matches!(e, WarpEvent::Issued { pc: p, .. } if *p == pc),
        )
    };
    let went = cycles(&events, 1, |e| matches!(e, WarpEvent::NextBlock { .. }))[0];
    for slot in [0, 2] {
        assert!(
            issues(slot, global)[1] < went - 1000,
            "global memory is free"
        );
        assert!(issues(slot, shared)[1] >= went, "shared memory is not");
        assert!(issues(slot, shared)[1] < went + 50, "and then it is");
    }
}

/// However many registers a kernel has, and wherever among them the one is that stands for the
/// permission to touch shared memory.
#[test]
fn what_is_loaded_from_shared_memory_is_waited_for() {
    let distance = |registers: usize| {
        let more: String = (0..registers)
            .map(|n| format!("mov.u32 %more{n}, {n};\n"))
            .collect();
        let body = format!(
            "mov.u32 %r7, tile; ld.shared.u32 %r5, [%r7]; add.u32 %r6, %r5, 1; st.global.u32 [%rd1], %r6;\n\
             {{ .reg .b32 %more<80>;\n{more} }}"
        );
        let (bench, events) = alone(&[], 512, &body, 1, 32);
        let code = bench.code();
        let load = code
            .iter()
            .position(|t| t.contains("ld.shared"))
            .expect("there") as u32;
        let issued = |at: u32| {
            cycles(
                &events,
                0,
                move |e| matches!(e, WarpEvent::Issued { pc, .. } if *pc == at),
            )[0]
        };
        issued(load + 1) - issued(load)
    };
    let few = distance(0);
    assert!(few > 10, "{few}");
    assert_eq!(distance(80), few);
}

#[test]
fn a_barrier_waits_for_the_warps_of_its_iteration_alone() {
    // In block 0 warp 0 returns before the barrier, and warp 1 comes there late.
    let table = [[1, 20, 5], [2, 1, 1]];
    let body = format!(
        "mov.u32 %r2, %ctaid.x; shr.u32 %r3, %r1, 5; or.b32 %r9, %r2, %r3; {} setp.eq.u32 %p2, %r9, 0; @%p2 ret; bar.sync 0;",
        sleeper(&table)
    );
    let (_, events) = alone(&[], 0, &body, 2, 96);
    let barrier = |e: &WarpEvent| matches!(e, WarpEvent::Barrier { .. });
    let released = |e: &WarpEvent| matches!(e, WarpEvent::Released);
    let next = |e: &WarpEvent| matches!(e, WarpEvent::NextBlock { .. });
    // Warp 0 is in block 1 and waits at its barrier when that of block 0 opens for the others.
    let opens = cycles(&events, 1, released)[0];
    assert_eq!(opens, cycles(&events, 2, released)[0]);
    assert_eq!(opens, cycles(&events, 1, barrier)[0], "warp 1 was the last");
    assert!(cycles(&events, 0, barrier)[0] < opens - 1000);
    // Its own opens with theirs, after both have come to block 1.
    let own = cycles(&events, 0, released);
    assert_eq!(own.len(), 1);
    for slot in [1, 2] {
        assert!(cycles(&events, slot, next)[0] < own[0]);
        assert_eq!(cycles(&events, slot, released)[1], own[0]);
    }
}

#[test]
fn a_later_answer_costs_time() {
    let cycles = |latency: &str| {
        let (bench, _) = alone(&[latency], 0, &sleeper(&[[1, 1, 1]; 8]), 8, 96);
        bench.report().totals.cycles
    };
    // Seven blocks, and the answer that there is none left.
    let (now, later) = (cycles("virtual.latency=0"), cycles("virtual.latency=500"));
    assert!((later - now).abs_diff(8 * 500) < 8 * 20, "{now} {later}");
}

#[test]
fn what_cannot_be_virtual_is_refused_with_the_reason() {
    let refusal = |set: &[&str], body: &str, shape: [[u32; 3]; 2]| {
        let mut bench = Bench::unobserved(with(set), &kernel(0, body), options(false));
        match bench.try_launch(shape[0], shape[1], 0) {
            Ok(()) => String::new(),
            Err(e) => e.to_string(),
        }
    };
    let line = [[4, 1, 1], [64, 1, 1]];
    for (body, reason) in [
        ("mov.u32 %r2, %warpid;", "reads %warpid"),
        ("mov.u32 %r2, %smid;", "reads %smid"),
        ("mov.u32 %r2, %envreg1;", "as grid-wide barriers do"),
    ] {
        for mode in ["virtual.mode=software", "virtual.mode=hardware"] {
            let text = refusal(&[mode], body, line);
            assert!(
                text.contains(reason) && text.contains("--virtualize off"),
                "{text}"
            );
        }
        assert_eq!(refusal(&[], body, line), "");
    }
    let body = "mov.u32 %r2, %ctaid.x;";
    let text = refusal(&["virtual.mode=software"], body, [[4, 2, 1], [64, 1, 1]]);
    assert!(text.contains("reads 1 dimension"), "{text}");
    let text = refusal(&["virtual.mode=hardware"], body, [[4, 1, 1], [8, 8, 1]]);
    assert!(text.contains("which thread it is"), "{text}");
    let named = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1; @%p1 ret; bar.sync 1;";
    let text = refusal(&["virtual.mode=software"], named, line);
    assert!(text.contains("not all of its barriers are plain"), "{text}");
    let text = refusal(&[], "vtw.next_tb.u32 %r2|%p1;", line);
    assert!(text.contains("this launch has no virtual blocks"), "{text}");
}
