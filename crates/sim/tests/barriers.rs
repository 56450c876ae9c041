//! Blocks at barriers under every issue and fetch policy: they end with the right result, cycles
//! add up, and no policy's order depends on whether cycles are skipped or an observer watches.

use crate::common;

use common::{Bench, Event, check_laws, fetch_settings, issue_policies, kernel, machine};
use std::collections::BTreeMap;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::LaunchReport;

/// `%rd4`: the thread's place in the output; `%r3`: its warp; `%r4`: work, 0 to 3, that differs
/// from warp to warp and from block to block.
const HEAD: &str =
    "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r22, %r20, %r21, %r1;
    mul.wide.u32 %rd3, %r22, 4; add.u64 %rd4, %rd1, %rd3; shr.u32 %r3, %r1, 5;
    add.u32 %r4, %r3, %r20; and.b32 %r4, %r4, 3; mov.u32 %r10, %r22; mov.u32 %r5, 0;\n";

const TAIL: &str = "st.global.u32 [%rd4], %r10;";

/// `%r4` rounds of a dependent loop.
fn work(label: &str) -> String {
    format!(
        "mov.u32 %r6, 0; {label}: setp.ge.u32 %p1, %r6, %r4; @%p1 bra {label}_END;
        mad.lo.u32 %r10, %r10, 3, %r6; add.u32 %r6, %r6, 1; bra {label}; {label}_END:\n"
    )
}

/// A barrier in a loop; who comes last changes from round to round.
fn loop_kernel() -> String {
    let work = work("INNER");
    kernel(
        0,
        &format!(
            "{HEAD} LOOP: {work} bar.sync 0; add.u32 %r4, %r4, 3; and.b32 %r4, %r4, 7;
            add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5; @%p2 bra LOOP; {TAIL}"
        ),
    )
}

/// No barrier; blocks of very different length.
fn no_barrier_kernel() -> String {
    let work = work("INNER");
    kernel(
        0,
        &format!("{HEAD} and.b32 %r7, %r20, 7; mad.lo.u32 %r4, %r7, 4, %r4; {work} {TAIL}"),
    )
}

/// Even warps meet at barrier 1, odd ones at barrier 2, each pair in its own rhythm; then all.
fn two_ids_kernel() -> String {
    let (a, b) = (work("EVEN_WORK"), work("ODD_WORK"));
    kernel(
        0,
        &format!(
            "{HEAD} and.b32 %r8, %r3, 1; setp.eq.u32 %p3, %r8, 1; @%p3 bra ODD;
            EVEN: {a} bar.sync 1, 64; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 4;
            @%p2 bra EVEN; bra ALL;
            ODD: {b} add.u32 %r4, %r4, 2; bar.sync 2, 64; add.u32 %r5, %r5, 1;
            setp.lt.u32 %p2, %r5, 3; @%p2 bra ODD;
            ALL: bar.sync 0; {TAIL}"
        ),
    )
}

/// The first two warps announce themselves at barrier 3 and go on; the others wait for them.
fn arrive_kernel() -> String {
    let work = work("INNER");
    kernel(
        512,
        &format!(
            "{HEAD} setp.ge.u32 %p3, %r3, 2; @%p3 bra CONSUME;
            {work} mul.lo.u32 %r9, %r1, 4; st.shared.u32 [%r9], %r10; bar.arrive 3, 128; bra END;
            CONSUME: bar.sync 3, 128; sub.u32 %r9, %r1, 64; mul.lo.u32 %r9, %r9, 4;
            ld.shared.u32 %r10, [%r9];
            END: bar.sync 0; {TAIL}"
        ),
    )
}

/// A warp of each block leaves early, another one after the first barrier.
fn early_exit_kernel() -> String {
    let (a, b) = (work("FIRST"), work("SECOND"));
    kernel(
        0,
        &format!(
            "{HEAD} {TAIL} setp.eq.u32 %p3, %r4, 1; @%p3 exit; {a} bar.sync 0; {TAIL}
            setp.eq.u32 %p3, %r4, 2; @%p3 exit; {b} bar.sync 0; add.u32 %r10, %r10, 1; {TAIL}"
        ),
    )
}

