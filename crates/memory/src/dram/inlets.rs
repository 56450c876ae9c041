//! The queues from a channel's slices and the arbiter behind them.
//!
//! Slices take turns. Each holds one credit of its own and shares the others, so that a slice
//! that floods the channel cannot shut the other out. A credit comes back with the request. How many there are follows from how many
//! requests of each slice are under way, so that as long as some are left it does not matter which requests have completed already.

use super::{Done, DramRequest, News};
use crate::ring::Ring;

/// The queues from the slices and the arbiter behind them.
#[derive(Clone, Debug)]
pub(super) struct Inlets {
    inlets: Vec<Inlet>,
    capacity: usize,
    /// Slices with requests here, those without room for another, and those with none between
    /// here and completion: one bit each. Only a slice's own requests take its room.
    waiting: u64,
    full: u64,
    idle: u64,
    /// The slice that is asked first.
    turn: u32,
    shared_credits: u32,
}

/// The queue of one slice.
#[derive(Clone, Debug, Default)]
struct Inlet {
    queue: Ring<DramRequest>,
    /// Requests between here and completion.
    under_way: u32,
}

impl Inlets {
    /// Empty queues of `capacity` requests each, for what has `credits` places in all.
    pub(super) fn new(slices: usize, capacity: usize, credits: u32) -> Inlets {
        Inlets {
            inlets: vec![Inlet::default(); slices],
            capacity,
            waiting: 0,
            full: 0,
            idle: u64::MAX,
            turn: 0,
            shared_credits: credits.saturating_sub(slices as u32 - 1),
        }
    }

    /// Queues a request.
    #[inline]
    pub(super) fn push(&mut self, request: DramRequest) {
        let queue = &mut self.inlets[usize::from(request.slice)].queue;
        queue.push_back(request);
        let bit = 1 << request.slice;
        self.waiting |= bit;
        if queue.len() >= self.capacity {
            self.full |= bit;
        }
    }

    /// The queue of a slice can take another request.
    #[inline]
    pub(super) fn has_room(&self, slice: u16) -> bool {
        self.full >> slice & 1 == 0
    }

    /// No request waits here.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// No request is between here and completion.
    pub(super) fn none_under_way(&self) -> bool {
        self.inlets.iter().all(|inlet| inlet.under_way == 0)
    }

    /// What is waiting where, for a report on a deadlock.
    pub(super) fn describe(&self) -> String {
        let queues: Vec<usize> = self.inlets.iter().map(|i| i.queue.len()).collect();
        let under_way: Vec<u32> = self.inlets.iter().map(|i| i.under_way).collect();
        format!("queues from slices {queues:?}, under way by slice {under_way:?}")
    }

    /// There are credits that any slice may have, as far as is known: of requests that have completed it may not be.
    #[inline]
    pub(super) fn has_credits(&self) -> bool {
        self.shared_credits > 0
    }

    /// Slices whose next request has a credit.
    #[inline]
    pub(super) fn eligible(&self) -> u64 {
        if self.shared_credits > 0 {
            self.waiting
        } else {
            self.waiting & self.idle
        }
    }

    /// Takes the next request, slices in turn. A slice that had no room is told that there is some.
    #[inline(always)]
    pub(super) fn take(&mut self, tell: &mut impl FnMut(usize, News)) -> Option<DramRequest> {
        let eligible = self.eligible();
        let from_turn = eligible & (u64::MAX << self.turn);
        let bits = if from_turn != 0 { from_turn } else { eligible };
        let slice = bits.trailing_zeros() as usize;
        let inlet = self.inlets.get_mut(slice)?;
        let request = inlet.queue.pop_front()?;
        inlet.under_way += 1;
        let bit = 1 << slice;
        if inlet.queue.is_empty() {
            self.waiting &= !bit;
        }
        if self.full & bit != 0 {
            self.full &= !bit;
            tell(slice, News::Room);
        }
        self.turn = (slice as u32 + 1) & 63;
        if self.idle & bit == 0 {
            self.shared_credits -= 1;
        }
        self.idle &= !bit;
        Some(request)
    }

    /// A request has completed: its credit comes back.
    #[inline]
    pub(super) fn completed(&mut self, request: Done) {
        let slice = usize::from(request.slice);
        let under_way = &mut self.inlets[slice].under_way;
        *under_way -= 1;
        if *under_way > 0 {
            self.shared_credits += 1;
        } else {
            self.idle |= 1 << slice;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::mshr::Fetch;
    use proptest::prelude::*;

    fn take(inlets: &mut Inlets) -> Option<DramRequest> {
        inlets.take(&mut |_, _| {})
    }

    proptest! {
        /// Who is taken next does not depend on whether completed requests are known of at once or when credits have run out.
        #[test]
        fn it_is_enough_to_know_of_completed_requests_when_there_are_no_credits(
            credits in 2u32..7,
            steps in prop::collection::vec((0u8..3, 0u16..3), 1..200),
        ) {
            let mut at_once = Inlets::new(3, 100, credits);
            let mut late = at_once.clone();
            let (mut under_way, mut untold) = (Vec::new(), Vec::new());
            for (number, (what, slice)) in steps.into_iter().enumerate() {
                let request = DramRequest {
                    slice,
                    bank: 0,
                    write: false,
                    bytes: 32,
                    row: 0,
                    fetch: Fetch(number as u32),
                };
                match what {
                    0 => {
                        at_once.push(request);
                        late.push(request);
                    }
                    1 if !under_way.is_empty() => {
                        let done: Done = under_way.swap_remove(number % under_way.len());
                        at_once.completed(done);
                        untold.push(done);
                    }
                    _ => {
                        if !late.has_credits() {
                            untold.drain(..).for_each(|done| late.completed(done));
                        }
                        let (one, other) = (take(&mut at_once), take(&mut late));
                        prop_assert_eq!(one.map(|r| r.fetch), other.map(|r| r.fetch));
                        under_way.extend(one.map(|request| request.done()));
                    }
                }
            }
        }
    }
}
