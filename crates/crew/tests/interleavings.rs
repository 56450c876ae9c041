//! Interleavings of a small crew's threads, tried by loom (all with up to two preemptions, which is
//! where such errors are found):
//! `cargo test -p warpsim-crew --features loom --test interleavings`.
#![cfg(feature = "loom")]

use loom::cell::UnsafeCell;
use warpsim_crew::Crew;

/// Loom's cells notice two threads that use one without order between them.
fn add(item: &mut UnsafeCell<u32>, n: u32) {
    item.with_mut(|place| unsafe { *place += n });
}

fn bounded() -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder
}

fn value(item: &UnsafeCell<u32>) -> u32 {
    item.with(|place| unsafe { *place })
}

#[test]
fn two_rounds_of_two_threads() {
    bounded().check(|| {
        let mut crew = Crew::new(1);
        let mut items = [0, 0].map(UnsafeCell::new);
        crew.for_each(&mut items, &[1, 2], |item| add(item, 1));
        crew.for_each(&mut items, &[1, 2], |item| add(item, 2));
        assert_eq!(items.each_ref().map(value), [3; 2]);
    });
}

#[test]
fn a_round_of_three_threads() {
    bounded().check(|| {
        let mut crew = Crew::new(2);
        let mut items = [0, 0, 0].map(UnsafeCell::new);
        crew.for_each(&mut items, &[1, 2, 3], |item| add(item, 1));
        assert_eq!(items.each_ref().map(value), [1; 3]);
    });
}

/// The helper takes items of the caller's share from the back while the caller takes them from the
/// front, in a second round too, where the word that says what is left is an old one.
#[test]
fn a_share_is_taken_from_both_ends() {
    bounded().check(|| {
        let mut crew = Crew::new(1);
        let mut items = [0, 0, 0].map(UnsafeCell::new);
        crew.for_each(&mut items, &[3, 3], |item| add(item, 1));
        crew.for_each(&mut items, &[0, 3], |item| add(item, 2));
        assert_eq!(items.each_ref().map(value), [3; 3]);
    });
}

/// A helper without a share and with none to help is not called: it hears of no such round, whether
/// it looks or sleeps meanwhile, and of the one behind it as of any other.
#[test]
fn a_round_without_a_helper_goes_by() {
    bounded().check(|| {
        let mut crew = Crew::new(1);
        let mut items = [0, 0].map(UnsafeCell::new);
        crew.for_each(&mut items[..1], &[1, 1], |item| add(item, 1));
        crew.for_each(&mut items, &[1, 2], |item| add(item, 2));
        crew.for_each(&mut items[..1], &[1, 1], |item| add(item, 4));
        assert_eq!(items.each_ref().map(value), [7, 2]);
    });
}

/// What a helper did reaches another one that was not called meanwhile.
#[test]
fn an_item_goes_from_helper_to_helper() {
    bounded().check(|| {
        let mut crew = Crew::new(2);
        let mut items = [0].map(UnsafeCell::new);
        crew.for_each(&mut items, &[0, 1, 1], |item| add(item, 1));
        crew.for_each(&mut items, &[0, 0, 1], |item| add(item, 2));
        assert_eq!(items.each_ref().map(value), [3]);
    });
}

/// The helper is away through a round, or comes back in the middle of it or before it; what it brings is seen, and so is
/// what it does in the rounds.
#[test]
fn an_errand_beside_rounds() {
    bounded().check(|| {
        let mut crew = Crew::new(1);
        let mut far = UnsafeCell::new(1);
        let errand = crew.set_off(move || {
            add(&mut far, 1);
            far
        });
        let mut items = [0, 0].map(UnsafeCell::new);
        crew.for_each(&mut items, &[1, 2], |item| add(item, 1));
        crew.for_each(&mut items, &[1, 2], |item| add(item, 2));
        assert_eq!(value(&errand.fetch()), 2);
        assert_eq!(items.each_ref().map(value), [3; 2]);
    });
}

/// One errand after the other, with a round beside the second.
#[test]
fn errands_follow_each_other() {
    bounded().check(|| {
        let mut crew = Crew::new(1);
        let first = crew.set_off(|| 1).fetch();
        let errand = crew.set_off(move || first + 1);
        let mut items = [0].map(UnsafeCell::new);
        crew.for_each(&mut items, &[0, 1], |item| add(item, 1));
        assert_eq!(errand.fetch(), 2);
        assert_eq!(items.each_ref().map(value), [1]);
    });
}