fn kernels() -> [(&'static str, String); 5] {
    [
        ("loop", loop_kernel()),
        ("no barrier", no_barrier_kernel()),
        ("two ids", two_ids_kernel()),
        ("arrive", arrive_kernel()),
        ("early exit", early_exit_kernel()),
    ]
}

/// More blocks than fit on the SM.
const BLOCKS: u32 = 14;
const THREADS: u32 = 128;

fn settings(policy: &str, fetch: &[String], schedulers: u32) -> Vec<String> {
    let mut set = vec![
        "gpu.sms=1".to_string(),
        "sm.max_blocks=5".to_string(),
        format!("sm.schedulers={schedulers}"),
        format!("scheduler=\"{policy}\""),
    ];
    set.extend_from_slice(fetch);
    set
}

fn build(set: &[String]) -> Machine {
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    machine("gtx480-v3", &set)
}

fn options(skip: bool) -> Options {
    Options {
        skip,
        max_cycles: Some(1_000_000),
        ..Options::default()
    }
}

fn finish(mut bench: Bench) -> (Vec<u32>, LaunchReport) {
    bench.launch(BLOCKS, THREADS);
    (bench.output(), bench.report().clone())
}

#[test]
fn every_kernel_ends_under_every_policy_the_same_watched_or_not() {
    for (name, ptx) in kernels() {
        let functional = Options {
            functional: true,
            ..Options::default()
        };
        let base = build(&[]);
        let (expected, _) = finish(Bench::unobserved(base, &ptx, functional));
        for (i, policy) in issue_policies().enumerate() {
            for (j, fetch) in fetch_settings().iter().enumerate() {
                let set = settings(policy, fetch, [2, 1, 4][(i + j) % 3]);
                let machine = build(&set);
                let what = format!("{name} with {set:?}");
                let run = |skip| finish(Bench::unobserved(machine.clone(), &ptx, options(skip)));
                let (memory, report) = run(true);
                assert!(memory == expected, "{what}");
                check_laws(&report, &machine);
                assert_eq!(report, run(false).1, "stepped: {what}");
                let watched = finish(Bench::with(machine.clone(), &ptx, options(true)));
                assert_eq!(report, watched.1, "watched: {what}");
            }
        }
    }
}

/// A warp's life, from what an observer hears.
#[derive(Default)]
struct Life {
    launched: u64,
    /// Arrival at and release from each barrier it waited at.
    waits: Vec<(u64, u64)>,
    exit: u64,
}

/// Warps of each block of the launch.
fn lives(events: &[Event]) -> Vec<Vec<Life>> {
    let mut blocks: BTreeMap<u64, Vec<Life>> = BTreeMap::new();
    let mut now: BTreeMap<u16, (u64, Life, u64)> = BTreeMap::new();
    for &(cycle, _, slot, event) in events {
        if let WarpEvent::Launched { block, .. } = event {
            let life = Life {
                launched: cycle,
                ..Life::default()
            };
            now.insert(slot, (block, life, cycle));
            continue;
        }
        let (_, life, last_issue) = now.get_mut(&slot).expect("it has come");
        match event {
            WarpEvent::Issued { .. } => *last_issue = cycle,
            WarpEvent::Barrier { waits: true, .. } => life.waits.push((cycle, 0)),
            WarpEvent::Released => life.waits.last_mut().expect("it waits").1 = cycle,
            WarpEvent::Retired => life.exit = *last_issue,
            WarpEvent::Left => {
                let (block, life, _) = now.remove(&slot).expect("it is there");
                blocks.entry(block).or_default().push(life);
            }
            _ => {}
        }
    }
    blocks.into_values().collect()
}

/// Phases of a block in which all warps use one barrier: `T_i` of the warps that take part.
fn phases(warps: &[Life]) -> Vec<Vec<u64>> {
    let mut opened: Vec<u64> = warps.iter().flat_map(|w| &w.waits).map(|w| w.1).collect();
    opened.sort_unstable();
    opened.dedup();
    let mut phases = Vec::new();
    let mut began = warps[0].launched;
    for &end in opened.iter().chain([&u64::MAX]) {
        let mut times = Vec::new();
        for warp in warps {
            if let Some(wait) = warp.waits.iter().find(|w| w.1 == end) {
                times.push(wait.0 - began);
            } else if warp.exit <= end && warp.waits.last().map_or(0, |w| w.1) <= began {
                // Exited in this phase, not in one before.
                if warp.exit > began || began == warp.launched {
                    times.push(warp.exit - began);
                }
            }
        }
        phases.push(times);
        began = end;
    }
    phases
}

#[test]
fn rtru_is_that_of_the_phases_an_observer_sees() {
    for (name, ptx, expected) in [
        ("loop", loop_kernel(), Some(6)),
        ("no barrier", no_barrier_kernel(), Some(1)),
        ("early exit", early_exit_kernel(), None),
    ] {
        for policy in ["lrr", "gto", "mwf-gto"] {
            let machine = build(&settings(policy, &[], 2));
            let mut bench = Bench::with(machine, &ptx, options(true));
            bench.launch(BLOCKS, THREADS);
            let mut count = 0;
            let mut sum = 0.0;
            for block in lives(&bench.events()) {
                assert_eq!(block.len() as u32, THREADS / 32);
                let phases = phases(&block);
                if let Some(expected) = expected {
                    assert_eq!(phases.len(), expected, "{name}: phases of a block");
                }
                for times in phases {
                    let longest = *times.iter().max().expect("a warp takes part") as f64;
                    let unused: f64 = times.iter().map(|&t| longest - t as f64).sum();
                    sum += unused / (times.len() as f64 * longest);
                    count += 1;
                }
            }
            let totals = &bench.report().totals;
            assert_eq!(totals.sm.counters.phases, count, "{name} under {policy}");
            let rtru = totals.derived("rtru").expect("declared");
            let mean = sum / count as f64;
            assert!(
                (rtru - mean).abs() < 1e-5,
                "{name} under {policy}: {rtru}, {mean}"
            );
            assert!(rtru > 0.01 && rtru < 1.0, "{name} under {policy}: {rtru}");
        }
    }
}

#[test]
fn a_block_whose_warps_do_the_same_wastes_little() {
    let even = "mov.u32 %r5, 0; LOOP: add.u32 %r5, %r5, 1; bar.sync 0;
        setp.lt.u32 %p1, %r5, 9; @%p1 bra LOOP;";
    let share = |body: &str, stat: &str| {
        let mut bench = Bench::new(build(&settings("lrr", &[], 2)), &kernel(0, body));
        bench.launch(1, 64).launch(1, 64);
        bench.report().totals.derived(stat).expect("declared")
    };
    let long = "setp.ge.u32 %p2, %r1, 32; @%p2 bra WAIT; mov.u32 %r6, 0;
        WORK: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 200; @%p1 bra WORK;";
    let at_barrier = format!("{long} WAIT: bar.sync 0;");
    let at_exit = format!("{long} WAIT: mov.u32 %r7, 1;");
    assert!(share(even, "rtru") < 0.1);
    assert!(share(&at_barrier, "rtru") > 0.2);
    assert!(share(&at_exit, "rtru") > 0.4);
    // One of two warps waits nearly all the time, at the barrier or at the end.
    assert!(share(&at_barrier, "barrier_share") > 0.35);
    assert!(share(&at_exit, "barrier_share") == 0.0);
    assert!(share(&at_exit, "barrier_exit_share") > 0.35);
    let both = share(&at_barrier, "barrier_exit_share");
    assert!(both >= share(&at_barrier, "barrier_share"));
}

#[test]
fn mwf_lets_a_block_with_waiting_warps_pass_an_older_one() {
    // Three warps of block 1 wait for its first, which has much to do; all warps of block 0 have
    // as much to do, once they have loaded something: by then the three are at their barrier.
    let body = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; mov.u32 %r4, 0;
        @%p1 bra LOAD; setp.lt.u32 %p2, %r1, 32; @%p2 bra LOOP; bra MEET;
        LOAD: ld.global.u32 %r12, [%rd2]; add.u32 %r4, %r12, %r4;
        LOOP: add.u32 %r4, %r4, 1; add.u32 %r5, %r1, 1; add.u32 %r6, %r1, 2; add.u32 %r7, %r1, 3;
        add.u32 %r8, %r1, 4; add.u32 %r9, %r1, 5; add.u32 %r10, %r1, 6; add.u32 %r11, %r1, 7;
        setp.lt.u32 %p3, %r4, 60; @%p3 bra LOOP;
        MEET: bar.sync 0; // @meet";
    let opened = |policy: &str, fetch: &[String]| {
        let mut bench = Bench::new(build(&settings(policy, fetch, 1)), &kernel(0, body));
        bench.launch(2, 128).launch(2, 128);
        // Slots 0 to 3 are those of block 0, slots 4 to 7 those of block 1.
        let end = |slots: std::ops::Range<u16>| slots.map(|s| bench.issues_of(s, "meet")[0]).max();
        (end(0..4).expect("four"), end(4..8).expect("four"))
    };
    let cff = ["fetch.policy=cff".to_string()];
    let (older, younger) = opened("oldest", &cff);
    assert!(older < younger, "oldest first: {older} {younger}");
    for policy in ["mwf-lrr", "mwf-gto", "saws"] {
        let (older, hurried) = opened(policy, &cff);
        assert!(hurried < older, "{policy}: {hurried} {older}");
        assert!(hurried < younger, "{policy}: {hurried}, {younger} before");
    }
}
