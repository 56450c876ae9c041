//! Interleavings of a small crew's threads, and of the two ends of a link, tried by loom (all with up to two preemptions, which is
//! where such errors are found):
//! `cargo test -p warpsim-engine --features loom --test interleavings`.
#![cfg(feature = "loom")]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use warpsim_engine::{Crew, Link, Signal};

/// Loom's cells notice two threads that use one without order between them.
fn add(item: &UnsafeCell<u32>, n: u32) {
    item.with_mut(|place| unsafe { *place += n });
}

fn value(item: &UnsafeCell<u32>) -> u32 {
    item.with(|place| unsafe { *place })
}

/// Cells of which each thread uses its own.
struct Cells<const N: usize>([UnsafeCell<u32>; N]);

// SAFETY: loom checks that no two threads use one at a time.
unsafe impl<const N: usize> Sync for Cells<N> {}

fn bounded() -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder
}

#[test]
fn two_rounds_of_two_threads() {
    bounded().check(|| {
        let mut crew = Crew::new(1);
        let cells = Cells([0, 0].map(UnsafeCell::new));
        let cells = &cells;
        crew.run(|thread| add(&cells.0[thread], 1));
        // What a thread did in one round reaches the other in the next.
        crew.run(|thread| add(&cells.0[1 - thread], 2));
        // The helper is called once in a round, or does not come.
        let [of_caller, of_helper] = cells.0.each_ref().map(value);
        assert!([1, 3].contains(&of_caller) && [2, 3].contains(&of_helper));
    });
}

#[test]
fn a_round_of_three_threads() {
    bounded().check(|| {
        let mut crew = Crew::new(2);
        let cells = Cells([0, 0, 0].map(UnsafeCell::new));
        let cells = &cells;
        crew.run(|thread| add(&cells.0[thread], 1));
        let [caller, helpers @ ..] = cells.0.each_ref().map(value);
        assert!(caller == 1 && helpers.iter().all(|calls| *calls <= 1));
    });
}

/// A receiver that has read the sender's clock has every message that was sent before, in order, and none is lost.
#[test]
fn messages_are_there_when_the_clock_says_so() {
    bounded().check(|| {
        let link: Arc<(Link<u32>, Signal)> = Arc::default();
        let ends = link.clone();
        let sender = loom::thread::spawn(move || {
            ends.0.send(&mut vec![1, 2]);
            ends.1.publish(1);
            ends.0.send(&mut vec![3]);
            ends.1.publish(2);
        });
        let mut received = Vec::new();
        for _ in 0..2 {
            let clock = link.1.read() as usize;
            link.0.receive(&mut received);
            assert!(
                received.len() >= [0, 2, 3][clock],
                "{received:?} at {clock}"
            );
        }
        sender.join().expect("no panic");
        link.0.receive(&mut received);
        assert_eq!(received, [1, 2, 3]);
    });
}
