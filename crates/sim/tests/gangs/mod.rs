//! The gang unit at work: its laws one by one, and what holds for every way to size warps.

mod access;
mod liveness;
mod lockstep;
mod machines;
mod meeting;

use crate::common::generate::Generator;
use crate::common::{Bench, check_laws, kernel, machine};
use warpsim_sim::config::warps::NAMES;
use warpsim_sim::gpu::Options;
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::SmCounters;

fn bench(preset: &str, set: &[&str], ptx: &str, skip: bool) -> Bench {
    let options = Options {
        skip,
        max_cycles: Some(1_000_000),
        ..Options::default()
    };
    Bench::with(machine(preset, set), ptx, options)
}

/// A bench without an observer.
fn quiet(preset: &str, set: &[&str], ptx: &str, skip: bool) -> Bench {
    let options = Options {
        skip,
        max_cycles: Some(1_000_000),
        ..Options::default()
    };
    Bench::unobserved(machine(preset, set), ptx, options)
}

/// Counters of a kernel's second launch, with instructions in the cache.
fn counted(set: &[&str], ptx: &str, threads: u32) -> SmCounters {
    let mut bench = bench("vws", set, ptx, true);
    bench.launch(1, threads).launch(1, threads);
    bench.report().totals.sm.counters.clone()
}

/// By cycle: the slots that issued, and their PCs, in a kernel's second launch.
fn issues(set: &[&str], ptx: &str, threads: u32) -> Vec<(u64, Vec<(u16, u32)>)> {
    let mut bench = bench("vws", set, ptx, true);
    bench.launch(1, threads).launch(1, threads);
    let mut cycles: Vec<(u64, Vec<(u16, u32)>)> = Vec::new();
    for &(cycle, _, slot, event) in bench.events().iter() {
        if let WarpEvent::Issued { pc, .. } = event {
            match cycles.last_mut() {
                Some((c, slots)) if *c == cycle => slots.push((slot, pc)),
                _ => cycles.push((cycle, vec![(slot, pc)])),
            }
        }
    }
    cycles
}

/// Every name with a number of cycles in it.
fn names() -> Vec<String> {
    let plain = NAMES.iter().map(|n| n.name.replace("<N>", "20"));
    plain
        .chain(["i-vws-8", "e-vws-impatient-8"].map(String::from))
        .collect()
}

const STRAIGHT: &str = "add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; xor.b32 %r4, %r3, %r2;
    mul.lo.u32 %r5, %r4, 3;";

#[test]
fn a_gang_fetches_and_issues_as_one() {
    let ptx = kernel(0, STRAIGHT);
    let wide = counted(&["warps=ws32"], &ptx, 128);
    let gangs = counted(&["warps=i-vws"], &ptx, 128);
    let single = counted(&["warps=ws4"], &ptx, 128);
    assert_eq!(gangs.warp_instructions, 8 * wide.warp_instructions);
    assert_eq!(gangs.gang_issues, wide.warp_instructions);
    assert_eq!(gangs.fetches, wide.fetches);
    assert_eq!(single.fetches, 8 * wide.fetches);
    assert_eq!((gangs.gang_splits, gangs.gang_merges), (0, 0));
    assert_eq!(gangs.gang_warps_1 + gangs.gang_warps_4, 0);
}

