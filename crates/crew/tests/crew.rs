//! A crew does everything once, whatever the number of threads and items.
#![cfg(not(feature = "loom"))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use warpsim_crew::Crew;

#[test]
fn every_item_is_worked_on_once_in_every_round() {
    for helpers in 0..4 {
        let mut crew = Crew::new(helpers);
        assert_eq!(crew.size(), helpers + 1);
        for count in [0, 1, 2, 3, 7, 64] {
            let mut items: Vec<(usize, u64)> = (0..count).map(|i| (i, 0)).collect();
            for _ in 0..100 {
                crew.for_each(&mut items, |(number, sum)| *sum += *number as u64 + 1);
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
        crew.for_each(&mut [(); 6], |()| {
            calls.fetch_add(1, Ordering::Relaxed);
        });
    }
    assert_eq!(calls.load(Ordering::Relaxed), 30);
}

#[test]
fn a_panic_comes_out_when_all_others_are_done_and_the_crew_goes_on() {
    let mut crew = Crew::new(2);
    for bad in 0..6 {
        let mut items: Vec<(usize, bool)> = (0..6).map(|i| (i, false)).collect();
        let result = catch_unwind(AssertUnwindSafe(|| {
            crew.for_each(&mut items, |(number, done)| {
                assert_ne!(*number, bad, "not this one");
                *done = true;
            });
        }));
        assert!(result.is_err());
        // What the thread that panicked had not begun was done by another.
        let done = items.iter().filter(|i| i.1).count();
        assert_eq!(done, 5, "{items:?}");
    }
    let mut items = [0; 3];
    crew.for_each(&mut items, |item| *item += 1);
    assert_eq!(items, [1; 3]);
}
