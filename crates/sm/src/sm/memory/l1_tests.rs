use super::*;
use crate::config::{Machine, ReadMachine};
use crate::memory::packet::{RequestKind, Traffic};

/// The L1 data cache of `gtx480` with these changes.
fn cache(changes: &[&str]) -> L1 {
    let changes: Vec<String> = changes.iter().map(|c| c.to_string()).collect();
    L1::data(&Machine::resolve("gtx480", &changes).unwrap().l1d)
}

fn read(cache: &mut L1, line: u64, waiter: u32) -> Outcome {
    let request = |addr, fetch: Fetch| Request {
        sm: 0,
        kind: RequestKind::Read,
        traffic: Traffic::Global,
        addr,
        bytes: 128,
        byte_mask: 0,
        token: fetch.0,
    };
    cache.read(
        line * 128,
        || waiter,
        request,
        |evicted| request(evicted.addr, Fetch::default()),
    )
}

/// Reads `count` lines and sends their requests.
fn miss(cache: &mut L1, lines: impl Iterator<Item = u64>) {
    for line in lines {
        assert_eq!(read(cache, line, line as u32), Outcome::Miss);
        cache.send();
    }
}

#[test]
fn a_full_set_waits_for_a_line_of_that_set() {
    let mut cache = cache(&["l1d.sets=2", "l1d.ways=1", "l1d.hashed_index=false"]);
    miss(&mut cache, 0..2);
    assert_eq!(read(&mut cache, 2, 9), Outcome::Stall);
    cache.fill(128, Fetch(1));
    assert!(!cache.may_retry(), "line 1 is in the other set");
    assert_eq!(read(&mut cache, 2, 9), Outcome::Stall);
    cache.fill(0, Fetch(0));
    assert!(cache.may_retry());
    assert_eq!(read(&mut cache, 2, 9), Outcome::Miss);
}

#[test]
fn a_full_set_has_room_again_when_all_lines_are_forgotten() {
    let mut cache = cache(&["l1d.sets=2", "l1d.ways=1", "l1d.hashed_index=false"]);
    miss(&mut cache, 0..1);
    assert_eq!(read(&mut cache, 2, 9), Outcome::Stall);
    cache.invalidate();
    assert!(cache.may_retry());
    assert_eq!(read(&mut cache, 2, 9), Outcome::Miss);
}

#[test]
fn a_line_without_room_for_waiters_waits_for_itself() {
    let mut cache = cache(&["l1d.merges=1"]);
    miss(&mut cache, 0..2);
    assert_eq!(read(&mut cache, 0, 9), Outcome::Stall);
    cache.fill(128, Fetch(1));
    assert!(!cache.may_retry());
    cache.fill(0, Fetch(0));
    assert!(cache.may_retry());
    assert_eq!(read(&mut cache, 0, 9), Outcome::Hit);
}

#[test]
fn a_full_table_waits_until_the_last_waiter_of_a_line_is_handed_out() {
    let mut cache = cache(&["l1d.mshrs=1"]);
    miss(&mut cache, 0..1);
    assert_eq!(read(&mut cache, 0, 7), Outcome::Merged);
    assert_eq!(read(&mut cache, 1, 9), Outcome::Stall);
    cache.fill(0, Fetch(0));
    assert!(!cache.may_retry(), "its waiters still hold the entry");
    assert_eq!(cache.next_ready(), Some(0));
    assert!(!cache.may_retry());
    assert_eq!(cache.next_ready(), Some(7));
    assert!(cache.may_retry());
    assert_eq!(read(&mut cache, 1, 9), Outcome::Miss);
}

#[test]
fn a_full_queue_waits_for_a_request_to_leave() {
    let mut cache = cache(&["l1d.miss_queue=2"]);
    // An eviction may need the second place.
    assert_eq!(read(&mut cache, 0, 0), Outcome::Miss);
    assert_eq!(read(&mut cache, 1, 9), Outcome::Stall);
    cache.fill(0, Fetch(0));
    assert!(!cache.may_retry());
    cache.send();
    assert!(cache.may_retry());
    assert_eq!(read(&mut cache, 1, 9), Outcome::Miss);
}

fn prefetch(cache: &mut L1, line: u64) -> Prefetched {
    let request = |addr, fetch: Fetch| Request {
        sm: 0,
        kind: RequestKind::Read,
        traffic: Traffic::Global,
        addr,
        bytes: 128,
        byte_mask: 0,
        token: fetch.0,
    };
    cache.prefetch(line * 128, request, |evicted| {
        request(evicted.addr, Fetch::default())
    })
}

