//! The page with fixed numbers.

use super::*;
use warpsim_sim::config::ReadMachine;
use warpsim_sim::stats::{SchedulerState, WarpState};
use warpsim_workloads::Mismatch;

/// Numbers that are all different, so that a wrong place shows.
fn totals() -> Totals {
    let mut t = Totals {
        cycles: 12_345,
        sms: 15,
        max_warps: 48,
        dram_clocks: 97_000,
        deepest_stack: 3,
        ..Totals::default()
    };
    let c = &mut t.sm.counters;
    c.warp_instructions = 100_000;
    c.thread_instructions = 2_400_000;
    c.active_lanes = 2_560_000;
    (c.lanes_1_4, c.lanes_13_16, c.lanes_29_32) = (400, 24_600, 75_000);
    (c.mix_int, c.mix_fp, c.mix_sfu) = (50_000, 20_000, 1_000);
    (c.mix_memory, c.mix_control) = (19_000, 10_000);
    (c.branches, c.divergent_branches, c.barriers) = (8_000, 1_000, 640);
    (c.blocks, c.warp_cycles, c.active_cycles) = (80, 5_000_000, 150_000);
    (c.l1d_reads, c.l1d_hits, c.l1d_merges) = (6_000, 1_500, 750);
    (c.constant_accesses, c.constant_misses) = (2_000, 20);
    (c.l1i_accesses, c.l1i_misses) = (50_500, 505);
    (c.global_loads, c.global_load_transactions) = (4_000, 6_000);
    (c.shared_requests, c.shared_bank_cycles) = (9_000, 11_250);
    for (i, &state) in WarpState::ALL.iter().enumerate() {
        t.sm.warps.count(state, 50_000 * (i as u64 + 1));
    }
    for (i, &state) in SchedulerState::ALL.iter().enumerate() {
        t.sm.schedulers.count(state, 1_000 * (9 - i as u64));
    }
    let m = &mut t.memory;
    (m.l2_accesses, m.l2_hits, m.l2_merges) = (9_999, 3_333, 1_111);
    (m.dram_row_hits, m.dram_row_misses) = (600, 200);
    (m.dram_read_bytes, m.dram_write_bytes, m.dram_busy_clocks) = (1_234_567, 8_900, 19_400);
    (m.request_packets, m.request_flits) = (5_001, 10_002);
    (m.reply_packets, m.reply_flits) = (4_003, 20_004);
    t
}

fn launch(kernel: &str, totals: &Totals) -> LaunchReport {
    LaunchReport {
        launches: 1,
        kernel: kernel.to_string(),
        grid: [10, 8, 1],
        block: [256, 1, 1],
        blocks_per_sm: 6,
        limited_by: "threads per SM".into(),
        totals: totals.clone(),
        ..LaunchReport::default()
    }
}

fn page(launches: &[LaunchReport], functional: bool, outcome: &Outcome) -> String {
    let machine = Machine::preset("gtx480").expect("a preset");
    Summary {
        what: "matmul (n = 64, seed 1)".into(),
        machine: &machine,
        functional,
        launches,
        totals: &totals(),
        seconds: 0.5,
        outcome,
        style: Style::Plain,
    }
    .text()
}

#[test]
fn a_page_for_one_launch() {
    let outcome = Outcome::Correct { checked: 4096 };
    insta::assert_snapshot!(page(&[launch("matmul", &totals())], false, &outcome));
}

#[test]
fn many_launches_are_grouped_by_kernel() {
    let mut small = totals();
    small.cycles = 345;
    let mut launches = vec![launch("_Z30a_kernel_with_a_very_long_namePfS_i", &totals())];
    launches.extend((0..9).map(|_| launch("advance", &small)));
    let text = page(&launches, false, &Outcome::Unchecked);
    let from = text.find("kernels").expect("a table of kernels");
    insta::assert_snapshot!(&text[from..]);
}

#[test]
fn a_functional_run_shows_what_it_has() {
    let outcome = Outcome::Correct { checked: 4096 };
    insta::assert_snapshot!(page(&[launch("matmul", &totals())], true, &outcome));
}

#[test]
fn a_run_without_launches_and_without_time_divides_nothing_by_zero() {
    let machine = Machine::preset("gtx480").expect("a preset");
    let text = Summary {
        what: "nothing".into(),
        machine: &machine,
        functional: false,
        launches: &[],
        totals: &Totals::default(),
        seconds: 0.0,
        outcome: &Outcome::Unchecked,
        style: Style::Plain,
    }
    .text();
    assert!(text.contains("nothing was launched"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[test]
fn briefly_it_is_ten_lines_that_no_terminal_breaks() {
    let machine = Machine::resolve("gtx480-v3", &["scheduler=mwf-gto".into()]).expect("a preset");
    let mismatch = |index| Mismatch {
        what: "a buffer with a long name and what it is for".into(),
        first: index,
        expected: "1.0000001".into(),
        got: "1.0000002".into(),
        differing: 1000,
        total: 4096,
    };
    let wrong = Outcome::Wrong((0..5).map(mismatch).collect());
    let long = "_Z30a_kernel_with_a_very_long_namePfS_i";
    let several: Vec<LaunchReport> = [long, "second", "third"]
        .map(|k| launch(k, &totals()))
        .into();
    for (what, launches, functional) in [
        ("matmul (n = 64, seed 1)", &several[..1], false),
        ("matmul (n = 64, seed 1)", &several[..1], true),
        (&"parameter = 1234567, ".repeat(9), &several[..], false),
    ] {
        let text = Summary {
            what: what.into(),
            machine: &machine,
            functional,
            launches,
            totals: &totals(),
            seconds: 0.5,
            outcome: &wrong,
            style: Style::Plain,
        }
        .brief();
        assert!(text.lines().count() <= 10, "{text}");
        let longest = text.lines().map(|l| l.chars().count()).max();
        assert!(longest <= Some(80), "{text}");
        assert!(text.contains("WRONG: "), "{text}");
    }
}
