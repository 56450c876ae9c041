//! Gangs that are joined again: one original gang is looked at in each cycle, in turn, and parts of
//! it that stand at one PC become one.

use super::super::{GangView, Place};
use super::table::{Part, Table};
use crate::sm::fixed_list::FixedList;
use crate::stats::SmCounters;
use crate::time::Cycle;

/// Looks at original gangs in turn.
#[derive(Debug)]
pub struct Reform {
    /// More than two parts may be joined in a cycle.
    all: bool,
    /// The original gang looked at last, and when.
    at: u16,
    last: Cycle,
}

impl Reform {
    pub fn new(all: bool) -> Reform {
        Reform {
            all,
            at: 0,
            last: Cycle::ZERO,
        }
    }

    /// Looks at the original gang whose turn it is: of those with several parts, the next one in
    /// each cycle. In cycles that were skipped there was nothing to join. Warps that are to be
    /// fetched for anew are added to `clear`.
    pub fn step(
        &mut self,
        table: &mut Table,
        view: &GangView,
        clear: &mut Vec<Place>,
        counters: &mut SmCounters,
    ) {
        let cycles = view.now.since(self.last);
        self.last = view.now;
        let split = |home: &u16| table.get(*home).parts.len() > 1;
        let those = || (0..table.len()).filter(split);
        let count = those().count() as u64;
        if count == 0 {
            return;
        }
        // The first behind the last one, then as many on as cycles have passed.
        let behind = those().filter(|h| *h <= self.at).count() as u64;
        let nth = (behind + cycles + count - 1) % count;
        let home = those().nth(nth as usize).expect("there are so many");
        self.at = home;
        self.join(home, table, view, clear, counters);
    }

    fn join(
        &self,
        home: u16,
        table: &mut Table,
        view: &GangView,
        clear: &mut Vec<Place>,
        counters: &mut SmCounters,
    ) {
        let members = table.get(home).members;
        let old = table.get(home).parts;
        let mut parts: FixedList<Part, 8> = FixedList::default();
        let mut joined = 0u64;
        let mut grown = 0u8;
        for part in old.iter() {
            let may = self.all || joined == 0;
            match parts.iter_mut().find(|p| may && p.pc == part.pc) {
                Some(first) => {
                    joined += 1;
                    if part.slices.count_ones() > first.slices.count_ones() {
                        first.id = part.id;
                    }
                    first.slices |= part.slices;
                    first.waits = first.waits.min(part.waits);
                    grown |= first.slices;
                }
                None => parts.push(*part),
            }
        }
        if joined == 0 {
            return;
        }
        counters.gang_merges += joined;
        for part in parts.iter_mut().filter(|p| p.slices & grown != 0) {
            if part.slices == members {
                part.waits = None;
            }
            let places = table.places(home, part.slices);
            if places.iter().any(|p| (view.lacks_instruction)(*p)) {
                clear.extend(places.iter());
            }
        }
        table.set_parts(home, parts);
    }
}
