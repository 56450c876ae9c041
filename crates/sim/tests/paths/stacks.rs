//! Paths of warps that have a stack each.

use super::{Heard, LOOPS, Run, follow, run, union};
use crate::common::kernel;
use std::collections::BTreeMap;
use warpsim_ptx::kernel::NO_PC;
use warpsim_sim::observe::{Path, PathKind, WarpEvent};

const SIDES: &str = "mov.u32 %r9, %laneid; mov.u32 %r2, 0;
LOOP: add.u32 %r2, %r2, 1; // @loop
setp.lt.u32 %p1, %r9, 8;
@%p1 bra TAKEN; // @branch
add.u32 %r3, %r9, 1; // @else
bra MEET;
TAKEN: add.u32 %r3, %r9, 2; // @taken
MEET: setp.lt.u32 %p2, %r2, 2; // @meet
@%p2 bra LOOP;
setp.ge.u32 %p3, %r9, 30; // @behind
@%p3 exit;
st.global.u32 [%rd1], %r3; // @store";

/// A path as it is written down here: kind, PC, where it ends, lanes.
type Short = (PathKind, u32, u32, u32);

fn changes(run: &Run) -> Vec<Vec<Short>> {
    let told = run.heard.iter().filter_map(|(_, slot, heard)| match heard {
        Heard::Paths(paths) if *slot == 0 => Some(paths),
        _ => None,
    });
    let short = |p: &Path| (p.kind, p.pc, p.until, p.lanes);
    told.map(|paths| paths.iter().map(short).collect())
        .collect()
}

#[test]
fn a_stack_is_told_at_each_of_its_changes() {
    use PathKind::{Runs, Stacked};
    for divergence in ["pdom", "pdom-lcp"] {
        let set = format!("divergence={divergence}");
        let run = run("gtx480", &[&set], &kernel(0, SIDES), 1, 32, true);
        let [loops, other, taken, meet, store] =
            ["loop", "else", "taken", "meet", "store"].map(|mark| run.bench.pc(mark));
        let parted = |running: Short, other: &[Short]| {
            let whole = (Stacked, meet, NO_PC, !0);
            [&[running], other, &[whole]].concat()
        };
        let all = |pc| vec![(Runs, pc, NO_PC, !0)];
        let once = [
            parted((Runs, taken, meet, 0xff), &[(Stacked, other, meet, !0xff)]),
            parted((Runs, other, meet, !0xff), &[]),
            all(meet),
        ];
        let expected = [
            &[all(0)][..],
            &once,
            &[all(loops)],
            &once,
            &[vec![(Runs, store, NO_PC, 0x3fff_ffff)], vec![]],
        ];
        assert_eq!(changes(&run), expected.concat(), "{divergence}");
    }
}

#[test]
fn paths_on_a_stack_are_nested_or_apart_and_have_all_threads_that_are_left() {
    for (preset, set) in [
        ("gtx480", &["divergence=pdom"][..]),
        ("gtx480", &["divergence=pdom-lcp"]),
        ("vws", &["sm.warp_width=8"]),
        ("vws", &["warps=i-vws"]),
        ("fx5800", &["warps=e-vws"]),
    ] {
        for skip in [false, true] {
            let run = run(preset, set, &kernel(0, LOOPS), 3, 128, skip);
            let mut left: BTreeMap<u16, u32> = BTreeMap::new();
            let mut exits = BTreeMap::new();
            for (cycle, slot, heard) in &run.heard {
                if let Heard::Warp(WarpEvent::Issued { pc, lanes }) = heard
                    && run.exits.contains(pc)
                {
                    exits.insert((*cycle, *slot), *lanes);
                }
            }
            let mut stacks = 0;
            follow(&run, |cycle, slot, _, paths| {
                let whole = run.layout.lanes_of(run.layout.home_of(slot).1);
                let left = left.entry(slot).or_insert(whole);
                if *left == 0 {
                    *left = whole; // of the next block
                }
                let its = &paths[&slot];
                assert_eq!(union(its), *left, "{set:?}, {cycle}: {its:?}");
                for (at, a) in its.iter().enumerate() {
                    let below = its[at + 1..].iter();
                    for b in below.map(|b| b.lanes) {
                        let inside = a.lanes & !b == 0;
                        assert!(a.lanes & b == 0 || inside, "{set:?}, {cycle}: {its:?}");
                    }
                }
                stacks += usize::from(its.len() > 2);
                *left &= !exits.get(&(cycle, slot)).copied().unwrap_or(0);
            });
            assert!(left.values().all(|lanes| *lanes == 0), "{left:?}");
            assert!(stacks > 10, "{set:?}: {stacks}");
        }
    }
}
