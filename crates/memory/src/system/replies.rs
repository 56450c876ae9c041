//! An SM's end of the link on which its replies come.

use super::wires::SmWires;
use crate::network::inbox::Inbox;
use crate::packet::Reply;
use crate::time::Cycle;

/// The inbox, and how many replies have come.
#[derive(Debug, Default)]
pub struct Replies {
    /// Replies that the SM has not taken.
    pub inbox: Inbox,
    received: u64,
    /// Replies that have just come; empty between calls.
    coming: Vec<(Cycle, Reply)>,
}

impl Replies {
    /// Takes in what has come. Returns whether anything has.
    #[inline]
    pub fn receive(&mut self, wires: &SmWires) -> bool {
        if wires.replies.is_empty() {
            return false;
        }
        wires.replies.receive(&mut self.coming);
        self.received += self.coming.len() as u64;
        for (at, reply) in self.coming.drain(..) {
            self.inbox.put(at, reply);
        }
        true
    }

    /// Takes the next reply, if it has arrived by core cycle `now`, with the cycle in which it did.
    pub fn take(&mut self, now: Cycle) -> Option<(Cycle, Reply)> {
        let (at, _) = self.inbox.front().filter(|(at, _)| *at <= now)?;
        self.inbox.pop().map(|reply| (at, reply))
    }

    /// Tells the network how many replies the SM has taken.
    #[inline]
    pub fn publish(&self, wires: &SmWires) {
        wires
            .taken
            .publish(self.received - self.inbox.held() as u64);
    }
}
