//! A crew does everything once, whatever the number of threads and items.
#![cfg(not(feature = "loom"))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use warpsim_crew::Crew;

/// Even shares.
fn ends(items: usize, crew: &Crew) -> Vec<usize> {
    (1..=crew.size()).map(|t| t * items / crew.size()).collect()
}

#[test]
fn every_item_is_worked_on_once_in_every_round() {
    for helpers in 0..4 {
        let mut crew = Crew::new(helpers);
        assert_eq!(crew.size(), helpers + 1);
        for count in [0, 1, 2, 3, 7, 64] {
            let mut items: Vec<(usize, u64)> = (0..count).map(|i| (i, 0)).collect();
            let even = ends(count, &crew);
            // One thread has them all.
            let uneven: Vec<usize> = (0..=helpers).map(|t| count * (t / 2).min(1)).collect();
            let uneven = if helpers < 2 { &even } else { &uneven };
            for round in 0..100 {
                let ends = if round % 2 == 0 { &even } else { uneven };
                crew.for_each(&mut items, ends, |(number, sum)| *sum += *number as u64 + 1);
            }
            let right = |&(number, sum): &(usize, u64)| sum == 100 * (number as u64 + 1);
            assert!(items.iter().all(right), "{helpers} helpers: {items:?}");
        }
    }
}

#[test]
fn parked_threads_wake_up() {
    let mut crew = Crew::new(2);
    let calls = AtomicUsize::new(0);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(20));
        let ends = ends(6, &crew);
        crew.for_each(&mut [(); 6], &ends, |()| {
            calls.fetch_add(1, Ordering::Relaxed);
        });
    }
    assert_eq!(calls.load(Ordering::Relaxed), 30);
}

#[test]
fn a_panic_comes_out_when_all_others_are_done_and_the_crew_goes_on() {
    let mut crew = Crew::new(2);
    let ends = ends(6, &crew);
    for bad in 0..6 {
        let mut items: Vec<(usize, bool)> = (0..6).map(|i| (i, false)).collect();
        let result = catch_unwind(AssertUnwindSafe(|| {
            crew.for_each(&mut items, &ends, |(number, done)| {
                assert_ne!(*number, bad, "not this one");
                *done = true;
            });
        }));
        assert!(result.is_err());
        // The thread that panicked went on with the others.
        let done = items.iter().filter(|i| i.1).count();
        assert_eq!(done, 5, "{items:?}");
    }
    let mut items = [0; 3];
    crew.for_each(&mut items, &[1, 2, 3], |item| *item += 1);
    assert_eq!(items, [1; 3]);
}

#[test]
fn shares_that_leave_something_out_are_refused() {
    let mut crew = Crew::new(1);
    for wrong in [&[1, 2][..], &[2, 1], &[1, 4], &[3], &[]] {
        let all = || crew.for_each(&mut [0; 3], wrong, |item| *item += 1);
        let result = catch_unwind(AssertUnwindSafe(all));
        assert!(result.is_err(), "{wrong:?}");
    }
}

#[test]
fn who_is_done_helps_who_has_several_left() {
    let mut crew = Crew::new(1);
    let (caller, helped) = (std::thread::current().id(), AtomicUsize::new(0));
    // All are the caller's, which waits with the first until another has been taken from it.
    let mut items = [0, 1, 2, 3];
    crew.for_each(&mut items, &[4, 4], |item| {
        if std::thread::current().id() != caller {
            helped.fetch_add(1, Ordering::Relaxed);
        }
        while *item == 0 && helped.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
    });
    assert!(helped.load(Ordering::Relaxed) > 0);
}
