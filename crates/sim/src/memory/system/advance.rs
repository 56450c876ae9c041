//! Letting time pass: which core cycles are looked at, and the order of the parts within one.

use super::MemorySystem;
use super::partitions::Partitions;
use crate::memory::network::crossbar::{Crossbar, Sink};
use crate::memory::stats::NetworkCounters;
use crate::time::{Cycle, Tick};

/// The network to the partitions.
pub(super) struct Requests {
    pub network: Crossbar<u32>,
    /// The core cycle in which something can happen in it.
    pub next: Cycle,
    counters: NetworkCounters,
}

/// The partitions' side of it, in a core cycle that ends before L2's tick `end`. Partitions that
/// have come further remember what room they had by then.
struct Arrivals<'a> {
    partitions: &'a mut Partitions,
    counters: &'a mut NetworkCounters,
    end: Tick,
    arrived: Arrived,
}

/// What has arrived in a core cycle.
pub(super) struct Arrived {
    /// The first core cycle in which a slice has something to do with any of it.
    pub ready: Cycle,
    /// Requests without room in their slice.
    pub waiting: u32,
}

impl Sink<u32> for Arrivals<'_> {
    fn has_room(&self, slice: usize) -> bool {
        self.partitions.slices[slice].has_room()
    }

    fn waiting(&self, slice: usize) -> u32 {
        self.partitions.slices[slice].waiting()
    }

    #[inline(always)]
    fn deliver(&mut self, slice: usize, tick: Tick, flits: u32, index: u32) {
        self.counters.packets += 1;
        self.counters.flits += u64::from(flits);
        let partitions = &mut *self.partitions;
        let entry = partitions.inflight.get(index);
        let arrived = partitions.clocks.network.cycle_of(tick);
        let ready = partitions.slices[slice].arrive(arrived, self.end, index, flits, entry);
        if ready == Cycle::NEVER {
            self.arrived.waiting += 1;
            partitions.entrances.lower(slice, arrived);
            return;
        }
        partitions.wake_slice(slice, ready);
        self.arrived.ready = self.arrived.ready.min(ready);
    }
}

impl Requests {
    pub fn new(network: Crossbar<u32>) -> Requests {
        Requests {
            network,
            next: Cycle::NEVER,
            counters: NetworkCounters::default(),
        }
    }

    /// Simulates a core cycle, behind the partitions'.
    pub fn cycle(&mut self, cycle: Cycle, partitions: &mut Partitions) -> Arrived {
        let clocks = partitions.clocks;
        let mut arrivals = Arrivals {
            partitions,
            counters: &mut self.counters,
            end: clocks.l2.first_tick(cycle + 1),
            arrived: Arrived {
                ready: Cycle::NEVER,
                waiting: 0,
            },
        };
        for tick in clocks.network.ticks_of(cycle) {
            if self.network.next() <= tick {
                self.network.step(tick, &mut arrivals);
            }
        }
        let arrived = arrivals.arrived;
        self.next = clocks.network.cycle_of(self.network.next());
        arrived
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
            self.ahead.is_none(),
            "partitions that go ahead do so in `ahead`"
        );
        loop {
            let next = self.partitions.next().min(self.requests.next);
            let cycle = next.max(self.now);
            if cycle >= until {
                break;
            }
            let partitions = &mut self.partitions;
            let far = Some(&mut self.far_sides);
            partitions.cycle(cycle, until, far, &mut self.inboxes, perform_atomic);
            if self.requests.next <= cycle {
                self.requests.cycle(cycle, partitions);
            }
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(until);
    }
}
