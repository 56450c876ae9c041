//! Requests that have been let into slices that are ahead, on their way to them.
//!
//! A slice does nothing with a request until its delay is over, and by then it has been handed over: so the thread that runs the network
//! need not touch slices, which another thread runs meanwhile.

use super::partitions::Partitions;
use crate::memory::inflight::Sent;
use crate::time::Cycle;

/// One of them.
struct Mailed {
    /// When its delay ends.
    ready: Cycle,
    slice: u32,
    request: Sent,
}

/// All of them, in order of arrival.
pub(super) struct Mail {
    requests: Vec<Mailed>,
    first: Cycle,
}

impl Mail {
    /// None.
    pub fn new() -> Mail {
        Mail {
            requests: Vec::new(),
            first: Cycle::NEVER,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// When the first slice has something to do with any of them.
    #[inline]
    pub fn first(&self) -> Cycle {
        self.first
    }

    /// A request to a slice that has something to do with it in cycle `ready`.
    #[inline]
    pub fn put(&mut self, slice: usize, ready: Cycle, request: Sent) {
        self.first = self.first.min(ready);
        self.requests.push(Mailed {
            ready,
            slice: slice as u32,
            request,
        });
    }
}

impl Partitions {
    /// Takes these requests in.
    pub(super) fn take_in(&mut self, mail: &mut Mail) {
        for mailed in &mail.requests {
            let (slice, index) = (mailed.slice as usize, self.inflight.insert(&mailed.request));
            self.slices[slice].take_in(mailed.ready, index, mailed.request.entry());
            self.wake_slice(slice, mailed.ready);
        }
        mail.requests.clear();
        mail.first = Cycle::NEVER;
    }
}
