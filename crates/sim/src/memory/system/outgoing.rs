//! Replies of partitions that are ahead, which wait until SMs come to their time.

use crate::memory::clock::Clock;
use crate::memory::network::DELIVERY_CYCLES;
use crate::memory::network::crossbar::Sink;
use crate::memory::network::inbox::Inboxes;
use crate::memory::packet::Reply;
use crate::memory::ring::Ring;
use crate::memory::stats::NetworkCounters;
use crate::time::{Cycle, Tick};

/// The SMs' side of the network from the partitions, where SMs run meanwhile: replies wait here.
pub(super) struct Outgoing {
    network: Clock,
    /// By SM.
    to: Vec<ToSm>,
    /// The end of the quantum that is simulated.
    end: Cycle,
    quantum: u64,
    pub counters: NetworkCounters,
}

/// What is on its way to one SM.
#[derive(Clone)]
struct ToSm {
    /// In order of arrival.
    replies: Ring<(Cycle, Reply)>,
    /// Arrival times of the last replies, as many as the SM has places, in a ring: which is the oldest, and its time.
    arrivals: Box<[Cycle]>,
    oldest: usize,
    first_place: Cycle,
}

impl ToSm {
    fn new(places: usize) -> ToSm {
        ToSm {
            replies: Ring::new(),
            arrivals: vec![Cycle::ZERO; places.max(1)].into(),
            oldest: 0,
            first_place: Cycle::ZERO,
        }
    }
}

impl Outgoing {
    /// To so many SMs, which have so many places each.
    pub fn new(sms: usize, places: usize, quantum: u64, network: Clock) -> Outgoing {
        Outgoing {
            network,
            to: vec![ToSm::new(places); sms],
            end: Cycle::ZERO,
            quantum,
            counters: NetworkCounters::default(),
        }
    }

    /// This cycle is simulated.
    #[inline]
    pub fn come_to(&mut self, cycle: Cycle) {
        if cycle >= self.end {
            self.end = cycle.round_down(self.quantum) + self.quantum;
        }
    }

    /// No reply waits here.
    pub fn is_empty(&self) -> bool {
        self.to.iter().all(|to| to.replies.is_empty())
    }

    /// Delivers the replies to the SMs.
    pub fn deliver_to(&mut self, inboxes: &mut Inboxes) {
        self.hand_over(|sm, replies| inboxes.put_all(sm, replies));
    }

    /// Hands the replies over, for each SM that has some.
    pub fn hand_over(&mut self, mut put: impl FnMut(usize, &mut Ring<(Cycle, Reply)>)) {
        for (sm, to) in self.to.iter_mut().enumerate() {
            if !to.replies.is_empty() {
                put(sm, &mut to.replies);
            }
        }
    }
}

impl Sink<Reply> for Outgoing {
    /// Replies arrive in order. If the SM sees the reply that came as many replies ago as there are places
    /// in this quantum, fewer than that are unseen.
    #[inline]
    fn has_room(&self, sm: usize) -> bool {
        self.to[sm].first_place < self.end
    }

    /// Never asked: a network with credits is not run ahead.
    fn waiting(&self, _sm: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn deliver(&mut self, sm: usize, tick: Tick, flits: u32, reply: Reply) {
        self.counters.count_packet(flits);
        let at = self.network.cycle_of(tick) + DELIVERY_CYCLES;
        let to = &mut self.to[sm];
        to.arrivals[to.oldest] = at;
        to.oldest += 1;
        if to.oldest == to.arrivals.len() {
            to.oldest = 0;
        }
        to.first_place = to.arrivals[to.oldest];
        to.replies.push_back((at, reply));
    }
}
