//! Accesses on their way to the lookup in the L1 data cache.

use super::Access;
use crate::memory::ring::Ring;
use crate::time::Cycle;

/// An access on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    /// Cycle of the lookup, unless held up.
    pub at: Cycle,
    /// Record of the instruction.
    pub op: u16,
    pub access: Access,
}

/// The accesses, in order.
#[derive(Debug)]
pub(super) struct LookupQueue {
    /// When the first is looked up, unless held up: asked in every cycle in which the unit is awake.
    next: Cycle,
    queue: Ring<Queued>,
}

impl LookupQueue {
    /// An empty queue.
    pub fn new() -> LookupQueue {
        LookupQueue {
            next: Cycle::NEVER,
            queue: Ring::new(),
        }
    }

    /// When the first is looked up, unless held up.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == Cycle::NEVER
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&Queued> {
        self.queue.front()
    }

    /// Another, whose time is not before that of any other.
    #[inline]
    pub fn push(&mut self, queued: Queued) {
        self.next = self.next.min(queued.at);
        self.queue.push_back(queued);
    }

    /// The first has been looked up.
    #[inline]
    pub fn pop(&mut self) {
        self.queue.pop_front();
        self.next = self.queue.front().map_or(Cycle::NEVER, |first| first.at);
    }
}
