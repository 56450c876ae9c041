use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const PLACES: u32 = 12;

fn table(entries: u32, merges: u32) -> MshrTable {
    MshrTable::new(entries, merges, PLACES as usize)
}

/// Opens an entry for what goes to a place, and whose key that is, too.
fn open(table: &mut MshrTable, place: u32, token: u32) -> Fetch {
    assert_eq!(table.admit(u64::from(place)), Admission::Fresh);
    table.open(u64::from(place), Place(place), token)
}

#[test]
fn the_first_miss_opens_and_later_ones_join_up_to_the_limit() {
    let mut table = table(2, 3);
    let fetch = open(&mut table, 4, 1);
    assert!(table.join(Place(4), || 2));
    assert!(table.join(Place(4), || 3));
    assert!(!table.join(Place(4), || panic!("no request can wait")));
    assert_eq!(table.fetch_to(Place(4)), fetch);
    open(&mut table, 5, 5);
    assert_eq!(table.admit(6), Admission::TableFull);
    assert_eq!(table.used(), 2);
}

#[test]
fn waiters_come_out_in_order_and_free_the_entry_with_the_last() {
    let mut table = table(1, 2);
    let fetch = open(&mut table, 0, 10);
    table.join(Place(0), || 11);
    assert!(!table.has_ready());
    assert_eq!(table.fill(fetch), Some(Place(0)));
    assert_eq!(table.pop_ready(), Some(10));
    assert_eq!(table.admit(1), Admission::TableFull, "one is still waiting");
    assert_eq!(table.pop_ready(), Some(11));
    assert_eq!(table.admit(1), Admission::Fresh);
    assert_eq!(table.pop_ready(), None);
    assert!(table.is_empty());
}

#[test]
fn what_has_come_is_not_outstanding_any_more() {
    let mut table = table(2, 1);
    for token in [1, 2] {
        let fetch = open(&mut table, 0, token);
        table.fill(fetch);
    }
    assert_eq!(table.pop_ready(), Some(1));
    assert_eq!(table.pop_ready(), Some(2));
}

#[test]
fn a_fetch_whose_line_is_dropped_serves_its_waiters_and_has_to_come_before_the_next() {
    let mut table = table(3, 1);
    let first = open(&mut table, 0, 1);
    let second = open(&mut table, 1, 2);
    table.lose([Place(0), Place(1)].into_iter());
    assert_eq!(table.admit(0), Admission::Lost);
    // Another line is where it would have gone.
    let other = table.open(7, Place(0), 3);
    assert_eq!(table.fetch_to(Place(0)), other);
    assert_eq!(table.fill(first), None);
    assert_eq!(table.fill(second), None);
    assert_eq!(table.fill(other), Some(Place(0)));
    assert_eq!(table.pop_ready(), Some(1));
    assert_eq!(table.pop_ready(), Some(2));
    assert_eq!(table.pop_ready(), Some(3));
    assert_eq!(
        (table.admit(0), table.admit(1)),
        (Admission::Fresh, Admission::Fresh)
    );
    assert!(table.is_empty());
}

#[test]
fn an_entry_without_waiters_is_free_with_its_fill_and_requests_may_join_it() {
    let mut table = table(2, 2);
    let alone = table.open_without_waiter(0, Place(0));
    let joined = table.open_without_waiter(1, Place(1));
    assert_eq!(table.admit(2), Admission::TableFull);
    assert!(table.join(Place(1), || 7));
    assert!(table.join(Place(1), || 8));
    assert!(!table.join(Place(1), || panic!("no one else can wait")));
    assert_eq!(table.fill(alone), Some(Place(0)));
    assert!(!table.has_ready());
    assert_eq!(table.used(), 1);
    assert_eq!(table.admit(2), Admission::Fresh);
    assert_eq!(table.fill(joined), Some(Place(1)));
    assert_eq!((table.pop_ready(), table.pop_ready()), (Some(7), Some(8)));
    assert!(table.is_empty());
    // Its line may be dropped meanwhile, too.
    let lost = table.open_without_waiter(3, Place(3));
    table.lose([Place(3)].into_iter());
    assert_eq!(table.admit(3), Admission::Lost);
    assert_eq!(table.fill(lost), None);
    assert_eq!(table.admit(3), Admission::Fresh);
    assert!(table.is_empty() && table.pop_ready().is_none());
}

#[test]
fn a_table_of_size_zero_admits_nothing() {
    assert_eq!(table(0, 4).admit(0), Admission::TableFull);
    assert_eq!(table(4, 0).admit(0), Admission::TableFull);
}

#[derive(Clone, Debug)]
enum Op {
    Add(u32),
    Fill(u32),
    Pop,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (0..PLACES).prop_map(Op::Add),
        2 => (0..PLACES).prop_map(Op::Fill),
        2 => Just(Op::Pop),
    ];
    prop::collection::vec(op, 1..300)
}

proptest! {
    /// Against plain lists.
    #[test]
    fn behaves_as_lists_of_waiters(ops in ops(), entries in 1u32..6, merges in 1u32..4) {
        let mut table = table(entries, merges);
        let mut open: Vec<(u32, VecDeque<u32>)> = Vec::new();
        let mut ready: VecDeque<VecDeque<u32>> = VecDeque::new();
        for (token, op) in ops.into_iter().enumerate() {
            let token = token as u32;
            match op {
                Op::Add(place) => {
                    let used = open.len() + ready.len();
                    if let Some((_, list)) = open.iter_mut().find(|(p, _)| *p == place) {
                        let joins = list.len() < merges as usize;
                        list.extend(joins.then_some(token));
                        prop_assert_eq!(table.join(Place(place), || token), joins);
                    } else if used < entries as usize {
                        prop_assert_eq!(table.admit(place.into()), Admission::Fresh);
                        table.open(place.into(), Place(place), token);
                        open.push((place, VecDeque::from([token])));
                    } else {
                        prop_assert_eq!(table.admit(place.into()), Admission::TableFull);
                    }
                }
                Op::Fill(place) => {
                    if let Some(at) = open.iter().position(|(p, _)| *p == place) {
                        ready.push_back(open.remove(at).1);
                        let fetch = table.fetch_to(Place(place));
                        prop_assert_eq!(table.fill(fetch), Some(Place(place)));
                    }
                }
                Op::Pop => {
                    let expected = ready.front_mut().map(|list| list.pop_front().unwrap());
                    if ready.front().is_some_and(|list| list.is_empty()) {
                        ready.pop_front();
                    }
                    prop_assert_eq!(table.pop_ready(), expected);
                }
            }
            prop_assert_eq!(table.used() as usize, open.len() + ready.len());
        }
    }
}

#[test]
fn a_table_with_large_limits_costs_what_is_used_of_it() {
    // 2^32 places for waiters: 34 GB, were they all there from the start.
    let mut table = table(1 << 16, 1 << 16);
    let fetches = [0, 1, 2].map(|place| open(&mut table, place, place));
    for token in 3..40_000 {
        assert!(table.join(Place(token % 3), || token));
    }
    for (place, fetch) in (0..).zip(fetches) {
        table.fill(fetch);
        for token in (place..40_000).step_by(3) {
            assert_eq!(table.pop_ready(), Some(token));
        }
    }
    assert!(table.is_empty());
}
