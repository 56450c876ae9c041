//! Requests that have arrived at an L2 slice, in order, and how far each has come.
//!
//! A request waits a fixed delay; then its pieces join the slice's input queue one per clock, and
//! are served from there in order. So the queue is no list of its own but two positions in the
//! list of requests: which piece joins next, and which is served next.

use crate::inflight::{Inflight, Piece};
use crate::packet::{RequestKind, Traffic};
use crate::ring::Ring;
use crate::time::Cycle;

/// A request that has arrived. What serving its pieces needs is copied here once.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The core cycle in which the fixed delay ends.
    ready: Cycle,
    /// First byte of the piece to serve next, in the slice's addresses.
    pub sector: u64,
    /// Its index among the requests on their way.
    pub index: u32,
    pieces: u8,
    served: u8,
    /// What the request wants.
    pub kind: RequestKind,
    /// Which statistics the request counts in.
    pub traffic: Traffic,
}

impl Arrival {
    /// The piece to serve next.
    #[inline]
    pub fn piece(&self) -> Piece {
        Piece::new(self.index, u32::from(self.served))
    }

    /// How many pieces there are behind the next one.
    #[inline]
    pub fn pieces_behind(&self) -> u32 {
        u32::from(self.pieces - self.served - 1)
    }
}

/// Arrived requests.
#[derive(Clone, Debug)]
pub struct ArrivalQueue {
    requests: Ring<Arrival>,
    /// Pieces in the input queue.
    queued: usize,
    /// Pieces that fit there.
    capacity: usize,
    /// The request whose pieces join next, the cycle from which they may (never without such a
    /// request), and how many are left.
    joining: usize,
    next: Cycle,
    join_left: u8,
}

impl ArrivalQueue {
    /// An empty queue for this many pieces.
    pub fn new(capacity: usize) -> ArrivalQueue {
        ArrivalQueue {
            requests: Ring::new(),
            queued: 0,
            capacity,
            joining: 0,
            next: Cycle::NEVER,
            join_left: 0,
        }
    }

    /// Another `pieces` pieces fit in the input queue.
    #[inline]
    pub fn has_room(&self, pieces: usize) -> bool {
        self.queued + pieces <= self.capacity
    }

    /// Pieces in the input queue.
    #[inline]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Requests not yet served in full.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Adds a request whose delay ends in core cycle `ready`.
    pub fn push(&mut self, ready: Cycle, index: u32, entry: &Inflight) {
        self.requests.push_back(Arrival {
            ready,
            sector: entry.first_sector,
            index,
            pieces: entry.pieces,
            served: 0,
            kind: entry.kind,
            traffic: entry.traffic,
        });
        if self.next == Cycle::NEVER {
            self.start_joining();
        }
    }

    #[inline]
    fn start_joining(&mut self) {
        (self.next, self.join_left) = match self.requests.get(self.joining) {
            Some(request) => (request.ready, request.pieces),
            None => (Cycle::NEVER, 0),
        };
    }

    /// The core cycle from which another piece may join; never before one is served or arrives
    /// where there is no room or no piece.
    #[inline]
    pub fn next(&self) -> Cycle {
        if self.queued < self.capacity {
            self.next
        } else {
            Cycle::NEVER
        }
    }

    /// Lets the next piece join.
    #[inline]
    pub fn join(&mut self) {
        self.queued += 1;
        self.join_left -= 1;
        if self.join_left == 0 {
            self.joining += 1;
            self.start_joining();
        }
    }

    /// The request whose next piece is at the head of the input queue.
    #[inline]
    pub fn head(&self) -> Option<Arrival> {
        if self.queued == 0 {
            return None;
        }
        self.requests.front().copied()
    }

    /// What becomes of the queue when a piece of its first request, a sector of so many bytes, is served in every
    /// clock from core cycle `cycle` until before `end`. The next one is always there by then: the pieces of a
    /// request join one per clock, and there is room for them.
    #[inline]
    pub fn pass(&mut self, cycle: Cycle, end: Cycle, sector: u32) {
        let mut from = cycle.max(self.next);
        while from < end {
            let joining = (end - from).min(u64::from(self.join_left));
            self.queued += joining as usize;
            self.join_left -= joining as u8;
            if self.join_left == 0 {
                self.joining += 1;
                self.start_joining();
            }
            from = (from + joining).max(self.next);
        }
        self.pop_some((end - cycle) as u8, sector);
    }

    /// The head, a sector of so many bytes, has been served.
    #[inline]
    pub fn pop(&mut self, sector: u32) {
        self.pop_some(1, sector);
    }

    #[inline]
    fn pop_some(&mut self, pieces: u8, sector: u32) {
        self.queued -= usize::from(pieces);
        if let Some(first) = self.requests.front_mut() {
            first.served += pieces;
            first.sector += u64::from(pieces) * u64::from(sector);
            if first.served == first.pieces {
                self.requests.pop_front();
                self.joining -= 1;
            }
        }
    }
}
