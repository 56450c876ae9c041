//! Block dispatch: each cycle every SM with room may take one block, in turn. Room freed in a
//! quantum is seen at its end.

use crate::sm::{Launched, Sm};
use crate::time::Cycle;

/// Hands out the blocks of a grid.
#[derive(Debug)]
pub struct Dispatcher {
    /// Blocks handed out: the number of the one that goes next.
    sent: u64,
    total: u64,
    /// Blocks an SM may hold.
    limit: u32,
    /// SM that took a block last.
    last: usize,
}

impl Dispatcher {
    /// For `total` blocks, at most `limit` on each SM, the first for the SM behind `last`. While
    /// there is room everywhere each SM takes one per cycle, so that none holds more than its even
    /// share.
    pub fn new(total: u64, limit: u32, last: usize) -> Dispatcher {
        Dispatcher {
            sent: 0,
            total,
            limit,
            last,
        }
    }

    /// The SM that took a block last. The next launch goes on behind it.
    pub fn last(&self) -> usize {
        self.last
    }

    /// Sends blocks that are to arrive in cycles `from..to`, one per cycle to each SM.
    /// Returns whether there may be room for more; else there is none until a block completes.
    pub fn dispatch(&mut self, from: Cycle, to: Cycle, sms: &mut [Sm]) -> bool {
        for cycle in from.until(to) {
            let start = self.last;
            let mut sent = false;
            for i in 1..=sms.len() {
                let at = (start + i) % sms.len();
                if self.sent < self.total && sms[at].blocks_held() < self.limit {
                    sms[at].expect_block(cycle, self.sent);
                    self.sent += 1;
                    self.last = at;
                    sent = true;
                }
            }
            if !sent {
                return false;
            }
        }
        true
    }

    /// Blocks handed out.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// Hands out the logical blocks of a grid to virtual ones, as they ask: the numbers behind those
/// that virtual blocks began with.
#[derive(Debug)]
pub struct Numbers {
    next: u64,
    total: u64,
    /// Least time from a request to its answer.
    latency: u64,
}

impl Numbers {
    /// For a launch, if its virtual blocks ask.
    pub fn new(launched: &Launched, latency: u32) -> Option<Numbers> {
        let virtual_blocks = launched.grid.virtual_blocks?;
        Some(Numbers {
            next: launched.grid.blocks(),
            total: virtual_blocks.logical,
            latency: latency.into(),
        })
    }

    /// Answers the requests of the quantum that has ended with cycle `end`, SM by SM. Returns
    /// whether there were any.
    pub fn hand_out(&mut self, end: Cycle, sms: &mut [Sm]) -> bool {
        let mut any = false;
        for sm in sms {
            for request in sm.take_requests() {
                any = true;
                let number = (self.next < self.total).then_some(self.next);
                self.next += u64::from(number.is_some());
                let at = end.max(request.at + self.latency);
                sm.expect_answer(at, request.block, number);
            }
        }
        any
    }

    /// Whether all have been handed out.
    pub fn are_out(&self) -> bool {
        self.next >= self.total
    }
}
