//! Gangs on machines that take several cycles for 32 threads.

use super::{bench, counted, quiet};
use crate::common::generate::Generator;
use crate::common::{check_laws, kernel, machine};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::observe::WarpEvent;

const ONE_SM: &str = "gpu.sms=1";

/// The cycles in which warps issued, and how many did in each.
fn cycles(set: &[&str], ptx: &str, threads: u32) -> Vec<(u64, usize)> {
    let mut bench = bench("fx5800", set, ptx, true);
    bench.launch(1, threads);
    let mut cycles: Vec<(u64, usize)> = Vec::new();
    for &(cycle, _, _, event) in bench.events().iter() {
        if let WarpEvent::Issued { .. } = event {
            match cycles.last_mut() {
                Some((c, count)) if *c == cycle => *count += 1,
                _ => cycles.push((cycle, 1)),
            }
        }
    }
    cycles
}

#[test]
fn an_issue_slot_is_four_cycles_for_all_slices() {
    let ptx = kernel(256, &Generator::body(7, 64));
    for name in ["ws4", "ws8", "i-vws", "e-vws", "i-vws-8"] {
        let warps = format!("warps={name}");
        let cycles = cycles(&[ONE_SM, &warps], &ptx, 64);
        assert!(cycles.iter().any(|(_, warps)| *warps > 1), "{name}");
        for pair in cycles.windows(2) {
            let apart = pair[1].0 - pair[0].0;
            assert!(apart >= 4, "{name}: {apart} cycles after {:?}", pair[0]);
        }
    }
}

#[test]
fn a_gang_takes_the_time_of_a_wide_warp() {
    let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
        ld.global.u32 %r2, [%rd4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;
        mul.lo.u32 %r4, %r1, 4; st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r4];
        add.u32 %r5, %r5, 1;";
    let ptx = kernel(1024, body);
    let run = |set: &[&str]| {
        let mut bench = quiet("fx5800", set, &ptx, true);
        bench.launch(1, 128).launch(1, 128);
        let totals = bench.report().totals.clone();
        let c = totals.sm.counters.clone();
        let accesses = [
            c.global_load_transactions,
            c.global_store_transactions,
            c.shared_bank_cycles,
        ];
        (totals.cycles, accesses, bench.output())
    };
    let order = "scheduler=gto";
    let (wide, accesses, memory) = run(&[ONE_SM, order]);
    let (same, _, _) = run(&[ONE_SM, "warps=ws32", order]);
    assert_eq!(same, wide, "ws32 is the machine as it is");
    let (gangs, its, result) = run(&[ONE_SM, "warps=i-vws"]);
    assert_eq!((its, result), (accesses, memory));
    assert!(
        gangs.abs_diff(wide) <= wide / 20,
        "{gangs} and {wide} cycles"
    );
}

#[test]
fn narrow_warps_on_few_lanes_need_their_share_of_them() {
    for set in [
        &["sm.warp_width=4"][..],
        &["sm.warp_width=8", "scheduler=gangs"],
        &["sm.warp_width=4", "unit.sp.per=slice"],
    ] {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        let error = Machine::resolve("fx5800", &set)
            .expect_err("refused")
            .to_string();
        assert!(error.contains("8 lanes of `unit.sp`"), "{error}");
        assert!(error.contains("--warps ws"), "{error}");
    }
    for model in ["dwf", "dwf-wb"] {
        let set = ["warps=i-vws".to_string(), format!("divergence={model}")];
        let error = Machine::resolve("fx5800", &set)
            .expect_err("refused")
            .to_string();
        assert!(error.contains("forms warps of any threads"), "{error}");
    }
}

#[test]
fn programs_compute_the_same_skipped_or_stepped() {
    let names = [
        "ws4",
        "ws8",
        "i-vws",
        "e-vws-impatient",
        "i-vws-group-8",
        "e-vws-sync20",
    ];
    for seed in 0..12u64 {
        let threads = [64, 96, 70, 33][seed as usize % 4];
        let ptx = kernel(4 * threads, &Generator::body(seed, threads));
        let mut wide = quiet("fx5800", &[ONE_SM], &ptx, true);
        wide.launch(3, threads);
        let name = names[seed as usize % names.len()];
        let warps = format!("warps={name}");
        let set = [ONE_SM, &warps];
        let mut narrow = quiet("fx5800", &set, &ptx, true);
        narrow.launch(3, threads);
        assert!(
            narrow.output() == wide.output(),
            "seed {seed}, {name}\n{ptx}"
        );
        check_laws(narrow.report(), &machine("fx5800", &set));
        let mut stepped = quiet("fx5800", &set, &ptx, false);
        stepped.launch(3, threads);
        assert_eq!(
            narrow.report(),
            stepped.report(),
            "seed {seed}, {name}\n{ptx}"
        );
    }
}

#[test]
fn the_lanes_of_the_vws_machine_are_used_once() {
    // Two gangs on different slices and single warps fill the lanes in every cycle.
    let counters = counted(&["warps=i-vws"], &kernel(0, super::STRAIGHT), 128);
    assert_eq!(counters.issue_held, 0);
}
