//! Reads and writes whose commands are out.

use crate::memory::dram::{Done, DramRequest};
use crate::memory::ring::Ring;
use crate::time::Tick;

/// Requests by the clock in which they complete: each kind completes in order.
#[derive(Clone, Debug)]
pub struct Flying {
    reads: Ring<(Tick, Done)>,
    writes: Ring<(Tick, Done)>,
    /// The next clock in which one of them completes.
    next: Tick,
}

impl Default for Flying {
    /// None.
    fn default() -> Flying {
        Flying {
            reads: Ring::new(),
            writes: Ring::new(),
            next: Tick::NEVER,
        }
    }
}

impl Flying {
    /// When the next completes.
    #[inline]
    pub fn next(&self) -> Tick {
        self.next
    }

    /// The clock in which the last of them completes; never without any.
    pub fn last(&self) -> Tick {
        let last = |queue: &Ring<(Tick, Done)>| queue.back().map_or(Tick::ZERO, |l| l.0);
        match self.next {
            Tick::NEVER => Tick::NEVER,
            _ => last(&self.reads).max(last(&self.writes)),
        }
    }

    /// The reads, with the clocks in which they complete, in order.
    pub fn reads(&self) -> impl Iterator<Item = &(Tick, Done)> {
        (0..self.reads.len()).filter_map(|number| self.reads.get(number))
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

    /// Takes all of others, each of which completes behind those of its kind; says how many.
    #[inline]
    pub fn append(&mut self, others: &mut Flying) -> usize {
        let count = others.reads.len() + others.writes.len();
        if count != 0 {
            self.reads.append(&mut others.reads);
            self.writes.append(&mut others.writes);
            self.next = self.next.min(others.next);
            others.next = Tick::NEVER;
        }
        count
    }

    /// One that has completed by `tick`, reads first.
    #[inline]
    pub fn completed(&mut self, tick: Tick) -> Option<Done> {
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
