//! Reads and writes whose commands are out.

use crate::memory::dram::{Done, DramRequest};
use crate::memory::ring::Ring;
use crate::time::Tick;

/// Requests by the clock in which they complete: each kind completes in order.
#[derive(Clone, Debug)]
pub(super) struct Flying {
    reads: Ring<(Tick, Done)>,
    writes: Ring<(Tick, Done)>,
    /// The next clock in which one of them completes.
    next: Tick,
}

impl Flying {
    /// None.
    pub(super) fn new() -> Flying {
        Flying {
            reads: Ring::new(),
            writes: Ring::new(),
            next: Tick::NEVER,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    #[inline]
    pub(super) fn next(&self) -> Tick {
        self.next
    }

    /// The clock in which the last of them completes; never without any.
    pub(super) fn last(&self) -> Tick {
        let last = |queue: &Ring<(Tick, Done)>| queue.back().map_or(Tick::ZERO, |l| l.0);
        match self.is_empty() {
            true => Tick::NEVER,
            false => last(&self.reads).max(last(&self.writes)),
        }
    }

    /// A request completes in clock `done`, behind those of its kind.
    #[inline]
    pub(super) fn push(&mut self, done: Tick, request: &DramRequest) {
        match request.write {
            true => self.writes.push_back((done, request.done())),
            false => self.reads.push_back((done, request.done())),
        }
        self.next = self.next.min(done);
    }

    /// One that has completed by `tick`, reads first.
    #[inline]
    pub(super) fn completed(&mut self, tick: Tick) -> Option<Done> {
        match self.next > tick {
            true => None,
            false => self.take(tick),
        }
    }

    #[inline]
    fn take(&mut self, tick: Tick) -> Option<Done> {
        let first = |queue: &Ring<(Tick, Done)>| queue.front().map_or(Tick::NEVER, |f| f.0);
        let queue = if first(&self.reads) <= tick {
            &mut self.reads
        } else {
            &mut self.writes
        };
        let done = queue.pop_front();
        self.next = first(&self.reads).min(first(&self.writes));
        done.map(|(_, request)| request)
    }
}