#[test]
fn a_prefetched_line_is_useful_once_and_late_if_it_is_still_on_its_way() {
    let mut cache = cache(&[]);
    assert_eq!(prefetch(&mut cache, 1), Prefetched::Sent);
    assert_eq!(prefetch(&mut cache, 1), Prefetched::There, "on its way");
    assert_eq!(prefetch(&mut cache, 2), Prefetched::Sent);
    assert_eq!(read(&mut cache, 2, 7), Outcome::Merged);
    cache.fill(128, Fetch(0));
    cache.fill(256, Fetch(1));
    assert_eq!((cache.next_ready(), cache.next_ready()), (Some(7), None));
    assert_eq!(cache.outstanding(), 0);
    for _ in 0..2 {
        assert_eq!(read(&mut cache, 1, 9), Outcome::Hit);
        assert_eq!(read(&mut cache, 2, 9), Outcome::Hit);
    }
    assert_eq!(prefetch(&mut cache, 1), Prefetched::There, "there");
    let expected = Uses {
        useful: 2,
        late: 1,
        unused: 0,
    };
    assert_eq!(cache.take_uses(), Some(expected));
    assert_eq!(cache.take_uses(), Some(Uses::default()));
}

#[test]
fn a_prefetched_line_that_leaves_before_it_is_used_was_for_nothing() {
    let one_line = ["l1d.sets=1", "l1d.ways=1", "l1d.hashed_index=false"];
    let mut cache = cache(&one_line);
    let store = Request {
        sm: 0,
        kind: RequestKind::Write,
        traffic: Traffic::Global,
        addr: 5 * 128,
        bytes: 128,
        byte_mask: !0,
        token: 0,
    };
    // Another line takes its place; a store drops it; all lines are dropped, those on their way too.
    let come = |cache: &mut L1, line| {
        assert_eq!(prefetch(cache, line), Prefetched::Sent);
        cache.send();
        cache.fill(line * 128, Fetch(0));
    };
    come(&mut cache, 4);
    assert_eq!(read(&mut cache, 3, 0), Outcome::Miss);
    cache.send();
    cache.fill(3 * 128, Fetch(0));
    assert_eq!(cache.next_ready(), Some(0));
    come(&mut cache, 5);
    assert!(cache.write(5 * 128, false, store).is_some_and(|s| s.hit));
    cache.send();
    assert_eq!(prefetch(&mut cache, 6), Prefetched::Sent);
    cache.invalidate();
    let uses = cache.take_uses().expect("there were prefetches");
    assert_eq!((uses.useful, uses.late, uses.unused), (0, 0, 3));
}

#[test]
fn a_prefetch_takes_nothing_that_is_not_free() {
    let mut cache = cache(&["l1d.mshrs=1"]);
    miss(&mut cache, 0..1);
    assert_eq!(prefetch(&mut cache, 1), Prefetched::Dropped, "no MSHR");
    // Nor does it change what a load waits for.
    assert_eq!(read(&mut cache, 2, 9), Outcome::Stall);
    assert_eq!(prefetch(&mut cache, 1), Prefetched::Dropped);
    assert!(!cache.may_retry());
    let mut cache = self::cache(&["l1d.miss_queue=2"]);
    assert_eq!(read(&mut cache, 0, 0), Outcome::Miss);
    assert_eq!(prefetch(&mut cache, 1), Prefetched::Dropped, "no room");
    let one_line = ["l1d.sets=1", "l1d.ways=1", "l1d.hashed_index=false"];
    let mut cache = self::cache(&one_line);
    miss(&mut cache, 0..1);
    assert_eq!(prefetch(&mut cache, 1), Prefetched::Dropped, "no way");
    assert_eq!(cache.take_uses(), None, "nothing was prefetched");
}

#[test]
fn an_mshr_that_a_prefetch_had_is_free_with_its_line() {
    let mut cache = cache(&["l1d.mshrs=1"]);
    assert_eq!(prefetch(&mut cache, 0), Prefetched::Sent);
    assert_eq!(read(&mut cache, 1, 9), Outcome::Stall);
    assert!(!cache.may_retry());
    cache.fill(0, Fetch(0));
    assert!(cache.may_retry() && !cache.has_ready());
    assert_eq!(read(&mut cache, 1, 9), Outcome::Miss);
}

#[test]
fn a_queue_of_one_place_lets_a_fetch_through() {
    let mut cache = cache(&["l1d.miss_queue=1"]);
    assert_eq!(read(&mut cache, 0, 0), Outcome::Miss);
    assert_eq!(read(&mut cache, 1, 9), Outcome::Stall);
    cache.send();
    assert_eq!(read(&mut cache, 1, 9), Outcome::Miss);
}
