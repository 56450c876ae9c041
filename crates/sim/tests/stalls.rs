//! Where cycles went: one test a state. Each says in which cycles exactly a warp is in it.

use crate::common;

use common::{Bench, kernel, machine};
use warpsim_sim::observe::WarpEvent;
use warpsim_sim::stats::{SchedulerState, WarpState};

/// What the warp in `slot` was doing in each cycle from `from` (not included) to `to`.
fn states(bench: &Bench, slot: u16, from: u64, to: u64) -> Vec<WarpState> {
    let mut all = Vec::new();
    let mut now: Option<(WarpState, u64)> = None;
    let mut add = |state: Option<(WarpState, u64)>, end: u64| {
        if let Some((state, since)) = state {
            all.extend(
                (since..end)
                    .filter(|c| (from + 1..to).contains(c))
                    .map(|_| state),
            );
        }
    };
    for (cycle, sm, s, event) in bench.events() {
        if (sm, s) != (0, slot) {
            continue;
        }
        match event {
            WarpEvent::State(state) => add(now.replace((state, cycle)), cycle),
            WarpEvent::Left => add(now.take(), cycle + 1),
            _ => {}
        }
    }
    all
}

/// What a lone warp is doing between the issues of the instructions marked `a` and `b`.
fn between(preset: &str, set: &[&str], body: &str) -> Vec<WarpState> {
    // One SM: with several, the second launch would go on with the next.
    let set = [set, &["gpu.sms=1"]].concat();
    let mut bench = Bench::new(machine(preset, &set), &kernel(256, body));
    bench.launch(1, 32).launch(1, 32);
    states(&bench, 0, bench.at("a"), bench.at("b"))
}

/// Makes the next instruction the first of a pair that is fetched.
const FRESH: &str = "bra FRESH;\nmov.u32 %r60, 0;\nFRESH:\n";

fn only(state: WarpState, cycles: usize) -> Vec<WarpState> {
    vec![state; cycles]
}

#[test]
fn waiting_for_a_result_is_data() {
    let alu = format!("{FRESH} add.u32 %r2, %r1, 1; // @a\nadd.u32 %r3, %r2, 1; // @b\n");
    assert_eq!(between("gtx480", &[], &alu), only(WarpState::DataAlu, 9));
    let sfu = format!("{FRESH} ex2.approx.f32 %f2, %f1; // @a\nadd.f32 %f3, %f2, %f2; // @b\n");
    assert_eq!(between("gtx480", &[], &sfu), only(WarpState::DataAlu, 13));
    for (load, cycles) in [
        ("ld.global.u32 %r2, [%rd2]; // @a\n", 180),
        ("ld.shared.u32 %r2, [tile]; // @a\n", 29), // no register to read first
    ] {
        let body = format!("{FRESH} {load} add.u32 %r3, %r2, 1; // @b\n");
        let seen = between("gtx480", &[], &body);
        assert_eq!(seen, only(WarpState::DataMemory, cycles), "{load}");
    }
}

#[test]
fn with_one_instruction_in_flight_the_one_in_flight_decides() {
    let one = ["sm.scoreboard=one-in-flight"];
    let load = format!("{FRESH} ld.global.u32 %r2, [%rd2]; // @a\nadd.u32 %r3, %r1, 1; // @b\n");
    let seen = between("gtx480", &one, &load);
    assert!(seen.len() > 100);
    assert_eq!(seen, only(WarpState::DataMemory, seen.len()));
    let add = format!("{FRESH} add.u32 %r2, %r1, 1; // @a\nadd.u32 %r3, %r1, 1; // @b\n");
    let seen = between("gtx480", &one, &add);
    assert_eq!(seen, only(WarpState::DataAlu, 9));
}

#[test]
fn fences_and_atomics_wait_for_memory() {
    let fence = format!(
        "{FRESH} st.global.u32 [%rd1], %r1;\nmembar.gl; // @a\nadd.u32 %r3, %r1, 1; // @b\n"
    );
    let seen = between("gtx480", &[], &fence);
    assert!(seen.len() > 100);
    // Instructions behind the fence are fetched while it waits.
    assert_eq!(seen, only(WarpState::DataMemory, seen.len()));
    let atomic = format!(
        "{FRESH} atom.global.add.u32 %r2, [%rd1], %r1; // @a\nadd.u32 %r3, %r1, 1; // @b\n"
    );
    let seen = between("gtx480", &[], &atomic);
    assert!(seen.len() > 100);
    assert_eq!(seen, only(WarpState::DataMemory, seen.len()));
}

#[test]
fn a_branch_until_its_target_is_there_is_control() {
    let first = format!("{FRESH} bra TO; // @a\nmov.u32 %r2, 0;\nTO: add.u32 %r3, %r1, 1; // @b\n");
    assert_eq!(between("gtx480", &[], &first), only(WarpState::Control, 2));
    let second = format!(
        "{FRESH} mov.u32 %r4, 0;\nbra TO; // @a\nmov.u32 %r2, 0;\nTO: add.u32 %r3, %r1, 1; // @b\n"
    );
    let seen = between("gtx480", &[], &second);
    assert_eq!(seen, only(WarpState::Control, seen.len()));
    assert!(seen.len() >= 2);
}

