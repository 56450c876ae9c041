//! Replies that have arrived at their SMs or are in the last stretch of wire.

use crate::packet::Reply;
use crate::ring::Ring;
use crate::time::Cycle;

/// Replies to one SM, in order of arrival, with the core cycles in which they arrive. It is in no line of the host's cache
/// with that of another SM, which may run on another core.
#[derive(Debug)]
#[repr(align(128))]
pub struct Inbox {
    /// When the first arrives: asked in every cycle.
    next: Cycle,
    queue: Ring<(Cycle, Reply)>,
    /// Replies at the front that the SM has seen. It may leave them there; in the network's eyes
    /// their places are free.
    seen: usize,
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox {
            next: Cycle::NEVER,
            queue: Ring::new(),
            seen: 0,
        }
    }
}

impl Inbox {
    /// The SM is about to run up to cycle `end`: it sees what arrives before.
    #[inline]
    pub fn show(&mut self, end: Cycle) {
        while self.queue.get(self.seen).is_some_and(|&(at, _)| at < end) {
            self.seen += 1;
        }
    }

    /// A reply arrives in a cycle, behind all that are here.
    #[inline]
    pub fn put(&mut self, at: Cycle, reply: Reply) {
        self.next = self.next.min(at);
        self.queue.push_back((at, reply));
    }

    /// Replies in it.
    #[inline]
    pub fn held(&self) -> usize {
        self.queue.len()
    }

    /// The first reply, with the cycle in which it arrives.
    #[inline]
    pub fn front(&self) -> Option<(Cycle, Reply)> {
        self.queue.front().copied()
    }

    /// The SM takes the first reply.
    #[inline]
    pub fn pop(&mut self) -> Option<Reply> {
        self.seen = self.seen.saturating_sub(1);
        let first = self.queue.pop_front();
        self.next = self.queue.front().map_or(Cycle::NEVER, |&(at, _)| at);
        first.map(|(_, reply)| reply)
    }

    /// Takes the [parts](Reply::is_part) before the first other reply, one per cycle from `now` on, as far as the SM has
    /// seen them. Returns whether there are any. The places of those that are still to come are free already.
    #[inline]
    pub fn pass_parts(&mut self, now: Cycle) -> bool {
        let (mut then, before) = (now, self.seen);
        while self.seen > 0
            && let Some((at, reply)) = self.queue.front()
            && reply.is_part()
        {
            then = then.max(*at) + 1;
            self.queue.drop_front();
            self.seen -= 1;
        }
        if self.seen == before {
            return false;
        }
        self.next = Cycle::NEVER;
        self.hold_until(then);
        true
    }

    /// The first reply is not to be seen before `cycle`.
    #[inline]
    pub fn hold_until(&mut self, cycle: Cycle) {
        if let Some((at, _)) = self.queue.front_mut() {
            *at = (*at).max(cycle);
            self.next = *at;
        }
    }

    /// The core cycle in which the first reply arrives.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{IN_PARTS, RequestKind};

    fn reply(token: u32) -> Reply {
        Reply {
            kind: RequestKind::Read,
            addr: 0,
            bytes: 32,
            last: true,
            token,
        }
    }

    const FIRST: Cycle = Cycle::new(10);
    const SECOND: Cycle = Cycle::new(12);
    const THIRD: Cycle = Cycle::new(13);

    #[test]
    fn one_packet_per_cycle_is_what_the_sm_makes_of_it() {
        let [earlier, later] = [15, 20].map(Cycle::new);
        let mut inbox = Inbox::default();
        inbox.put(FIRST, reply(0));
        inbox.put(SECOND, reply(1));
        assert_eq!((inbox.next(), inbox.held()), (FIRST, 2));
        inbox.show(Cycle::new(100));
        assert_eq!(inbox.pop().map(|reply| reply.token), Some(0));
        assert_eq!(inbox.next(), SECOND);
        inbox.hold_until(later);
        assert_eq!(inbox.next(), later);
        inbox.hold_until(earlier);
        assert_eq!(inbox.next(), later);
    }

    #[test]
    fn parts_pass_together_up_to_the_reply_behind_them() {
        let part = Reply {
            last: false,
            ..reply(IN_PARTS)
        };
        let last = Cycle::new(20);
        let mut inbox = Inbox::default();
        for (at, reply) in [
            (FIRST, part),
            (SECOND, part),
            (THIRD, reply(IN_PARTS)),
            (last, part),
        ] {
            inbox.put(at, reply);
        }
        inbox.show(SECOND);
        assert!(inbox.pass_parts(FIRST));
        assert_eq!(inbox.next(), SECOND, "the SM has not seen more");
        inbox.show(THIRD + 1);
        // The inbox comes to the second late: one packet per cycle.
        assert!(inbox.pass_parts(THIRD));
        assert_eq!(inbox.next(), THIRD + 1);
        assert!(
            !inbox.pass_parts(THIRD + 1),
            "the last of a request is none"
        );
        assert!(inbox.pop().is_some_and(|reply| reply.last));
        inbox.show(last + 1);
        assert!(inbox.pass_parts(inbox.next()));
        assert_eq!(inbox.next(), Cycle::NEVER);
    }
}
