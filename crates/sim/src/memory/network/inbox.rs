//! Replies that have arrived at their SMs or are in the last stretch of wire.

use super::DELIVERY_CYCLES;
use super::crossbar::Sink;
use crate::memory::clock::Clock;
use crate::memory::packet::Reply;
use crate::memory::ring::Ring;
use crate::memory::wake::WakeList;
use crate::time::{Cycle, Tick};

/// Replies to one SM, in order of arrival, with the core cycles in which they arrive. It is in no line of the host's cache
/// with that of another SM, which may run on another core.
#[derive(Debug)]
#[repr(align(128))]
pub struct Inbox {
    /// When the first arrives: asked in every cycle.
    next: Cycle,
    queue: Ring<(Cycle, Reply)>,
    /// Replies behind these that were handed over since the SM ran: the SM takes them in itself, since the thread that hands them over has other SMs to see to.
    behind: Ring<(Cycle, Reply)>,
    /// Replies at the front that the SM has seen. It may leave them there; in the network's eyes
    /// their places are free.
    seen: usize,
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox {
            next: Cycle::NEVER,
            queue: Ring::new(),
            behind: Ring::new(),
            seen: 0,
        }
    }
}

impl Inbox {
    /// The SM is about to run up to cycle `end`: it sees what arrives before.
    #[inline]
    pub fn show(&mut self, end: Cycle) {
        self.gather();
        while self.queue.get(self.seen).is_some_and(|&(at, _)| at < end) {
            self.seen += 1;
        }
    }

    /// Takes all of these in, which are in order, behind those that are here.
    pub fn put_all(&mut self, replies: &mut Ring<(Cycle, Reply)>) {
        let Some(&(first, _)) = replies.front() else {
            return;
        };
        self.next = self.next.min(first);
        match self.len() {
            0 => self.queue.append(replies),
            _ => self.behind.append(replies),
        }
    }

    /// Takes in what has been handed over.
    #[inline]
    pub fn gather(&mut self) {
        if !self.behind.is_empty() {
            self.queue.append(&mut self.behind);
        }
    }