#[test]
fn a_branch_that_fetch_waits_for_is_control_even_where_it_is_not_taken() {
    let body = format!(
        "setp.eq.u32 %p1, %r1, 1000; {FRESH} mov.u32 %r4, 0;\n@%p1 bra TO; // @a\n\
         add.u32 %r3, %r1, 1; // @b\nTO: mov.u32 %r5, 0;\n"
    );
    let waiting = between("gtx480", &["fetch.wait_for_branch=true"], &body);
    let control = waiting.iter().filter(|&&s| s == WarpState::Control).count();
    // The branch leaves the pipeline after six cycles; then fetch and decode.
    assert_eq!(control, 5, "{waiting:?}");
    assert_eq!(waiting[..control], only(WarpState::Control, control));
    assert_eq!(
        waiting[control..],
        only(WarpState::Fetch, waiting.len() - control)
    );
    let free = between("gtx480", &[], &body);
    assert_eq!(free, only(WarpState::Fetch, free.len()), "fetched at once");
}

#[test]
fn a_full_collector_or_unit_is_structural() {
    let mut body = String::from("mov.f32 %f1, 0f3F800000;\n");
    for i in 0..40 {
        let mark = match i {
            24 => " // @a",
            36 => " // @b",
            _ => "",
        };
        body += &format!("ex2.approx.f32 %f{}, %f1;{mark}\n", 10 + i);
    }
    let seen = between("gtx480", &[], &body);
    let stalled = seen
        .iter()
        .filter(|s| !matches!(s, WarpState::Issued | WarpState::Fetch));
    assert_eq!(
        stalled.clone().count(),
        stalled.filter(|&&s| s == WarpState::Structural).count()
    );
    let structural = seen.iter().filter(|&&s| s == WarpState::Structural).count();
    assert!(structural > 50, "{seen:?}");
}

#[test]
fn an_issue_slot_held_by_a_wide_instruction_is_structural() {
    let body = format!("{FRESH} add.u32 %r2, %r1, 1; // @a\nadd.u32 %r3, %r1, 1; // @b\n");
    let seen = between(
        "gtx480",
        &["unit.sp.lanes=8", "unit.sfu.lanes=8", "unit.mem.lanes=8"],
        &body,
    );
    assert_eq!(seen, only(WarpState::Structural, 3));
}

#[test]
fn a_ready_warp_that_is_not_chosen_is_eligible() {
    let body =
        format!("bar.sync 0; {FRESH} add.u32 %r2, %r1, 1; // @a\nadd.u32 %r3, %r1, 1; // @b\n");
    let set = ["gpu.sms=1", "sm.schedulers=1", "scheduler=oldest"];
    let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, &body));
    bench.launch(1, 64).launch(1, 64);
    // Both have their pair; the first one takes the scheduler for two cycles.
    let (a, b) = (bench.issues_of(0, "a")[0], bench.issues_of(0, "b")[0]);
    assert_eq!(b, a + 1);
    let late = bench.issues_of(1, "a")[0];
    let seen = states(&bench, 1, a - 1, late);
    assert!(
        seen.contains(&WarpState::Eligible) || late == a + 1,
        "{seen:?}"
    );
    let eligible: u64 = bench.report().totals.sm.warps.get(WarpState::Eligible);
    assert!(eligible > 0);
}

#[test]
fn a_warp_is_at_its_barrier_from_arrival_to_release() {
    let body = "setp.ge.u32 %p1, %r1, 32; @%p1 bra WAIT; mov.u32 %r6, 0;
        WORK: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 20; @%p1 bra WORK;
        WAIT: bar.sync 0; // @wait";
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=1"]), &kernel(0, body));
    bench.launch(1, 64).launch(1, 64);
    let (first, last) = (bench.issues_of(1, "wait")[0], bench.issues_of(0, "wait")[0]);
    let seen = states(&bench, 1, first, last);
    assert!(seen.len() > 200);
    assert_eq!(seen, only(WarpState::Barrier, seen.len()));
}

