//! A crew calls every thread once in every round.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use warpsim_engine::Crew;

/// Calls of each thread in so many rounds.
fn calls(crew: &mut Crew, rounds: usize) -> Vec<u64> {
    let calls: Vec<AtomicU64> = (0..crew.size()).map(|_| AtomicU64::new(0)).collect();
    for _ in 0..rounds {
        crew.run(|thread| {
            calls[thread].fetch_add(1, Ordering::Relaxed);
        });
    }
    calls.into_iter().map(AtomicU64::into_inner).collect()
}

#[test]
fn every_thread_is_called_once_in_every_round() {
    for helpers in 0..4 {
        let mut crew = Crew::new(helpers);
        assert_eq!(calls(&mut crew, 300), vec![300; helpers + 1]);
    }
}

#[test]
fn parked_threads_wake_up() {
    let mut crew = Crew::new(2);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(calls(&mut crew, 1), [1; 3]);
    }
}

#[test]
fn a_panic_comes_out_when_all_others_are_done_and_the_crew_goes_on() {
    let mut crew = Crew::new(2);
    for bad in 0..3 {
        let done = AtomicU64::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            crew.run(|thread| {
                assert_ne!(thread, bad, "not this one");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }));
        assert!(result.is_err());
        assert_eq!(done.into_inner(), 2);
    }
    assert_eq!(calls(&mut crew, 2), [2; 3]);
}

#[test]
fn a_crew_that_gives_way_is_alone_now_and_then_where_its_caller_waits() {
    let mut crew = Crew::giving_way(2);
    let (mut alone, mut together) = (0, 0);
    for _ in 0..400 {
        crew.run(|_| {});
        crew.waited(Duration::from_millis(1));
        std::thread::sleep(Duration::from_micros(200));
        crew.passed(1);
        match crew.is_alone() {
            true => alone += 1,
            false => together += 1,
        }
    }
    assert!(alone > 0 && together > 0, "{alone} alone, {together} not");
}
