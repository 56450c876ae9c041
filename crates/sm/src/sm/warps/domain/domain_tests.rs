use super::*;
use crate::sm::warps::scoreboard::Hazard;

/// Passed over by fetch.
const WAITERS: Waiters = Waiters(!0);

/// Every set holds every warp.
fn full() -> Domain {
    Domain {
        running: !0,
        held: !0,
        head: !0,
        matched: !0,
        clear: !0,
        kind: [!0; 2],
        issue_free: Cycle::ZERO,
        due: Cycle::ZERO,
        accounted: Cycle::ZERO,
        room: 0,
        resident: !0,
        wait_memory: !0,
        control: !0,
        unresolved: !0,
        wants_fetch: !0,
        missing: !0,
        finished: !0,
        leaving: !0,
        retired: !0,
        barrier: !0,
        stopped: !0,
        long_wait: !0,
        accesses: !0,
        settling: !0,
        settling_memory: !0,
        fence: !0,
        atomic: !0,
        asleep: !0,
        members: !0,
        next_block: !0,
        siblings: !0,
    }
}

#[test]
fn a_forgotten_warp_is_in_no_set() {
    let mut domain = full();
    domain.clear_warp(5);
    assert_eq!(domain.leaving, !(1 << 5), "the others stay");
    (0..64).for_each(|index| domain.clear_warp(index));
    assert_eq!(format!("{domain:?}"), format!("{:?}", Domain::default()));
}

#[test]
fn fetch_is_concerned_by_warps_that_leave_and_those_it_can_fetch_for() {
    let mut domain = Domain::default();
    assert_eq!(domain.concerns_fetch(WAITERS), 0);
    domain.finished = 0b0110;
    assert_eq!(domain.concerns_fetch(WAITERS), 0, "something is in flight");
    domain.leaving = 0b0010;
    domain.running = 0b1001;
    domain.wants_fetch = 0b1101;
    assert_eq!(domain.concerns_fetch(WAITERS), 0b1011);
    domain.hold(Hold::Barrier, 3, true);
    assert_eq!(
        domain.concerns_fetch(WAITERS),
        0b0011,
        "waiters are not fetched for"
    );
}

#[test]
fn held_warps_are_no_candidates_until_nothing_holds_them() {
    let mut domain = Domain {
        running: 0b11,
        ..Domain::default()
    };
    domain.hold(Hold::Fence, 1, true);
    domain.hold(Hold::Asleep, 1, true);
    domain.hold(Hold::Fence, 1, false);
    assert_eq!(domain.candidates(), 0b01);
    domain.hold(Hold::Asleep, 1, false);
    assert_eq!(domain.candidates(), 0b11);
}

#[test]
fn issue_is_due_when_a_warp_with_room_finds_the_slot_free() {
    let mut domain = Domain {
        running: 1,
        issue_free: Cycle::new(30),
        ..Domain::default()
    };
    let sp = 1;
    assert_eq!(domain.issue_due(sp, true), Cycle::NEVER, "an empty buffer");
    domain.set_head(0, 0, true);
    assert_eq!(
        domain.issue_due(sp, false),
        Cycle::NEVER,
        "it waits for data"
    );
    domain.hold_back(0, Hazard::default());
    assert_eq!(domain.issue_due(sp, false), Cycle::new(30));
    assert_eq!(domain.issue_due(0b1110, false), Cycle::NEVER, "no room");
    assert_eq!(domain.issue_due(0b1110, true), Cycle::ZERO);
    domain.set_head(0, 0, false);
    assert_eq!(
        domain.issue_due(0, false),
        Cycle::ZERO,
        "a wrong path is dropped at once"
    );
}
