//! The network's output buffer before a slice.

use crate::ring::Ring;
use crate::time::Cycle;

/// A request in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<T> {
    /// When the request arrived.
    pub since: Cycle,
    /// The request itself.
    pub request: T,
    flits: u32,
}

/// Requests that the slice has not taken in, in order.
#[derive(Clone, Debug)]
pub struct Entrance<T> {
    queue: Ring<Waiting<T>>,
    flits: u32,
    /// Flits that the buffer can hold.
    limit: u32,
}

impl<T: Copy> Entrance<T> {
    /// An empty buffer for so many flits.
    pub fn new(limit: u32) -> Entrance<T> {
        Entrance {
            queue: Ring::new(),
            flits: 0,
            limit,
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Requests that wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Flits of the requests that wait.
    #[inline]
    pub fn flits(&self) -> u32 {
        self.flits
    }

    /// Whether the buffer takes another request: a request larger than the buffer goes in alone.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.queue.is_empty() || self.flits < self.limit
    }

    /// Adds a request.
    pub fn push(&mut self, since: Cycle, request: T, flits: u32) {
        self.flits += flits;
        self.queue.push_back(Waiting {
            since,
            request,
            flits,
        });
    }

    /// The first request.
    #[inline]
    pub fn front(&self) -> Option<&Waiting<T>> {
        self.queue.front()
    }

    /// The slice takes the first request in.
    pub fn pop(&mut self) {
        if let Some(first) = self.queue.pop_front() {
            self.flits -= first.flits;
        }
    }
}
