//! What a thread still has of its share of a round.
//!
//! A share is a range of items. Its owner takes from the front, others from the back, so that an
//! owner goes on with the items it has in its caches and helpers always take the same. Both
//! ends and the number of the round are one word, which stands in a cache line of its own: no thread
//! has to prepare it for a round, because in a word of an earlier one the share is still whole.

use crate::sync::{AtomicU64, Ordering};
use std::ops::Range;

/// Items left of one thread's share.
#[repr(align(128))] // two lines: processors fetch them in pairs
#[derive(Default)]
pub struct Hand(AtomicU64);

/// The largest number of an item.
pub const MOST_ITEMS: usize = (1 << ITEM_BITS) - 1;

/// Bits for the number of an item. Those above two of them hold the round: enough of them that none
/// comes again within months, because it may be that no thread has looked at a hand for as long.
const ITEM_BITS: u32 = 12;
const ROUNDS: u64 = u64::MAX >> (2 * ITEM_BITS);

/// Others take nothing from an owner that has fewer to begin with, and never the first: what its owner is about to
/// do, or does, costs more to move to another core and back than to wait for.
pub const LEAST_TO_HELP: usize = 2;

fn pack(round: u64, left: &Range<usize>) -> u64 {
    round << (2 * ITEM_BITS) | (left.start as u64) << ITEM_BITS | left.end as u64
}

/// What a word says in a round in which the share is `whole`.
fn unpack(word: u64, round: u64, whole: &Range<usize>) -> Range<usize> {
    match word >> (2 * ITEM_BITS) == round & ROUNDS {
        true => (word >> ITEM_BITS) as usize & MOST_ITEMS..word as usize & MOST_ITEMS,
        false => whole.clone(),
    }
}

impl Hand {
    /// The owner takes its next item.
    pub fn take(&self, round: u64, whole: &Range<usize>) -> Option<usize> {
        self.change(round, whole, |mut left| {
            left.next().map(|item| (item, left))
        })
    }

    /// Another thread takes the last one, but not the share's first.
    pub fn take_over(&self, round: u64, whole: &Range<usize>) -> Option<usize> {
        self.change(round, whole, |mut left| {
            let item = left.next_back()?;
            (item > whole.start).then_some((item, left))
        })
    }

    /// Another thread takes the last one, whichever that is: its owner may be away for long.
    pub fn take_last(&self, round: u64, whole: &Range<usize>) -> Option<usize> {
        self.change(round, whole, |mut left| {
            left.next_back().map(|item| (item, left))
        })
    }

    /// Nothing else is ordered by this word: items are handed over by the round.
    fn change(
        &self,
        round: u64,
        whole: &Range<usize>,
        take: impl Fn(Range<usize>) -> Option<(usize, Range<usize>)>,
    ) -> Option<usize> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let (item, left) = take(unpack(word, round, whole))?;
            let new = pack(round, &left);
            let result = self
                .0
                .compare_exchange(word, new, Ordering::Relaxed, Ordering::Relaxed);
            match result {
                Ok(_) => return Some(item),
                Err(now) => word = now,
            }
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn owners_take_from_the_front_and_others_from_the_back_but_not_the_first() {
        let (hand, whole) = (Hand::default(), 3..7);
        assert_eq!(hand.take_over(1, &whole), Some(6));
        assert_eq!(hand.take_over(1, &whole), Some(5));
        assert_eq!(hand.take_over(1, &whole), Some(4));
        assert_eq!(hand.take_over(1, &whole), None, "it is left for its owner");
        assert_eq!(hand.take(1, &whole), Some(3));
        assert_eq!(hand.take(1, &whole), None);
        assert_eq!(hand.take(2, &whole), Some(3));
        assert_eq!(hand.take(2, &whole), Some(4));
        assert_eq!(hand.take_over(2, &whole), Some(6));
        assert_eq!(
            hand.take_over(2, &whole),
            Some(5),
            "its owner has not begun it"
        );
        assert_eq!(hand.take(2, &whole), None);
        assert_eq!(
            hand.take_last(3, &(3..4)),
            Some(3),
            "who is away begins nothing"
        );
        assert_eq!(hand.take(3, &(3..4)), None);
    }

    #[test]
    fn a_round_begins_with_the_whole_share_whichever_thread_comes_first() {
        let hand = Hand::default();
        for round in 1..4 {
            assert_eq!(hand.take_over(round, &(0..3)), Some(2));
            assert_eq!(hand.take(round, &(0..3)), Some(0));
        }
        assert_eq!(hand.take(4, &(0..0)), None);
        assert_eq!(hand.take(5, &(0..MOST_ITEMS)), Some(0));
        assert_eq!(hand.take_over(5, &(0..MOST_ITEMS)), Some(MOST_ITEMS - 1));
    }
}
