//! Reads and writes whose commands are out.

use crate::dram::{Done, DramRequest};
use crate::ring::Ring;
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.reads.len() + self.writes.len()
    }

    /// How many of them are reads.
    pub fn reads(&self) -> usize {
        self.reads.len()
    }

    /// The reads behind the first `known`, with the clocks in which they complete, in order.
    pub fn reads_behind(&self, known: usize) -> impl Iterator<Item = &(Tick, Done)> {
        (known..self.reads.len()).filter_map(|number| self.reads.get(number))
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

    /// Takes out those that have completed by `tick`, reads first.
    #[inline]
    pub fn complete(&mut self, tick: Tick, completed: impl FnMut(Done)) {
        if self.next <= tick {
            self.take(tick, completed);
        }
    }

    #[inline(never)]
    fn take(&mut self, tick: Tick, mut completed: impl FnMut(Done)) {
        self.next = Tick::NEVER;
        for queue in [&mut self.reads, &mut self.writes] {
            while let Some(&(done, request)) = queue.front() {
                if done > tick {
                    self.next = self.next.min(done);
                    break;
                }
                queue.drop_front();
                completed(request);
            }
        }
    }
}