    /// Replies in it.
    fn len(&self) -> usize {
        self.queue.len() + self.behind.len()
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

/// The inboxes of all SMs.
pub struct Inboxes {
    inboxes: Vec<Inbox>,
    /// The `next` of each: looked at more often than the inboxes.
    next: WakeList,
    /// Places of an SM's own queue, and with those of the network before it.
    own: usize,
    capacity: usize,
    network: Clock,
    /// Packets and flits that have come out of the network.
    pub packets: u64,
    #[allow(missing_docs)]
    pub flits: u64,
}

impl Inboxes {
    /// Empty inboxes for replies that an SM has not seen: `own` places of the SM's each, and
    /// `before` of the network's.
    pub fn new(sms: usize, own: usize, before: usize, network: Clock) -> Inboxes {
        Inboxes {
            inboxes: (0..sms).map(|_| Inbox::default()).collect(),
            next: WakeList::new(sms),
            own,
            capacity: own + before,
            network,
            packets: 0,
            flits: 0,
        }
    }

    /// The inbox of an SM. The caller that takes from it says so by [`taken`](Inboxes::taken).
    #[inline]
    pub fn of(&mut self, sm: usize) -> &mut Inbox {
        &mut self.inboxes[sm]
    }

    /// The inboxes of all SMs, in their order, for threads that run SMs by themselves.
    pub fn lend(&mut self) -> Vec<Inbox> {
        std::mem::take(&mut self.inboxes)
    }

    /// Takes inboxes back that were lent.
    pub fn take_back(&mut self, inboxes: Vec<Inbox>) {
        self.inboxes = inboxes;
        for (sm, inbox) in self.inboxes.iter().enumerate() {
            self.next.set(sm, inbox.next());
        }
    }

    /// The inboxes of all SMs, in their order. The caller that takes from one says so by
    /// [`taken`](Inboxes::taken).
    pub fn all(&mut self) -> impl Iterator<Item = &mut Inbox> {
        self.inboxes.iter_mut()
    }

    /// Replies that an inbox holds before an SM has seen them.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// A reply arrives in core cycle `at`.
    #[inline]
    pub fn put(&mut self, sm: usize, at: Cycle, reply: Reply) {
        self.next.lower(sm, at);
        let inbox = &mut self.inboxes[sm];
        inbox.next = inbox.next.min(at);
        inbox.queue.push_back((at, reply));
    }

    /// Takes all of these replies, with the core cycles in which they arrive, the first of them first.
    pub fn put_all(&mut self, sm: usize, replies: &mut Ring<(Cycle, Reply)>) {
        if let Some(&(at, _)) = replies.front() {
            self.next.lower(sm, at);
            self.inboxes[sm].put_all(replies);
        }
    }

    /// The SM may have taken replies; the [next](Inbox::next) arrives in this cycle.
    #[inline]
    pub fn taken(&mut self, sm: usize, next: Cycle) {
        debug_assert_eq!(next, self.inboxes[sm].next());
        self.next.set(sm, next);
    }

    /// The core cycle in which the SM's next known reply arrives.
    #[inline]
    pub fn next_for(&self, sm: usize) -> Cycle {
        self.next.of(sm)
    }

    /// When the next known reply of every SM arrives. What is taken from this list comes back by
    /// [`taken`](Inboxes::taken).
    #[inline]
    pub fn next_for_each(&mut self) -> &mut WakeList {
        &mut self.next
    }

    /// The core cycle in which the first known reply to any SM arrives.
    pub fn next(&self) -> Cycle {
        self.next.next()
    }

    /// Replies that wait for an SM.
    pub fn len(&self, sm: usize) -> usize {
        self.inboxes[sm].len()
    }

    /// No reply waits for an SM.
    pub fn is_empty(&self) -> bool {
        self.inboxes.iter().all(|inbox| inbox.len() == 0)
    }
}

impl Sink<Reply> for Inboxes {
    fn has_room(&self, sm: usize) -> bool {
        let inbox = &self.inboxes[sm];
        inbox.queue.len() - inbox.seen < self.capacity
    }

    /// What the SM's own queue has no place for, at a flit each.
    fn waiting(&self, sm: usize) -> u32 {
        self.inboxes[sm].queue.len().saturating_sub(self.own) as u32
    }

    fn deliver(&mut self, sm: usize, tick: Tick, flits: u32, reply: Reply) {
        self.packets += 1;
        self.flits += u64::from(flits);
        self.put(sm, self.network.cycle_of(tick) + DELIVERY_CYCLES, reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::packet::{IN_PARTS, RequestKind};

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
        let mut inboxes = Inboxes::new(1, 1, 1, Clock::new(700, 700));
        for i in 0..replies {
            inboxes.deliver(0, Tick::new(10 + i), 1, reply(i as u32));
        }
        inboxes
    }

    #[test]
    fn a_reply_takes_a_place_until_the_sm_has_seen_it() {
        let mut inboxes = filled(2);
        assert!(!inboxes.has_room(0));
        let [first, second] = [10, 11].map(|tick| Cycle::new(tick + DELIVERY_CYCLES));
        assert_eq!(inboxes.next_for(0), first);
        inboxes.of(0).show(first);
        assert!(!inboxes.has_room(0), "nothing arrives before that cycle");
        inboxes.of(0).show(second);
        assert!(inboxes.has_room(0), "it has seen the first and left it");
        assert_eq!(inboxes.of(0).pop().map(|r| r.token), Some(0));
        let next = inboxes.of(0).next();
        inboxes.taken(0, next);
        assert!(inboxes.has_room(0), "the place was free already");
        inboxes.deliver(0, Tick::new(12), 1, reply(2));
        assert!(!inboxes.has_room(0));
        assert_eq!(inboxes.next_for(0), second);
    }

    #[test]
    fn one_packet_per_cycle_is_what_the_sm_makes_of_it() {
        let [earlier, later] = [15, 20].map(Cycle::new);
        let mut inboxes = filled(2);
        let inbox = inboxes.of(0);
        inbox.show(Cycle::new(100));
        inbox.pop();
        inbox.hold_until(later);
        assert_eq!(inbox.next(), later);
        inbox.hold_until(earlier);
        assert_eq!(inbox.next(), later);
        let next = inboxes.of(0).next();
        inboxes.taken(0, next);
        assert_eq!((inboxes.next_for(0), inboxes.next()), (later, later));
    }

    #[test]
    fn parts_pass_together_up_to_the_reply_behind_them() {
        let part = Reply {
            last: false,
            ..reply(IN_PARTS)
        };
        let mut inboxes = Inboxes::new(1, 8, 8, Clock::new(700, 700));
        for (tick, reply) in [(10, part), (12, part), (13, reply(IN_PARTS)), (20, part)] {
            inboxes.deliver(0, Tick::new(tick), 1, reply);
        }
        let [first, second, last] = [10, 12, 13].map(|tick| Cycle::new(tick + DELIVERY_CYCLES));
        let inbox = inboxes.of(0);
        inbox.show(second);
        assert!(inbox.pass_parts(first));
        assert_eq!(inbox.next(), second, "the SM has not seen more");
        inbox.show(last + 1);
        // The inbox comes to the second late: one packet per cycle.
        assert!(inbox.pass_parts(last));
        assert_eq!(inbox.next(), last + 1);
        assert!(!inbox.pass_parts(last + 1), "the last of a request is none");
        assert!(inbox.pop().is_some_and(|reply| reply.last));
        inbox.show(last + 20);
        assert!(inbox.pass_parts(inbox.next()));
        assert_eq!(inbox.next(), Cycle::NEVER);
    }

    #[test]
    fn what_is_handed_over_comes_behind_what_is_there() {
        let mut inboxes = filled(2);
        let [first, later] = [10, 30].map(|tick| Cycle::new(tick + DELIVERY_CYCLES));
        let mut more = Ring::new();
        for token in 2..4 {
            more.push_back((later, reply(token)));
        }
        inboxes.put_all(0, &mut more);
        more.push_back((later, reply(4)));
        inboxes.put_all(0, &mut more);
        assert_eq!((inboxes.len(0), inboxes.next_for(0)), (5, first));
        let inbox = inboxes.of(0);
        inbox.show(later + 1);
        let taken = std::iter::from_fn(|| inbox.pop().map(|reply| reply.token));
        assert!(taken.eq(0..5));
        assert!(inboxes.is_empty());
        more.push_back((later, reply(5)));
        inboxes.put_all(0, &mut more);
        assert_eq!(inboxes.of(0).front().map(|(_, reply)| reply.token), Some(5));
    }
}
