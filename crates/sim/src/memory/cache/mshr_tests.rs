use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

#[test]
fn the_first_miss_opens_and_later_ones_merge_up_to_the_limit() {
    let mut table = MshrTable::new(2, 3);
    assert_eq!(table.add(64, 1), Admission::Fresh);
    assert_eq!(table.add(64, 2), Admission::Merge);
    assert_eq!(table.admit(64), Admission::Merge);
    assert_eq!(table.add(64, 3), Admission::Merge);
    assert_eq!(table.admit(64), Admission::MergesFull);
    assert_eq!(table.add(64, 4), Admission::MergesFull);
    assert_eq!(table.add(128, 5), Admission::Fresh);
    assert_eq!(table.add(192, 6), Admission::TableFull);
    assert_eq!(table.used(), 2);
}

#[test]
fn waiters_come_out_in_order_and_free_the_entry_with_the_last() {
    let mut table = MshrTable::new(1, 2);
    table.add(0, 10);
    table.add(0, 11);
    assert!(!table.has_ready());
    assert!(!table.fill(32), "nobody asked for that");
    assert!(table.fill(0));
    assert_eq!(table.pop_ready(), Some((0, 10)));
    assert_eq!(
        table.admit(32),
        Admission::TableFull,
        "one is still waiting"
    );
    assert_eq!(table.pop_ready(), Some((0, 11)));
    assert_eq!(table.admit(32), Admission::Fresh);
    assert_eq!(table.pop_ready(), None);
    assert!(table.is_empty());
}

#[test]
fn a_filled_key_is_not_outstanding_any_more() {
    let mut table = MshrTable::new(2, 1);
    table.add(0, 1);
    table.fill(0);
    assert_eq!(table.add(0, 2), Admission::Fresh);
    table.fill(0);
    assert_eq!(table.pop_ready(), Some((0, 1)));
    assert_eq!(table.pop_ready(), Some((0, 2)));
}

#[test]
fn a_table_of_size_zero_admits_nothing() {
    assert_eq!(MshrTable::new(0, 4).add(0, 1), Admission::TableFull);
    assert_eq!(MshrTable::new(4, 0).add(0, 1), Admission::TableFull);
}

#[derive(Clone, Debug)]
enum Op {
    Add(u64),
    Fill(u64),
    Pop,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (0u64..12).prop_map(Op::Add),
        2 => (0u64..12).prop_map(Op::Fill),
        2 => Just(Op::Pop),
    ];
    prop::collection::vec(op, 1..300)
}

proptest! {
    /// Against plain lists.
    #[test]
    fn behaves_as_lists_of_waiters(ops in ops(), entries in 1u32..6, merges in 1u32..4) {
        let mut table = MshrTable::new(entries, merges);
        let mut open: Vec<(u64, VecDeque<u32>)> = Vec::new();
        let mut ready: VecDeque<(u64, VecDeque<u32>)> = VecDeque::new();
        for (token, op) in ops.into_iter().enumerate() {
            let token = token as u32;
            match op {
                Op::Add(key) => {
                    let used = open.len() + ready.len();
                    let expected = match open.iter_mut().find(|(k, _)| *k == key) {
                        Some((_, list)) if list.len() < merges as usize => {
                            list.push_back(token);
                            Admission::Merge
                        }
                        Some(_) => Admission::MergesFull,
                        None if used < entries as usize => {
                            open.push((key, VecDeque::from([token])));
                            Admission::Fresh
                        }
                        None => Admission::TableFull,
                    };
                    prop_assert_eq!(table.admit(key), expected);
                    prop_assert_eq!(table.add(key, token), expected);
                }
                Op::Fill(key) => {
                    let at = open.iter().position(|(k, _)| *k == key);
                    prop_assert_eq!(table.fill(key), at.is_some());
                    ready.extend(at.map(|at| open.remove(at)));
                }
                Op::Pop => {
                    let expected = ready.front_mut().map(|(key, list)| (*key, list.pop_front().unwrap()));
                    if ready.front().is_some_and(|(_, list)| list.is_empty()) {
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
    let mut table = MshrTable::new(1 << 16, 1 << 16);
    for token in 0..40_000 {
        table.add(u64::from(token % 3), token);
    }
    for key in 0..3 {
        assert!(table.fill(key));
    }
    let mut seen = Vec::new();
    while let Some((key, token)) = table.pop_ready() {
        assert_eq!(key, u64::from(token % 3));
        seen.push(token);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..40_000).collect::<Vec<u32>>());
    assert!(table.is_empty());
}
