//! Where the network to the SMs ends: replies on their way to each SM, and which places for replies are free.

use super::wires::Wires;
use crate::clock::Clock;
use crate::network::DELIVERY_CYCLES;
use crate::network::crossbar::Sink;
use crate::packet::Reply;
use crate::stats::NetworkCounters;
use crate::time::{Cycle, Tick};
use std::sync::Arc;

/// The replies that come out of the network.
///
/// An SM sees every reply that arrives before the end of a quantum in that quantum, and in the network's eyes the place of a reply that has been
/// seen is free. So the times at which the last replies arrive tell whether there is room, and the SM need not be asked.
pub(super) struct Deliveries {
    network: Clock,
    /// By SM.
    to: Vec<ToSm>,
    /// Places of an SM's own queue.
    own: u64,
    /// The end of the quantum that is simulated.
    end: Cycle,
    quantum: u64,
    pub counters: NetworkCounters,
    wires: Arc<Wires>,
}

/// What is on its way to one SM.
#[derive(Clone)]
struct ToSm {
    /// Replies in order of arrival that have not been handed to the SM.
    replies: Vec<(Cycle, Reply)>,
    /// Replies so far.
    delivered: u64,
    /// Arrival times of the last replies, as many as the SM has places, in a ring: which is the oldest, and its time.
    arrivals: Box<[Cycle]>,
    oldest: usize,
    first_place: Cycle,
}

impl Deliveries {
    /// To SMs with `own` places each, and `before` of the network's.
    pub fn new(
        own: u32,
        before: u32,
        quantum: u64,
        network: Clock,
        wires: &Arc<Wires>,
    ) -> Deliveries {
        let places = (own as usize + before as usize).max(1);
        let to = ToSm {
            replies: Vec::new(),
            delivered: 0,
            arrivals: vec![Cycle::ZERO; places].into(),
            oldest: 0,
            first_place: Cycle::ZERO,
        };
        Deliveries {
            network,
            to: vec![to; wires.sms.len()],
            own: u64::from(own),
            end: Cycle::ZERO,
            quantum,
            counters: NetworkCounters::default(),
            wires: wires.clone(),
        }
    }

    /// This cycle is simulated.
    #[inline]
    pub fn come_to(&mut self, cycle: Cycle) {
        if cycle >= self.end {
            self.end = cycle.round_down(self.quantum) + self.quantum;
        }
    }

    /// Hands the replies to the SMs.
    pub fn hand_over(&mut self) {
        for (to, wires) in self.to.iter_mut().zip(&self.wires.sms) {
            wires.replies.send(&mut to.replies);
        }
    }

    /// Time goes back to cycle `now`, since when nothing has happened.
    pub fn back_to(&mut self, now: Cycle) {
        self.end = self.end.min(now);
    }
}

impl Sink<Reply> for Deliveries {
    /// Replies arrive in order. If the SM sees the reply that came as many replies ago as there are places
    /// in this quantum, fewer than that are unseen.
    #[inline]
    fn has_room(&self, sm: usize) -> bool {
        self.to[sm].first_place < self.end
    }

    /// What the SM's own queue has no place for, at a flit each.
    fn waiting(&self, sm: usize) -> u32 {
        let left = self.to[sm].delivered - self.wires.sms[sm].taken.read();
        left.saturating_sub(self.own) as u32
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
        to.delivered += 1;
        to.replies.push((at, reply));
    }
}
