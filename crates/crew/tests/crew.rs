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

#[test]
fn an_errand_is_done_beside_rounds_in_which_others_do_the_share_of_who_is_away() {
    for helpers in 0..4 {
        let mut crew = Crew::new(helpers);
        let mut items = vec![0; 12];
        let even = ends(items.len(), &crew);
        for number in 0..200 {
            let length = number % 7 * 10;
            let errand = crew.set_off(move || {
                let wait = Duration::from_micros(length);
                std::thread::sleep(wait);
                number
            });
            for _ in 0..number % 4 {
                crew.for_each(&mut items, &even, |item| *item += 1);
            }
            assert_eq!(errand.fetch(), number);
        }
        assert_eq!(items, [300; 12], "{helpers} helpers");
    }
}

#[test]
fn rounds_do_not_wait_for_who_is_away() {
    let mut crew = Crew::new(1);
    let go_on = std::sync::Arc::new(AtomicUsize::new(0));
    let told = go_on.clone();
    let errand = crew.set_off(move || {
        while told.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
    });
    let mut items = [0; 5];
    for _ in 0..10 {
        crew.for_each(&mut items, &[2, 5], |item| *item += 1);
    }
    assert_eq!(items, [10; 5]);
    go_on.store(1, Ordering::Release);
    errand.fetch();
}

#[test]
fn an_errand_that_panics_does_so_where_it_is_fetched() {
    for helpers in 0..2 {
        let mut crew = Crew::new(helpers);
        let errand = crew.set_off(|| panic!("lost"));
        assert!(catch_unwind(AssertUnwindSafe(|| errand.fetch())).is_err());
        assert_eq!(crew.set_off(|| 3).fetch(), 3, "and the crew goes on");
    }
}

#[test]
fn a_crew_that_ends_lets_its_errand_end() {
    let mut crew = Crew::new(1);
    let errand = crew.set_off(|| {
        std::thread::sleep(Duration::from_millis(5));
        7
    });
    drop(crew);
    assert_eq!(errand.fetch(), 7);
}

/// Rounds in which it waits for its helpers, so that it works alone now and then.
fn waiting(crew: &mut Crew, mut round: impl FnMut(&mut Crew)) {
    round(crew);
    crew.waited(Duration::from_millis(1));
    std::thread::sleep(Duration::from_micros(200));
    crew.passed(1);
}

#[test]
fn a_crew_that_gives_way_works_on_every_item_once() {
    let mut crew = Crew::giving_way(2);
    let mut items = [0; 7];
    let even = ends(items.len(), &crew);
    let (mut alone, mut together) = (0, 0);
    for number in 0..400 {
        waiting(&mut crew, |crew| {
            let errand = crew.set_off(move || number);
            crew.for_each(&mut items, &even, |item| *item += 1);
            assert_eq!(crew.fetch(errand), number);
        });
        match crew.is_alone() {
            true => alone += 1,
            false => together += 1,
        }
    }
    assert_eq!(items, [400; 7]);
    assert!(alone > 0 && together > 0, "{alone} alone, {together} not");
}

#[test]
fn a_panic_comes_out_when_all_others_are_done_where_the_caller_works_alone() {
    let mut crew = Crew::giving_way(1);
    while !crew.is_alone() {
        waiting(&mut crew, |_| {});
    }
    let mut items = [false; 5];
    let mut numbered: Vec<(usize, &mut bool)> = items.iter_mut().enumerate().collect();
    let result = catch_unwind(AssertUnwindSafe(|| {
        crew.for_each(&mut numbered, &[2, 5], |(number, done)| {
            assert_ne!(*number, 1, "not this one");
            **done = true;
        });
    }));
    assert!(result.is_err());
    assert_eq!(items, [true, false, true, true, true]);
}
