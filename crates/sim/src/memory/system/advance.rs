//! Letting time pass: which core cycles are looked at, and the order of the parts within one.

use super::MemorySystem;
use super::behind::Behind;
use super::partitions::{Clocks, Partitions};
use crate::memory::inflight::Sent;
use crate::memory::network::crossbar::{Crossbar, Sink};
use crate::memory::stats::NetworkCounters;
use crate::time::{Cycle, Tick};

/// The network to the partitions.
pub(super) struct Requests {
    pub network: Crossbar<Sent>,
    /// The core cycle in which something can happen in the network.
    pub next: Cycle,
    /// What has come out.
    pub counters: NetworkCounters,
}

/// Where the network ends, if the partitions are not ahead.
struct Arrivals<'a> {
    partitions: &'a mut Partitions,
    counters: &'a mut NetworkCounters,
}

impl Sink<Sent> for Arrivals<'_> {
    fn has_room(&self, slice: usize) -> bool {
        self.partitions.slices[slice].has_room()
    }

    fn waiting(&self, slice: usize) -> u32 {
        self.partitions.slices[slice].waiting()
    }

    #[inline(always)]
    fn deliver(&mut self, slice: usize, tick: Tick, flits: u32, request: Sent) {
        self.counters.count_packet(flits);
        let partitions = &mut *self.partitions;
        let arrived = partitions.clocks.network.cycle_of(tick);
        let index = partitions.inflight.insert(&request);
        let ready = partitions.slices[slice].arrive(arrived, index, flits, request.entry());
        partitions.wake_slice(slice, ready);
    }
}

impl Requests {
    pub fn new(network: Crossbar<Sent>) -> Requests {
        Requests {
            network,
            next: Cycle::NEVER,
            counters: NetworkCounters::default(),
        }
    }

    /// Simulates a core cycle of the network, after the partitions have had theirs. What comes out goes to the sink that `to` makes of the counters.
    #[inline]
    pub fn cycle<'a, S: Sink<Sent>>(
        &'a mut self,
        cycle: Cycle,
        clocks: &Clocks,
        to: impl FnOnce(&'a mut NetworkCounters) -> S,
    ) {
        let mut sink = to(&mut self.counters);
        for tick in clocks.network.ticks_of(cycle) {
            if self.network.next() <= tick {
                self.network.step(tick, &mut sink);
            }
        }
        self.next = clocks.network.cycle_of(self.network.next());
    }

    /// What has been counted here.
    pub fn counted(&self) -> NetworkCounters {
        NetworkCounters {
            full_stalls: self.network.blocked(),
            ..self.counters
        }
    }
}

impl MemorySystem {
    /// Simulates all core cycles before `until`. `perform_atomic(sm, token)` is called for
    /// every atomic that an L2 slice serves, in that order.
    pub fn advance(&mut self, until: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        debug_assert!(
            !self.is_ahead(),
            "partitions that go ahead do so in `ahead`"
        );
        let Some(Behind {
            partitions, far, ..
        }) = self.behind.as_deref_mut()
        else {
            return;
        };
        loop {
            let next = partitions.next().min(self.requests.next);
            let cycle = next.max(self.now);
            if cycle >= until {
                break;
            }
            let far = far.as_mut();
            partitions.cycle(cycle, until, far, &mut self.inboxes, perform_atomic);
            if self.requests.next <= cycle {
                let requests = &mut self.requests;
                requests.cycle(cycle, &self.clocks, |counters| Arrivals {
                    partitions,
                    counters,
                });
            }
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(until);
    }
}