#[test]
fn from_its_exit_a_warp_waits_for_its_stores_and_then_for_its_siblings() {
    let body = "setp.ge.u32 %p1, %r1, 32; @%p1 bra OUT; mov.u32 %r6, 0;
        WORK: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 60; @%p1 bra WORK;
        OUT: st.global.u32 [%rd1], %r1;\nexit; // @exit\n";
    let mut bench = Bench::new(machine("gtx480", &["gpu.sms=1"]), &kernel(0, body));
    bench.launch(1, 64).launch(1, 64);
    let time = |slot: u16, wanted: WarpEvent| {
        let events = bench.events();
        let found = events.iter().find(|e| e.2 == slot && e.3 == wanted);
        found.expect("it happens").0
    };
    let exit = bench.issues_of(1, "exit")[0];
    let retired = time(1, WarpEvent::Retired);
    let left = time(1, WarpEvent::Left);
    assert_eq!(left, time(0, WarpEvent::Retired), "the block leaves as one");
    let stores = states(&bench, 1, exit, retired + 1);
    assert_eq!(stores, only(WarpState::ExitStores, stores.len()));
    assert!(stores.len() > 100);
    let siblings = states(&bench, 1, retired, left + 1);
    assert_eq!(siblings, only(WarpState::ExitSiblings, siblings.len()));
    assert!(siblings.len() > 100);
}

#[test]
fn until_its_first_instruction_comes_a_warp_waits_for_fetch() {
    let mut bench = Bench::new(machine("gtx480", &[]), &kernel(0, "mov.u32 %r2, 0;"));
    bench.launch(1, 32);
    let issued = |e: &&common::Event| matches!(e.3, WarpEvent::Issued { .. });
    let first = bench.events().iter().find(issued).expect("it issues").0;
    let seen = states(&bench, 0, 0, first);
    assert!(seen.len() > 200, "an I-cache miss that goes to DRAM");
    assert_eq!(seen, only(WarpState::Fetch, seen.len()));
}

/// With one warp the scheduler ranks it first, always: it stalls for the warp's reasons.
#[test]
fn a_scheduler_with_one_warp_stalls_for_its_reasons() {
    let body = "mov.f32 %f1, 0f3F800000; mov.u32 %r6, 0;
        LOOP: ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r2, %r6; ex2.approx.f32 %f2, %f1;
        ex2.approx.f32 %f3, %f1; ex2.approx.f32 %f4, %f1; ex2.approx.f32 %f5, %f1;
        bar.sync 0; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 9; @%p1 bra LOOP;
        st.global.u32 [%rd1], %r3;";
    for policy in common::issue_policies() {
        let policy = format!("scheduler=\"{policy}\"");
        let set = ["gpu.sms=1", "sm.schedulers=1", &policy];
        let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, body));
        bench.launch(1, 32);
        let totals = &bench.report().totals;
        let warp = |s| totals.sm.warps.get(s);
        let exit = warp(WarpState::ExitStores) + warp(WarpState::ExitSiblings);
        for (state, expected) in [
            (SchedulerState::Issued, warp(WarpState::Issued)),
            (SchedulerState::Fetch, warp(WarpState::Fetch)),
            (SchedulerState::Control, warp(WarpState::Control)),
            (SchedulerState::DataMemory, warp(WarpState::DataMemory)),
            (SchedulerState::DataAlu, warp(WarpState::DataAlu)),
            (SchedulerState::Structural, warp(WarpState::Structural)),
            (SchedulerState::Barrier, warp(WarpState::Barrier)),
            (SchedulerState::Exit, exit),
        ] {
            let seen = totals.sm.schedulers.get(state);
            assert_eq!(seen, expected, "{policy}: {}", state.name());
        }
        assert!(warp(WarpState::DataMemory) > 500 && exit > 100);
    }
}

/// Of eight warps one works and seven wait for it. That they wait is a share of warps' time whatever the policy; whether the warp that a
/// scheduler ranks first does depends on the policy.
#[test]
fn what_the_first_ranked_warp_waits_for_depends_on_the_policy_and_where_warps_wait_does_not() {
    let body = "setp.ge.u32 %p1, %r1, 32; @%p1 bra OUT; mov.u32 %r6, 0;
        WORK: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 300; @%p1 bra WORK;
        OUT: bar.sync 0; st.global.u32 [%rd1], %r1;";
    let shares = |policy: &str| {
        let policy = format!("scheduler={policy}");
        let set = ["gpu.sms=1", "sm.schedulers=1", &policy];
        let mut bench = Bench::new(machine("gtx480", &set), &kernel(0, body));
        bench.launch(1, 256);
        let totals = &bench.report().totals;
        let share = |name: &str| totals.derived(name).expect("a statistic");
        let states = ["barrier", "fetch", "control", "data", "structural"];
        let first: f64 = states
            .map(|s| share(&format!("first_{s}_share")))
            .iter()
            .sum();
        let issued = totals.sm.schedulers.get(SchedulerState::Issued);
        assert!(first < 1.0 - issued as f64 / totals.sm.schedulers.sum() as f64 + 1e-9);
        [share("barrier_share"), share("first_barrier_share")]
    };
    let [[lrr, lrr_first], [mwf, mwf_first]] = ["lrr", "mwf-lrr"].map(shares);
    assert!((lrr - mwf).abs() < 0.02 && lrr > 0.6, "{lrr} {mwf}");
    assert!(
        lrr_first > 0.5 && mwf_first < 0.05,
        "{lrr_first} {mwf_first}"
    );
}