#[test]
fn a_gangs_access_is_one_access() {
    let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
        ld.global.u32 %r2, [%rd4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;
        mov.u32 %r3, 1; red.global.add.u32 [%rd5+1024], %r3;
        mul.lo.u32 %r4, %r1, 8; st.shared.u32 [%r4], %r1;";
    let ptx = kernel(1024, body);
    let run = |preset: &str, set: &[&str]| {
        let mut bench = bench(preset, set, &ptx, true);
        bench.launch(1, 128);
        let totals = bench.report().totals.clone();
        (totals.sm.counters, totals.memory, bench.output())
    };
    let count = |c: &SmCounters| {
        [
            c.global_loads,
            c.global_load_transactions,
            c.global_store_transactions,
            c.atomic_transactions,
            c.shared_bank_cycles,
        ]
    };
    let halves = ["gpu.sms=1", "sm.warp_width=16", "fetch.ports=4"];
    for (preset, plain, set) in [
        ("vws", vec!["warps=ws32"], vec!["warps=i-vws"]),
        ("vws", vec!["warps=ws32"], vec!["warps=i-vws-8"]),
        (
            "gtx480",
            vec!["gpu.sms=1"],
            [&halves[..], &["scheduler=gangs"]].concat(),
        ),
    ] {
        let (wide, wide_memory, expected) = run(preset, &plain);
        let (gang, gang_memory, memory) = run(preset, &set);
        assert_eq!(count(&gang), count(&wide), "{preset} {set:?}");
        assert_eq!(gang_memory.l2_writes, wide_memory.l2_writes);
        assert_eq!(gang_memory.l2_atomics, wide_memory.l2_atomics);
        assert_eq!(memory, expected);
    }
    let (wide, _, _) = run("gtx480", &["gpu.sms=1"]);
    let (single, _, _) = run("gtx480", &halves);
    assert!(single.global_load_transactions > wide.global_load_transactions);
}

#[test]
fn an_atomic_gives_every_thread_its_own_value() {
    let body = "mov.u32 %r3, 1; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd5, %rd1, %rd3;
        atom.global.add.u32 %r5, [%rd1+4096], %r3; st.global.u32 [%rd5], %r5;";
    for name in names() {
        let warps = format!("warps={name}");
        let mut bench = bench("vws", &[&warps], &kernel(0, body), true);
        bench.launch(1, 128);
        let memory = bench.output();
        let mut olds = memory[..128].to_vec();
        olds.sort_unstable();
        assert_eq!(olds, (0..128).collect::<Vec<_>>(), "{name}");
        assert_eq!(memory[1024], 128, "{name}");
    }
}

/// Slices 0 to 3 of each home warp go one way, the others another; they meet behind.
const HALVES: &str = "and.b32 %r6, %r1, 31; setp.lt.u32 %p1, %r6, 16; @%p1 bra ELSE;
    add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; bra END;
    ELSE: mul.lo.u32 %r2, %r1, 3; min.u32 %r3, %r2, 100; add.u32 %r3, %r3, 1;
    END: mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;";

#[test]
fn a_gang_splits_into_one_for_each_way() {
    let gangs = counted(&["warps=i-vws"], &kernel(0, HALVES), 32);
    assert_eq!((gangs.gang_splits, gangs.gang_merges), (1, 0));
    assert!(gangs.gang_warps_4 > 0 && gangs.gang_warps_8 > 0);
    assert_eq!(gangs.gang_warps_1 + gangs.gang_warps_2_3, 0);
    let joined = counted(&["warps=e-vws"], &kernel(0, HALVES), 32);
    assert!(joined.gang_merges >= 1, "{}", joined.gang_merges);
    assert!(joined.gang_warps_8 > gangs.gang_warps_8);
    assert!(joined.fetches < gangs.fetches);
}

#[test]
fn one_warp_that_goes_another_way_is_on_its_own() {
    let body = HALVES.replace("%r6, 16", "%r6, 4");
    let gangs = counted(&["warps=i-vws"], &kernel(0, &body), 32);
    assert_eq!(gangs.gang_splits, 1);
    assert!(gangs.gang_warps_1 > 0 && gangs.gang_warps_5_7 > 0);
    assert_eq!(gangs.gang_warps_4 + gangs.gang_warps_2_3, 0);
}

#[test]
fn two_gangs_issue_in_a_cycle_if_their_slices_are_apart() {
    let both = |set: &[&str]| {
        let issues = issues(set, &kernel(0, HALVES), 64);
        let pcs = |slots: &[(u16, u32)]| {
            let mut pcs: Vec<(u16, u32)> = slots.iter().map(|(s, pc)| (s / 8, *pc)).collect();
            pcs.dedup();
            pcs.len()
        };
        for (cycle, slots) in &issues {
            let mut domains: Vec<u16> = slots.iter().map(|(slot, _)| slot % 8).collect();
            domains.sort_unstable();
            domains.dedup();
            assert_eq!(domains.len(), slots.len(), "cycle {cycle}: a slice twice");
        }
        issues.iter().filter(|(_, slots)| pcs(slots) == 2).count()
    };
    assert!(both(&["warps=i-vws"]) > 0);
    assert_eq!(both(&["warps=i-vws", "scheduler.gangs_per_cycle=1"]), 0);
    assert_eq!(
        both(&["warps=i-vws", "scheduler.gangs_per_cycle=0"]),
        both(&["warps=i-vws"])
    );
}

#[test]
fn a_gang_waits_until_all_its_warps_are_ready() {
    // The lower half of the lanes loads two lines, the upper half none.
    let body = "and.b32 %r6, %r1, 31; setp.lt.u32 %p1, %r6, 16; mov.u32 %r2, 0;
        mul.wide.u32 %rd3, %r1, 256; add.u64 %rd4, %rd2, %rd3;
        @%p1 ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r2, 1;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;";
    let ptx = kernel(0, body);
    for (slot, pc) in issues(&["warps=i-vws"], &ptx, 32).iter().map(|(_, s)| s[0]) {
        let together = issues(&["warps=i-vws"], &ptx, 32);
        let its = together.iter().find(|(_, s)| s.contains(&(slot, pc)));
        assert_eq!(its.map(|(_, s)| s.len()), Some(8), "pc {pc}");
    }
    let impatient = counted(&["warps=i-vws-impatient"], &ptx, 32);
    assert_eq!(impatient.gang_memory_splits, 1, "then all are alone");
    assert!(impatient.gang_warps_1 > 0 && impatient.gang_warps_4 == 0);
    let group = counted(&["warps=i-vws-group"], &ptx, 32);
    assert!(group.gang_memory_splits >= 1);
    assert!(group.gang_warps_4 > 0, "the half that did not load");
}

#[test]
fn a_memory_split_keeps_what_was_fetched() {
    let body = "and.b32 %r6, %r1, 31; setp.lt.u32 %p1, %r6, 16; mov.u32 %r2, 0;
        mul.wide.u32 %rd3, %r1, 256; add.u64 %rd4, %rd2, %rd3;
        @%p1 ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r2, 1;";
    let ptx = kernel(0, body);
    let whole = counted(&["warps=i-vws"], &ptx, 32);
    let split = counted(&["warps=i-vws-group"], &ptx, 32);
    // Behind the addition that all had, there is `ret` to fetch for each part.
    let parts = split.gang_memory_splits + 1;
    assert_eq!(split.fetches, whole.fetches + parts - 1);
}

#[test]
fn every_way_to_size_warps_computes_the_same_skipped_or_stepped() {
    let names = names();
    for seed in 0..20u64 {
        let threads = [64, 96, 70, 33, 5][seed as usize % 5];
        let ptx = kernel(4 * threads, &Generator::body(seed, threads));
        let mut wide = quiet("vws", &[], &ptx, true);
        wide.launch(3, threads);
        for (i, name) in names.iter().enumerate() {
            // Every name with every fourth program.
            if !(seed as usize + i).is_multiple_of(4) {
                continue;
            }
            let warps = format!("warps={name}");
            let limits = ["fetch.cache_ports=2", "fetch.l0_bytes=256"];
            let all = ["scheduler.reform_width=all", "scheduler.gangs_per_cycle=1"];
            let mut set = vec![&warps[..]];
            if seed % 3 == 1 {
                set.extend(limits);
            }
            if seed % 3 == 2 && name.contains("vws") {
                set.extend(all);
            }
            let what = format!("seed {seed}, {set:?}\n{ptx}");
            let mut narrow = quiet("vws", &set, &ptx, true);
            narrow.launch(3, threads);
            assert!(narrow.output() == wide.output(), "{what}");
            check_laws(narrow.report(), &machine("vws", &set));
            let mut stepped = quiet("vws", &set, &ptx, false);
            stepped.launch(3, threads);
            assert_eq!(narrow.report(), stepped.report(), "{what}");
        }
        let halves = ["gpu.sms=1", "sm.warp_width=16", "scheduler=gangs"];
        let mut gang = quiet("gtx480", &halves, &ptx, true);
        gang.launch(3, threads);
        assert!(gang.output() == wide.output(), "seed {seed} on gtx480");
        let mut stepped = quiet("gtx480", &halves, &ptx, false);
        stepped.launch(3, threads);
        assert_eq!(gang.report(), stepped.report(), "seed {seed} on gtx480");
    }
}
