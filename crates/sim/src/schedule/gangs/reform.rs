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
            if places.iter().any(|p| (view.lacks_instruction)(p)) {
                clear.extend(places.iter());
            }
        }
        table.set_parts(home, parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Machine;
    use crate::divergence::Groups;
    use crate::place::Layout;

    fn layout() -> Layout {
        let machine = Machine::resolve("vws", &["warps=e-vws".to_string()]);
        Layout::of(&machine.expect("a machine"))
    }

    /// A table with original gangs that are divided like this: slices and PCs.
    fn table(gangs: &[&[(u8, u32)]]) -> Table {
        let mut table = Table::new(layout(), 8);
        for (home, parts) in gangs.iter().enumerate() {
            for slice in 0..8 {
                table.add(table.place(home as u16, slice), home as u64);
            }
            let mut divided = FixedList::default();
            for &(slices, pc) in parts.iter() {
                let id = table.new_id();
                divided.push(Part {
                    slices,
                    pc,
                    waits: None,
                    id,
                });
            }
            table.set_parts(home as u16, divided);
        }
        table
    }

    /// Steps in these cycles, with warps of these slices lacking their instruction; the slices of
    /// each original gang's parts, and those to be fetched for anew.
    fn steps(reform: &mut Reform, table: &mut Table, cycles: &[u64], lacking: u8) -> Vec<Place> {
        let groups = Groups::new(256);
        let mut clear = Vec::new();
        for cycle in cycles {
            let view = GangView {
                now: Cycle::new(*cycle),
                groups: &groups,
                layout: layout(),
                waits_for_data: &|_| false,
                lacks_instruction: &|place| lacking >> place.domain & 1 != 0,
            };
            let mut counters = SmCounters::default();
            reform.step(table, &view, &mut clear, &mut counters);
        }
        clear
    }

    fn slices(table: &Table, home: u16) -> Vec<u8> {
        table.get(home).parts.iter().map(|p| p.slices).collect()
    }

    #[test]
    fn a_part_that_moves_meets_another_and_leaves_it() {
        let mut table = table(&[&[(0x0f, 5), (0xf0, 7)]]);
        assert!(!table.any_mergeable());
        assert!(table.move_part(0, 0xf0, 5) && table.any_mergeable());
        assert!(table.move_part(0, 0x0f, 6) && !table.any_mergeable());
        assert!(!table.move_part(0, 0x03, 5), "it has no such part");
        let pcs: Vec<u32> = table.get(0).parts.iter().map(|p| p.pc).collect();
        assert_eq!(pcs, [6, 5]);
    }

    #[test]
    fn two_parts_are_joined_in_a_cycle_or_all() {
        let gang: &[(u8, u32)] = &[(0b11, 5), (0b100, 5), (0b1000, 7), (0b11110000, 5)];
        let mut two = table(&[gang]);
        let mut reform = Reform::new(false);
        steps(&mut reform, &mut two, &[1], 0);
        assert_eq!(slices(&two, 0), [0b111, 0b1000, 0b11110000]);
        steps(&mut reform, &mut two, &[2], 0);
        assert_eq!(slices(&two, 0), [0b11110111, 0b1000]);
        let mut all = table(&[gang]);
        steps(&mut Reform::new(true), &mut all, &[1], 0);
        assert_eq!(slices(&all, 0), [0b11110111, 0b1000]);
    }

    #[test]
    fn one_original_gang_is_looked_at_in_a_cycle_in_turn() {
        let split: &[(u8, u32)] = &[(0x0f, 5), (0xf0, 5)];
        let whole: &[(u8, u32)] = &[(0xff, 5)];
        let mut table = table(&[split, whole, split, split]);
        let mut reform = Reform::new(false);
        steps(&mut reform, &mut table, &[1], 0);
        let divided = |table: &Table| [0, 2, 3].map(|home| slices(table, home).len());
        assert_eq!(divided(&table), [2, 1, 2]);
        steps(&mut reform, &mut table, &[2], 0);
        assert_eq!(divided(&table), [2, 1, 1]);
        steps(&mut reform, &mut table, &[3], 0);
        assert_eq!(divided(&table), [1, 1, 1]);
    }

    #[test]
    fn who_joins_keeps_its_instruction_if_all_have_it() {
        let gang: &[(u8, u32)] = &[(0x0f, 5), (0xf0, 5)];
        let mut reform = Reform::new(false);
        assert!(steps(&mut reform, &mut table(&[gang]), &[1], 0).is_empty());
        let mut table = table(&[gang]);
        let clear = steps(&mut Reform::new(false), &mut table, &[1], 0b0100_0000);
        assert_eq!(clear.len(), 8, "it is fetched for all of them, once");
    }
}
