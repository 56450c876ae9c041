//! The queues from a channel's slices and the arbiter behind them.
//!
//! Slices take turns. Each holds one credit of its own and shares the others, so that a slice
//! that floods the channel cannot shut the other out. A credit comes back with the request.

use super::{Done, DramRequest, News};
use crate::memory::ring::Ring;

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

    /// Slices whose next request has a credit.
    #[inline]
    pub(super) fn eligible(&self) -> u64 {
        if self.shared_credits > 0 {
            self.waiting
        } else {
            self.waiting & self.idle
        }
    }

    /// Takes the next request, slices in turn. Who had no room hears that there is some.
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
