//! Paths of warps that are formed from threads of several static warps.

use super::{Heard, LOOPS, follow, run, union};
use crate::common::kernel;
use std::collections::BTreeMap;
use warpsim_sim::observe::{Path, PathKind, WarpEvent};

/// The static warp of each lane of a slot.
type Holders = BTreeMap<u16, [(u64, u16); 32]>;

#[test]
fn warps_of_a_blocks_stack_have_what_runs_in_them_and_their_own_threads_elsewhere() {
    for divergence in ["tbc", "tbc-lcp"] {
        let set = format!("divergence={divergence}");
        for skip in [false, true] {
            let set = [set.as_str(), "scheduler=age"];
            let run = run("fx5800", &set, &kernel(0, LOOPS), 2, 128, skip);
            let mut names: BTreeMap<u16, (u64, u16)> = BTreeMap::new();
            let mut left: BTreeMap<(u64, u16), u32> = BTreeMap::new();
            for (_, slot, heard) in &run.heard {
                if let Heard::Warp(WarpEvent::Launched { block, warp }) = *heard {
                    names.insert(*slot, (block, warp));
                    left.insert((block, warp), !0);
                }
            }
            // By cycle: the static warps as they are held from then on, and the exits.
            let mut held: Holders = BTreeMap::new();
            let mut at = 0;
            let mut elsewhere = 0;
            follow(&run, |cycle, slot, lanes, paths| {
                let exit = loop {
                    let (when, which, heard) = &run.heard[at];
                    at += 1;
                    match *heard {
                        Heard::Warp(WarpEvent::Holds { block, warp, lanes }) => {
                            let all = held.entry(*which).or_insert([(0, 0); 32]);
                            let those = (0..32).filter(|lane| lanes >> lane & 1 != 0);
                            those.for_each(|lane| all[lane] = (block, warp));
                        }
                        Heard::Warp(WarpEvent::Issued { pc, .. })
                            if (*when, *which) == (cycle, slot) =>
                        {
                            break run.exits.contains(&pc);
                        }
                        _ => {}
                    }
                };
                let (name, its) = (names[&slot], &paths[&slot]);
                let here = |lane: &usize| lanes >> lane & 1 != 0;
                let own = (0..32)
                    .filter(here)
                    .filter(|lane| held[&slot][*lane] == name);
                let own = own.fold(0, |all, lane| all | 1u32 << lane);
                let what = format!("{set:?}, {cycle}, slot {slot}: {its:?}");
                assert_eq!(own | union(&its[1..]), left[&name], "{what}");
                let parked = its[1..].iter().filter(|p| p.kind == PathKind::Parked);
                for path in parked {
                    elsewhere += 1;
                    assert_eq!(path.lanes & own, 0, "{what}");
                }
                if exit {
                    for lane in (0..32).filter(here) {
                        let of = &held[&slot][lane];
                        let left = left.get_mut(of).expect("it came");
                        *left &= !(1 << lane);
                    }
                }
            });
            assert!(elsewhere > 10, "{elsewhere}");
            assert!(left.values().all(|lanes| *lanes == 0), "{left:?}");
        }
    }
}

#[test]
fn warps_of_a_pool_together_have_all_threads_that_are_left() {
    for (divergence, all) in [("dwf", true), ("dwf-wb", false)] {
        let set = format!("divergence={divergence}");
        for skip in [false, true] {
            let set = [set.as_str(), "scheduler=majority"];
            let run = run("fx5800", &set, &kernel(0, LOOPS), 1, 256, skip);
            follow(&run, |_, _, _, _| {});
            let mut paths: BTreeMap<u16, Vec<Path>> = BTreeMap::new();
            let (mut left, mut checked) = (256, 0);
            // By cycle: what stands at its end.
            for heard in run.heard.chunk_by(|a, b| a.0 == b.0) {
                for (_, slot, heard) in heard {
                    match heard {
                        Heard::Paths(told) => drop(paths.insert(*slot, told.clone())),
                        Heard::Warp(WarpEvent::Dissolved) => drop(paths.remove(slot)),
                        Heard::Warp(WarpEvent::Issued { pc, lanes }) if run.exits.contains(pc) => {
                            left -= lanes.count_ones();
                        }
                        Heard::Warp(_) => {}
                    }
                }
                let lanes = paths.values().flatten().map(|path| path.lanes.count_ones());
                let lanes: u32 = lanes.sum();
                let cycle = heard[0].0;
                checked += 1;
                assert!(lanes <= left, "{set:?}, {cycle}: {lanes} of {left}");
                assert!(!all || lanes == left, "{set:?}, {cycle}: {lanes} of {left}");
            }
            assert!(checked > 100);
            assert_eq!(left, 0, "{set:?}");
        }
    }
}
