//! Block dispatch: each cycle every SM with room may take one block, in turn. Room freed in a
//! quantum is seen at its end, however far other SMs have run by then.

use super::site::Site;
use crate::sm::Launched;
use crate::time::Cycle;

/// Hands out the blocks of a grid.
#[derive(Debug)]
pub struct Dispatcher {
    /// Blocks of the launch, how many have been handed out, which is the number of the one that goes next, and how many have ended.
    pub total: u64,
    pub sent: u64,
    pub ended: u64,
    /// Blocks an SM may hold.
    limit: u32,
    /// Blocks that each holds, or that are on their way to it, as far as is known here.
    held: Vec<u32>,
    /// SM that took a block last. The next launch goes on behind it.
    pub last: usize,
}

impl Dispatcher {
    /// For `total` blocks, at most `limit` on each SM, the first for the SM behind `last`. While
    /// there is room everywhere each SM takes one per cycle, so that none holds more than its even
    /// share.
    pub fn new(total: u64, limit: u32, sms: usize, last: usize) -> Dispatcher {
        Dispatcher {
            total,
            sent: 0,
            ended: 0,
            limit,
            held: vec![0; sms],
            last,
        }
    }

    /// Blocks have ended on an SM: their places are free.
    pub fn ended(&mut self, sm: usize, blocks: u32) {
        self.held[sm] -= blocks;
        self.ended += u64::from(blocks);
    }

    /// Whether blocks are left to be sent.
    pub fn has_more(&self) -> bool {
        self.sent < self.total
    }

    /// Whether all blocks have ended.
    pub fn is_over(&self) -> bool {
        self.ended == self.total
    }

    /// Sends blocks that are to arrive in cycles `from..to`, one per cycle to each SM: `send` gets the SM's number, the cycle and the block's
    /// number. Returns whether there may be room for more; else there is none until a block completes.
    pub fn dispatch(
        &mut self,
        from: Cycle,
        to: Cycle,
        mut send: impl FnMut(usize, Cycle, u64),
    ) -> bool {
        let sms = self.held.len();
        for cycle in from.until(to) {
            let start = self.last;
            let mut sent = false;
            for i in 1..=sms {
                let at = (start + i) % sms;
                if self.sent < self.total && self.held[at] < self.limit {
                    send(at, cycle, self.sent);
                    self.held[at] += 1;
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

    /// Answers the requests of the quantum that has ended with cycle `end`, SM by SM.
    pub fn hand_out(&mut self, end: Cycle, sites: &mut [Site]) {
        for Site { sm, .. } in sites {
            for request in sm.take_requests() {
                let number = (self.next < self.total).then_some(self.next);
                self.next += u64::from(number.is_some());
                let at = end.max(request.at + self.latency);
                sm.expect_answer(at, request.block, number);
            }
        }
    }

    /// Whether all have been handed out.
    pub fn are_out(&self) -> bool {
        self.next >= self.total
    }
}
