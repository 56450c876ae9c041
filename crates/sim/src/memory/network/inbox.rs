//! Replies that have arrived at their SMs or are in the last stretch of wire.

use super::DELIVERY_CYCLES;
use super::crossbar::Sink;
use crate::memory::clock::Clock;
use crate::memory::packet::Reply;
use std::collections::VecDeque;

/// Replies to one SM, in order of arrival, with the core cycles in which they arrive.
#[derive(Debug, Default)]
pub struct Inbox {
    queue: VecDeque<(u64, Reply)>,
    /// Replies at the front that the SM has seen. It may leave them there; in the network's eyes
    /// their places are free.
    seen: usize,
}

impl Inbox {
    /// The SM is about to run up to cycle `end`: it sees what arrives before.
    #[inline]
    pub fn show(&mut self, end: u64) {
        while self.queue.get(self.seen).is_some_and(|&(at, _)| at < end) {
            self.seen += 1;
        }
    }

    /// The first reply, with the cycle in which it arrives.
    #[inline]
    pub fn front(&self) -> Option<(u64, Reply)> {
        self.queue.front().copied()
    }

    /// The SM takes the first reply.
    #[inline]
    pub fn pop(&mut self) -> Option<Reply> {
        self.seen = self.seen.saturating_sub(1);
        self.queue.pop_front().map(|(_, reply)| reply)
    }

    /// The first reply is not to be seen before `cycle`.
    #[inline]
    pub fn hold_until(&mut self, cycle: u64) {
        if let Some((at, _)) = self.queue.front_mut() {
            *at = (*at).max(cycle);
        }
    }

    /// The core cycle in which the first reply arrives, `u64::MAX` without one.
    #[inline]
    pub fn next(&self) -> u64 {
        self.queue.front().map_or(u64::MAX, |&(at, _)| at)
    }
}

/// The inboxes of all SMs.
pub struct Inboxes {
    inboxes: Vec<Inbox>,
    /// When the first reply of each arrives, `u64::MAX` without one: looked at more often than
    /// the inboxes.
    heads: Vec<u64>,
    capacity: usize,
    network: Clock,
    /// Packets and flits that have come out of the network.
    pub packets: u64,
    #[allow(missing_docs)]
    pub flits: u64,
}

impl Inboxes {
    /// Empty inboxes for `capacity` replies each that an SM has not seen.
    pub fn new(sms: usize, capacity: usize, network: Clock) -> Inboxes {
        Inboxes {
            inboxes: (0..sms).map(|_| Inbox::default()).collect(),
            heads: vec![u64::MAX; sms],
            capacity,
            network,
            packets: 0,
            flits: 0,
        }
    }

    /// The inbox of an SM. Whoever takes from it says so by [`taken`](Inboxes::taken).
    #[inline]
    pub fn of(&mut self, sm: usize) -> &mut Inbox {
        &mut self.inboxes[sm]
    }

    /// The SM may have taken replies.
    #[inline]
    pub fn taken(&mut self, sm: usize) {
        self.heads[sm] = self.inboxes[sm].next();
    }

    /// The core cycle in which the SM's next known reply arrives, `u64::MAX` without one.
    #[inline]
    pub fn next(&self, sm: usize) -> u64 {
        self.heads[sm]
    }

    /// The same for the first reply to any SM.
    pub fn earliest(&self) -> u64 {
        self.heads.iter().fold(u64::MAX, |a, &b| a.min(b))
    }

    /// Replies that wait for an SM.
    pub fn len(&self, sm: usize) -> usize {
        self.inboxes[sm].queue.len()
    }

    /// No reply waits for anybody.
    pub fn is_empty(&self) -> bool {
        self.inboxes.iter().all(|inbox| inbox.queue.is_empty())
    }
}

impl Sink<Reply> for Inboxes {
    fn has_room(&self, sm: usize) -> bool {
        let inbox = &self.inboxes[sm];
        inbox.queue.len() - inbox.seen < self.capacity
    }

    fn deliver(&mut self, sm: usize, tick: u64, flits: u32, reply: Reply) {
        self.packets += 1;
        self.flits += u64::from(flits);
        let at = self.network.cycle_of(tick) + DELIVERY_CYCLES;
        self.heads[sm] = self.heads[sm].min(at);
        self.inboxes[sm].queue.push_back((at, reply));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::packet::RequestKind;

    fn reply(token: u32) -> Reply {
        Reply {
            kind: RequestKind::Read,
            addr: 0,
            bytes: 32,
            last: true,
            token,
        }
    }

    /// Inboxes of one SM with room for two replies, delivered in ticks 10, 11 and so on.
    fn filled(replies: u64) -> Inboxes {
        let mut inboxes = Inboxes::new(1, 2, Clock::new(700, 700));
        for i in 0..replies {
            inboxes.deliver(0, 10 + i, 1, reply(i as u32));
        }
        inboxes
    }

    #[test]
    fn a_reply_takes_a_place_until_the_sm_has_seen_it() {
        let mut inboxes = filled(2);
        assert!(!inboxes.has_room(0));
        assert_eq!(inboxes.next(0), 10 + DELIVERY_CYCLES);
        inboxes.of(0).show(10 + DELIVERY_CYCLES);
        assert!(!inboxes.has_room(0), "nothing arrives before that cycle");
        inboxes.of(0).show(11 + DELIVERY_CYCLES);
        assert!(inboxes.has_room(0), "it has seen the first and left it");
        assert_eq!(inboxes.of(0).pop().map(|r| r.token), Some(0));
        inboxes.taken(0);
        assert!(inboxes.has_room(0), "the place was free already");
        inboxes.deliver(0, 12, 1, reply(2));
        assert!(!inboxes.has_room(0));
        assert_eq!(inboxes.next(0), 11 + DELIVERY_CYCLES);
    }

    #[test]
    fn one_packet_a_cycle_is_what_the_sm_makes_of_it() {
        let mut inboxes = filled(2);
        let inbox = inboxes.of(0);
        inbox.show(100);
        inbox.pop();
        inbox.hold_until(20);
        assert_eq!(inbox.next(), 20);
        inbox.hold_until(15);
        assert_eq!(inbox.next(), 20);
        inboxes.taken(0);
        assert_eq!((inboxes.next(0), inboxes.earliest()), (20, 20));
    }
}
