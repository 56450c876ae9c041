//! Letting time pass: which core cycles are looked at, and the order of the parts within one.

use super::MemorySystem;
use crate::memory::clock::Clock;
use crate::memory::inflight::InflightTable;
use crate::memory::l2::REPLY_CYCLES;
use crate::memory::l2::{Slice, Surroundings};
use crate::memory::network::crossbar::Sink;
use crate::memory::stats::MemoryStats;
use crate::memory::wake::WakeList;
use crate::time::{Cycle, Tick};

/// The partitions' side of the request network.
struct Arrivals<'a> {
    slices: &'a mut [Slice],
    next: &'a mut WakeList,
    inflight: &'a InflightTable,
    network: &'a Clock,
    stats: &'a mut MemoryStats,
}

impl Sink<u32> for Arrivals<'_> {
    fn has_room(&self, slice: usize) -> bool {
        self.slices[slice].has_room()
    }

    fn deliver(&mut self, slice: usize, tick: Tick, flits: u32, index: u32) {
        self.stats.requests.packets += 1;
        self.stats.requests.flits += u64::from(flits);
        let entry = self.inflight.get(index);
        let ready = self.slices[slice].arrive(self.network.cycle_of(tick), index, flits, entry);
        self.next.lower(slice, ready);
    }
}

impl MemorySystem {
    /// Simulates all core cycles before `until`. `perform_atomic(sm, token)` is called for
    /// every atomic that an L2 slice serves, in that order.
    pub fn advance(&mut self, until: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        loop {
            let cycle = self.next.smallest().max(self.now);
            if cycle >= until {
                break;
            }
            self.cycle(cycle, perform_atomic);
            self.last_active = cycle;
            self.now = cycle + 1;
        }
        self.now = self.now.max(until);
        self.refresh_stats();
    }

    fn cycle(&mut self, cycle: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        if self.next.replies <= cycle {
            for tick in self.network.ticks_of(cycle) {
                if self.replies.next() <= tick {
                    self.replies.step(tick, &mut self.inboxes);
                }
            }
        }
        self.run_channels(cycle);
        self.run_slices(cycle, perform_atomic);
        self.next.replies = self.network.cycle_of(self.replies.next());
        if self.next.requests <= cycle {
            self.run_requests(cycle);
        }
    }

    #[inline(never)]
    fn run_channels(&mut self, cycle: Cycle) {
        if self.next.channels.next() > cycle {
            return;
        }
        let end = self.dram.first_tick(cycle + 1);
        let (channels, slices) = (&mut self.channels, &mut self.slices);
        let (stats, slice_next) = (&mut self.stats.dram, &mut self.next.slices);
        self.next.channels.run(cycle, |number| {
            let first = number * self.slices_per_channel;
            let channel = &mut channels[number];
            channel.run(cycle, end, stats, &mut |slice, local| {
                slices[first + slice].fill(local);
                slice_next.lower(first + slice, cycle);
            });
            channel.next()
        });
    }

    #[inline(never)]
    fn run_slices(&mut self, cycle: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        if self.next.slices.next() > cycle {
            return;
        }
        let ticks = self.l2.ticks_of(cycle);
        let next_tick_cycle = self.l2.cycle_of(self.l2.first_tick(cycle + 1));
        let reply_tick = self.network.first_tick(cycle + REPLY_CYCLES);
        let mut around = Surroundings {
            inflight: &mut self.inflight,
            replies: &mut self.replies,
            reply_tick,
            lockstep: self.network.same_as_core() && self.l2.same_as_core(),
            channels: &mut self.channels,
            channels_next: &mut self.next.channels,
            dram_tick: self.dram.first_tick(cycle + 1),
            dram: self.dram,
            stats: &mut self.stats,
            perform_atomic,
            packets: &self.packets,
        };
        let slices = &mut self.slices;
        self.next.slices.run(cycle, |number| {
            let mut next = cycle + 1;
            for _ in ticks.clone() {
                next = slices[number].step(cycle, &mut around);
            }
            next.max(next_tick_cycle)
        });
    }

    fn run_requests(&mut self, cycle: Cycle) {
        let mut arrivals = Arrivals {
            slices: &mut self.slices,
            next: &mut self.next.slices,
            inflight: &self.inflight,
            network: &self.network,
            stats: &mut self.stats,
        };
        for tick in self.network.ticks_of(cycle) {
            if self.requests.next() <= tick {
                self.requests.step(tick, &mut arrivals);
            }
        }
        self.next.requests = self.network.cycle_of(self.requests.next());
    }

    fn refresh_stats(&mut self) {
        let clocks = self.dram.first_tick(self.now).get();
        self.stats.dram.total_clocks = clocks * self.channels.len() as u64;
        self.stats.requests.full_stalls = self.requests.blocked();
        self.stats.replies.full_stalls = self.replies.blocked();
        self.stats.replies.packets = self.inboxes.packets;
        self.stats.replies.flits = self.inboxes.flits;
    }
}
