//! Which gang is fetched for next.

use super::table::{Part, Table};
use crate::config::{Machine, ReadMachine};
use crate::fixed_list::FixedList;
use crate::place::Layout;
use crate::schedule::{FetchView, Place, Together};

const HOMES: u16 = 6;

/// Numbers that look drawn.
struct Dice(u64);

impl Dice {
    fn draw(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }
}

/// Home warps, each divided as the dice say.
fn table(dice: &mut Dice) -> Table {
    let set = ["warps=i-vws".to_string()];
    let layout = Layout::of(&Machine::resolve("vws", &set).expect("a machine"));
    let mut table = Table::new(layout, layout.domains());
    for index in 0..HOMES as u8 {
        for domain in 0..8 {
            table.add(Place { domain, index }, u64::from(index));
        }
        let cut = match dice.draw() % 3 {
            0 => 0,
            _ => dice.draw() as u8,
        };
        let mut parts: FixedList<Part, 8> = FixedList::default();
        for slices in [cut, !cut].into_iter().filter(|slices| *slices != 0) {
            let id = table.new_id();
            parts.push(Part {
                slices,
                id,
                ..Part::default()
            });
        }
        table.set_parts(index.into(), parts);
    }
    table
}

#[test]
fn warps_that_come_one_by_one_are_a_gang_as_if_it_had_been_told_at_once() {
    let mut dice = Dice(11);
    for _ in 0..500 {
        let (mut one_by_one, mut at_once) = (table(&mut Dice(1)), table(&mut Dice(1)));
        let index = HOMES as u8;
        let mut slices: u8 = 0;
        for _ in 0..dice.draw() % 12 + 1 {
            let domain = (dice.draw() % 8) as u8;
            if slices >> domain & 1 != 0 {
                continue;
            }
            one_by_one.add(Place { domain, index }, 7);
            slices |= 1 << domain;
            if slices.is_power_of_two() {
                at_once.add(Place { domain, index }, 7);
            }
        }
        let mut parts = at_once.get(HOMES).parts;
        parts[0].slices = slices;
        at_once.set_parts(HOMES, parts);
        let what = |table: &Table| {
            let sets = [&table.ganged, &table.single, &table.waiting, &table.whole].map(Vec::clone);
            let shapes: Vec<_> = table.shapes.iter().map(|s| (s.slices, s.homes)).collect();
            let of_home = (table.get(HOMES).members, table.get(HOMES).parts[0].slices);
            let counts = (table.sizes, table.all_whole());
            (sets, shapes, of_home, counts)
        };
        assert_eq!(what(&one_by_one), what(&at_once));
    }
}

#[test]
fn the_gang_behind_the_last_one_is_next_if_all_that_lack_their_instruction_may_be_fetched_for() {
    let mut dice = Dice(3);
    let (mut found, mut whole) = (0, 0);
    for _ in 0..2000 {
        let table = table(&mut dice);
        // Most often the slices hold the same.
        let (lacks, may) = (dice.draw(), dice.draw() | dice.draw());
        let mut draw = |set: u64, odds: u64| match dice.draw() % odds {
            0 => set ^ 1 << (dice.draw() % u64::from(HOMES)),
            _ => set,
        };
        let lacking: Vec<u64> = (0..8).map(|_| draw(lacks, 8)).collect();
        let fetchable: Vec<u64> = (0..8).map(|_| draw(may, 8)).collect();
        let both = lacking.iter().zip(&fetchable);
        let slices = |sets: &[u64], index: u8| {
            let bits = (0..8).map(|d| ((sets[d] >> index & 1) as u8) << d);
            bits.fold(0, |all, bit| all | bit)
        };
        let all = both
            .clone()
            .fold(!0, |all, (lacking, fetchable)| all & lacking & fetchable);
        let wanting = both.fold(0, |all, (lacking, fetchable)| all | lacking & fetchable);
        let view = FetchView {
            wanting: &[wanting & ((1 << HOMES) - 1)],
            in_all: &[all & ((1 << HOMES) - 1)],
            slices: &|home| [&lacking, &fetchable].map(|sets| slices(sets, home.index)),
        };
        let last = (dice.draw() % u64::from(HOMES)) as u16;
        let mut in_turn = (last + 1..HOMES).chain(0..=last);
        let next = in_turn.find_map(|home| Some((home, table.wanting(home, &view)?)));
        assert_eq!(table.next_wanting(&view, last), next);
        found += u32::from(next.is_some());
        whole += u32::from(next.is_some_and(|(_, slices)| slices == 0xff));
    }
    assert!((100..2000).contains(&whole), "{whole} of them are whole");
    assert!((500..2000).contains(&found), "{found} of them found one");
}

#[test]
fn a_part_is_found_from_whichever_slice_its_warps_are_counted() {
    let table = table(&mut Dice(1));
    for domain in 0..8 {
        let place = Place { domain, index: 3 };
        assert_eq!(table.part_of(Together::alone(place)), (3, 1 << domain));
        assert_eq!(
            table.part_of(table.places(3, 1 << domain)),
            (3, 1 << domain)
        );
    }
    assert_eq!(table.part_of(table.places(5, 0b0110)), (5, 0b0110));
}
