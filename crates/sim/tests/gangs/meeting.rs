//! Parts of an original gang that meet again.

use super::counted;
use crate::common::kernel;
use warpsim_sim::stats::SmCounters;

/// Instructions behind the point where the sides of [`branches`] meet.
const TAIL: usize = 20;

/// Half of the warps take a side that is `longer` instructions longer than the other's. Behind both
/// is a chain of additions, so that the part that is ahead stays ahead.
fn branches(longer: usize) -> String {
    let add = |times: usize| "add.u32 %r3, %r3, 1; ".repeat(times);
    let body = format!(
        "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; and.b32 %r6, %r1, 31;
        mov.u32 %r3, 0; setp.lt.u32 %p1, %r6, 16; @%p1 bra ELSE;
        add.u32 %r3, %r3, 1; bra END;
        ELSE: {} END: {} st.global.u32 [%rd4], %r3;",
        add(longer),
        add(TAIL - 2), // and the store, and the return
    );
    kernel(0, &body)
}

fn run(name: &str, longer: usize) -> SmCounters {
    counted(&[&format!("warps={name}")], &branches(longer), 32)
}

#[test]
fn parts_that_do_not_wait_miss_each_other() {
    let elastic = run("e-vws", 12);
    let inelastic = run("i-vws", 12);
    assert_eq!(elastic.gang_merges, 0, "one is ahead all the way");
    assert_eq!(elastic.fetches, inelastic.fetches);
}

#[test]
fn parts_wait_where_branches_meet() {
    let (elastic, patient) = (run("e-vws", 12), run("e-vws-sync2000", 12));
    assert_eq!((patient.gang_splits, patient.gang_merges), (1, 1));
    // What they join at was fetched for the one, and was under way for the other: it is fetched
    // anew, once for both.
    let saved = elastic.fetches - patient.fetches;
    assert_eq!(saved, TAIL as u64 - 2);
    assert!(patient.gang_warps_8 > elastic.gang_warps_8);
    // Everything behind is issued once.
    assert_eq!(elastic.gang_issues - patient.gang_issues, TAIL as u64);
}

#[test]
fn parts_do_not_wait_longer_than_they_may() {
    let (elastic, hasty) = (run("e-vws", 12), run("e-vws-sync20", 12));
    assert_eq!(
        hasty.gang_merges, 0,
        "the other side takes a hundred cycles"
    );
    assert_eq!(hasty.fetches, elastic.fetches);
    // Two instructions apart they meet within 30 cycles, and not within 5.
    assert_eq!(run("e-vws-sync30", 3).gang_merges, 1);
    assert_eq!(run("e-vws-sync5", 3).gang_merges, 0);
}
