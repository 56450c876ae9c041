//! Which memory instructions go together, and which go first.

use super::{bench, counted, issues};
use crate::common::kernel;

/// The warp of slice 0 goes its own way: `single` is what it does with memory where the others do
/// `gang`. Both come to that in the same cycle.
fn sides(single: &str, gang: &str) -> String {
    // Memory answers all of them together.
    let body = format!(
        "ld.global.u32 %r10, [%rd2];
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
        mul.lo.u32 %r7, %r1, 4; and.b32 %r6, %r1, 31; setp.lt.u32 %p1, %r6, 4; @%p1 bra ELSE;
        {ANSWERED}\n{gang} // @gang\n bra END;
        ELSE: {ANSWERED}\n{single} // @single\n
        END: mov.u32 %r9, 1;"
    );
    kernel(1024, &body)
}

/// When the gang of seven and the single warp did that.
fn cycles(single: &str, gang: &str) -> (u64, u64) {
    let ptx = sides(single, gang);
    let mut marks = bench("vws", &["warps=i-vws"], &ptx, true);
    let (at_gang, at_single) = (marks.pc("gang"), marks.pc("single"));
    marks.launch(1, 32);
    let all = issues(&["warps=i-vws"], &ptx, 32);
    let when = |pc: u32, warps: usize| {
        let (cycle, slots) = all
            .iter()
            .find(|(_, slots)| slots.iter().any(|(_, p)| *p == pc))
            .expect("it issued");
        let those = slots.iter().filter(|(_, p)| *p == pc).count();
        assert_eq!(those, warps, "at {pc}");
        *cycle
    };
    (when(at_gang, 7), when(at_single, 1))
}

/// The guards depend on the load.
const ANSWERED: &str = "setp.ne.u32 %p2, %r10, 99;";

const LOAD: &str = "@%p2 ld.global.u32 %r2, [%rd4];";
const OTHER_LOAD: &str = "@%p2 ld.global.u8 %r3, [%rd5];";
const STORE: &str = "@%p2 st.global.u32 [%rd5], %r1;";
const SHARED: &str = "@%p2 st.shared.u32 [%r7], %r1;";
const UNCACHED: &str = "@%p2 ld.global.cv.u32 %r2, [%rd4];";

#[test]
fn accesses_of_one_kind_go_together_from_whatever_instruction() {
    for (single, gang) in [(LOAD, LOAD), (OTHER_LOAD, LOAD), (STORE, STORE)] {
        let (its, theirs) = cycles(single, gang);
        assert_eq!(its, theirs, "{single} {gang}");
    }
}

#[test]
fn of_several_kinds_that_of_the_gang_goes_first() {
    for (single, gang) in [
        (STORE, LOAD),
        (LOAD, STORE),
        (SHARED, LOAD),
        (LOAD, SHARED),
        (UNCACHED, LOAD),
    ] {
        let (gangs, singles) = cycles(single, gang);
        assert!(gangs < singles, "{gangs} {singles}: {single} {gang}");
    }
}

#[test]
fn lanes_of_one_line_are_one_transaction_whatever_their_warp() {
    let transactions = |single: &str, gang: &str| {
        let counters = counted(&["warps=i-vws"], &sides(single, gang), 32);
        counters.global_load_transactions
    };
    // One more is what all of them wait for.
    assert_eq!(transactions(LOAD, LOAD), 2);
    assert_eq!(transactions(LOAD, STORE), 2);
    // Another line each.
    assert_eq!(transactions(OTHER_LOAD, LOAD), 3);
}

/// A fence waits for the stores of its warp, also for those that went out together with another's.
#[test]
fn a_fence_waits_for_stores_made_together() {
    let body = "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd5, %rd1, %rd3; and.b32 %r6, %r1, 4;
        st.global.u32 [%rd5], %r1; setp.eq.u32 %p1, %r6, 0; @%p1 bra ELSE;
        membar.gl;\nmov.u32 %r9, 1; // @odd\n bra END;
        ELSE: membar.gl;\nmov.u32 %r9, 2; // @even\n END: mov.u32 %r8, 1;";
    for name in ["i-vws", "ws4"] {
        let warps = format!("warps={name}");
        let ptx = kernel(0, body);
        let odd = bench("vws", &[&warps], &ptx, true).pc("odd");
        let even = bench("vws", &[&warps], &ptx, true).pc("even");
        let all = issues(&[&warps], &ptx, 32);
        let first = |at: &[u32]| {
            let its =
                |(_, slots): &&(u64, Vec<(u16, u32)>)| slots.iter().any(|(_, pc)| at.contains(pc));
            all.iter()
                .find(its)
                .map(|(cycle, _)| *cycle)
                .expect("it issued")
        };
        let store = first(&[odd - 4]);
        for at in [odd, even] {
            let waited = first(&[at]) - store;
            assert!(waited > 100, "{name}: {waited} cycles to the L2 and back");
        }
    }
}
