//! Gangs that are joined again: one original gang is looked at in each cycle, in turn, and parts of
//! it that stand at one PC become one.

use super::super::{GangView, Place};
use super::table::{Part, Table};
use crate::fixed_list::FixedList;
use crate::stats::SmCounters;
use crate::time::Cycle;

/// The original gangs that are looked at in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// All that have warps.
    All,
    /// Those that have several parts.
    Split,
}

impl Turn {
    /// By home warp, those that are.
    fn takers(self, table: &Table) -> impl Iterator<Item = u16> + Clone {
        let least = match self {
            Turn::All => 1,
            Turn::Split => 2,
        };
        (0..table.len()).filter(move |home| table.get(*home).parts.len() >= least)
    }
}

/// Looks at original gangs in turn.
#[derive(Debug)]
pub struct Reform {
    /// More than two parts may be joined in a cycle.
    all: bool,
    turn: Turn,
    /// The original gang looked at last, and when.
    at: u16,
    last: Cycle,
    /// Those that take turns as they were before warps came in this cycle, if any did.
    before: Option<Vec<u16>>,
}

/// The one that is looked at, of these, so many cycles behind `last`.
fn nth_behind(last: u16, cycles: u64, takers: impl Iterator<Item = u16> + Clone) -> Option<u16> {
    let count = takers.clone().count() as u64;
    if count == 0 || cycles == 0 {
        return None;
    }
    let behind = takers.clone().filter(|home| *home <= last).count() as u64;
    let nth = (behind + cycles + count - 1) % count;
    takers.clone().nth(nth as usize)
}

impl Reform {
    pub fn new(all: bool, turn: Turn) -> Reform {
        Reform {
            all,
            turn,
            at: 0,
            last: Cycle::ZERO,
            before: None,
        }
    }

    /// Warps are about to come.
    pub fn note_before(&mut self, table: &Table) {
        self.before = Some(self.turn.takers(table).collect());
    }

    /// Looks at the original gang whose turn it is, the next one in each cycle. In cycles that were skipped there was
    /// nothing to join. Warps that are to be fetched for anew are added to `clear`.
    pub fn step(
        &mut self,
        table: &mut Table,
        view: &GangView,
        clear: &mut Vec<Place>,
        counters: &mut SmCounters,
    ) {
        let mut cycles = view.now.since(self.last);
        self.last = view.now;
        if let Some(before) = self.before.take() {
            let skipped = nth_behind(self.at, cycles.saturating_sub(1), before.into_iter());
            (self.at, cycles) = (skipped.unwrap_or(self.at), 1);
        }
        if let Some(home) = nth_behind(self.at, cycles, self.turn.takers(table)) {
            self.at = home;
            self.join(home, table, view, clear, counters);
        }
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
            match parts.iter_mut().find(|p| may && p.meets(part)) {
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
    use crate::config::{Machine, ReadMachine};
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
                    held: false,
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
                waits_for_threads: &|_| false,
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
        let mut reform = Reform::new(false, Turn::Split);
        steps(&mut reform, &mut two, &[1], 0);
        assert_eq!(slices(&two, 0), [0b111, 0b1000, 0b11110000]);
        steps(&mut reform, &mut two, &[2], 0);
        assert_eq!(slices(&two, 0), [0b11110111, 0b1000]);
        let mut all = table(&[gang]);
        steps(&mut Reform::new(true, Turn::Split), &mut all, &[1], 0);
        assert_eq!(slices(&all, 0), [0b11110111, 0b1000]);
    }

    #[test]
    fn one_original_gang_is_looked_at_in_a_cycle_in_turn() {
        let split: &[(u8, u32)] = &[(0x0f, 5), (0xf0, 5)];
        let whole: &[(u8, u32)] = &[(0xff, 5)];
        let mut table = table(&[split, whole, split, split]);
        let mut reform = Reform::new(false, Turn::Split);
        steps(&mut reform, &mut table, &[1], 0);
        let divided = |table: &Table| [0, 2, 3].map(|home| slices(table, home).len());
        assert_eq!(divided(&table), [2, 1, 2]);
        steps(&mut reform, &mut table, &[2], 0);
        assert_eq!(divided(&table), [2, 1, 1]);
        steps(&mut reform, &mut table, &[3], 0);
        assert_eq!(divided(&table), [1, 1, 1]);
    }

    /// Cycles until eight single warps at one PC are one gang, in one of four original gangs.
    fn cycles_to_join_eight(turn: Turn) -> u64 {
        let singles: Vec<(u8, u32)> = (0..8).map(|slice| (1 << slice, 5)).collect();
        let whole: &[(u8, u32)] = &[(0xff, 5)];
        let mut table = table(&[&singles, whole, whole, whole]);
        let mut reform = Reform::new(false, turn);
        let joined = (1..100).find(|cycle| {
            steps(&mut reform, &mut table, &[*cycle], 0);
            table.get(0).parts.len() == 1
        });
        joined.expect("they are joined")
    }

    #[test]
    fn two_parts_are_joined_each_time_that_the_turn_comes_round() {
        assert_eq!(cycles_to_join_eight(Turn::Split), 7);
        assert_eq!(cycles_to_join_eight(Turn::All), 7 * 4);
    }

    #[test]
    fn cycles_before_warps_came_are_turns_of_those_that_were_there() {
        let split: &[(u8, u32)] = &[(0x0f, 5), (0xf0, 5)];
        let mut two = table(&[split, split]);
        let mut reform = Reform::new(false, Turn::All);
        // Four cycles of two, then one of three: it is the turn of the second again.
        reform.note_before(&two);
        for slice in 0..8 {
            two.add(two.place(2, slice), 2);
        }
        steps(&mut reform, &mut two, &[5], 0);
        assert_eq!(slices(&two, 1).len(), 1);
        assert_eq!(slices(&two, 0).len(), 2);
    }

    #[test]
    fn a_part_that_waits_for_threads_is_joined_with_none_that_does_not() {
        let mut table = table(&[&[(0x01, 5), (0xfe, 5)]]);
        let held = [(5, false), (5, true)];
        table.move_parts(0, &held);
        assert!(!table.any_mergeable());
        let mut reform = Reform::new(false, Turn::Split);
        steps(&mut reform, &mut table, &[1, 2, 3], 0);
        assert_eq!(slices(&table, 0), [0x01, 0xfe]);
        table.move_parts(0, &[(5, true), (5, true)]);
        assert!(table.any_mergeable());
        steps(&mut reform, &mut table, &[4], 0);
        assert_eq!(slices(&table, 0), [0xff]);
    }

    #[test]
    fn who_joins_keeps_its_instruction_if_all_have_it() {
        let gang: &[(u8, u32)] = &[(0x0f, 5), (0xf0, 5)];
        let mut reform = Reform::new(false, Turn::Split);
        assert!(steps(&mut reform, &mut table(&[gang]), &[1], 0).is_empty());
        let mut table = table(&[gang]);
        let clear = steps(
            &mut Reform::new(false, Turn::Split),
            &mut table,
            &[1],
            0b0100_0000,
        );
        assert_eq!(clear.len(), 8, "it is fetched for all of them, once");
    }
}
