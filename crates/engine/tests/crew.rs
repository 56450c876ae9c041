//! A crew calls its caller's thread in every round, and others that come in time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use warpsim_engine::Crew;

/// Calls of each thread in so many rounds, in each of which the caller waits until so many threads have come.
fn calls(crew: &mut Crew, rounds: usize, threads: u64) -> Vec<u64> {
    let calls: Vec<AtomicU64> = (0..crew.size()).map(|_| AtomicU64::new(0)).collect();
    for _ in 0..rounds {
        let come = AtomicU64::new(0);
        crew.run(|thread| {
            calls[thread].fetch_add(1, Ordering::Relaxed);
            come.fetch_add(1, Ordering::Relaxed);
            while thread == 0 && come.load(Ordering::Relaxed) < threads {
                std::thread::yield_now();
            }
        });
    }
    calls.into_iter().map(AtomicU64::into_inner).collect()
}

#[test]
fn every_thread_that_is_waited_for_is_called_once_in_every_round() {
    for helpers in 0..4 {
        let mut crew = Crew::new(helpers);
        let all = crew.size() as u64;
        assert_eq!(calls(&mut crew, 300, all), vec![300; helpers + 1]);
    }
}

#[test]
fn a_round_ends_without_helpers_that_do_not_come() {
    let mut crew = Crew::new(2);
    let calls = calls(&mut crew, 2000, 1);
    assert_eq!(calls[0], 2000);
    assert!(calls.iter().all(|calls| *calls <= 2000), "{calls:?}");
}

#[test]
fn parked_threads_wake_up() {
    let mut crew = Crew::new(2);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(calls(&mut crew, 1, 3), [1; 3]);
    }
}

#[test]
fn a_panic_comes_out_when_all_others_are_done_and_the_crew_goes_on() {
    let mut crew = Crew::new(2);
    for bad in 0..3 {
        let (come, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let result = catch_unwind(AssertUnwindSafe(|| {
            crew.run(|thread| {
                come.fetch_add(1, Ordering::Relaxed);
                while come.load(Ordering::Relaxed) < 3 {
                    std::thread::yield_now();
                }
                assert_ne!(thread, bad, "not this one");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }));
        assert!(result.is_err());
        assert_eq!(done.into_inner(), 2);
    }
    assert_eq!(calls(&mut crew, 2, 3), [2; 3]);
}
