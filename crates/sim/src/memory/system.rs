//! The memory system as the rest of the GPU sees it: requests in, replies out, time given in
//! core cycles.
//!
//! Every part says in which core cycle it has something to do next (`wake`); a cycle in which
//! none has is not looked at. Within a cycle the order is fixed: replies into the network,
//! DRAM, L2 slices, requests through the network. Requests injected in cycle s take part from
//! s + 1 on, and nothing reaches the other side in less than the network's latency, so SMs and
//! memory can take turns in quanta up to that long without seeing a difference.

use super::address_map::AddressMap;
use super::channel::Channel;
use super::clock::Clock;
use super::inbox::{Inbox, Inboxes};
use super::inflight::InflightTable;
use super::interconnect::{Crossbar, Sink};
use super::l2::{REPLY_CYCLES, Slice, Surroundings};
use super::packet::{LARGEST_REQUEST, PacketSize, Reply, Request, RequestKind};
use super::stats::MemoryStats;
use super::wake::WakeList;
use crate::config::Machine;

/// Core cycles from an SM's injection to the packet's first network tick: in a cycle the
/// network steps before the SMs run.
pub const INJECTION_CYCLES: u64 = 1;

/// Core cycles from a packet's last network tick to its SM: in a cycle SMs look for packets
/// before the network steps.
pub const DELIVERY_CYCLES: u64 = 1;

/// Interconnect, L2 and DRAM.
pub struct MemorySystem {
    map: AddressMap,
    network: Clock,
    l2: Clock,
    dram: Clock,
    line: u64,
    l2_bytes: u64,
    slices_per_channel: usize,
    /// Sectors of the largest request.
    largest_pieces: usize,
    packets: PacketSize,
    requests: Crossbar<u32>,
    replies: Crossbar<Reply>,
    inflight: InflightTable,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    sms: usize,
    inboxes: Inboxes,
    wake: Wake,
    /// Core cycles before this one have been simulated.
    now: u64,
    last_active: u64,
    stats: MemoryStats,
}

/// The core cycle in which each part has something to do next.
struct Wake {
    replies: u64,
    requests: u64,
    channels: WakeList,
    slices: WakeList,
}

impl Wake {
    fn earliest(&self) -> u64 {
        let network = self.replies.min(self.requests);
        network
            .min(self.channels.earliest())
            .min(self.slices.earliest())
    }
}

/// The partitions' side of the request network.
struct Arrivals<'a> {
    slices: &'a mut [Slice],
    wake: &'a mut WakeList,
    inflight: &'a InflightTable,
    network: &'a Clock,
    largest: usize,
    stats: &'a mut MemoryStats,
}

impl Sink<u32> for Arrivals<'_> {
    fn has_room(&self, slice: usize) -> bool {
        self.slices[slice].has_room(self.largest)
    }

    fn deliver(&mut self, slice: usize, tick: u64, flits: u32, index: u32) {
        self.stats.requests.packets += 1;
        self.stats.requests.flits += u64::from(flits);
        let entry = self.inflight.get(index);
        let ready = self.slices[slice].arrive(self.network.cycle_of(tick), index, entry);
        self.wake.by(slice, ready);
    }
}

impl MemorySystem {
    /// The memory system of a machine that has been validated, empty.
    pub fn new(machine: &Machine) -> MemorySystem {
        let (gpu, net, l2) = (&machine.gpu, &machine.interconnect, &machine.l2);
        let map = AddressMap::new(machine);
        let (sms, slices) = (gpu.sms as usize, map.slices());
        let slices_per_channel = l2.slices_per_channel.max(1) as usize;
        let [network, l2_clock, dram] =
            [gpu.interconnect_mhz, gpu.l2_mhz, gpu.dram_mhz].map(|m| Clock::new(m, gpu.core_mhz));
        let largest_data = if net.sectored_replies {
            l2.sector.max(32)
        } else {
            LARGEST_REQUEST
        };
        let packets = PacketSize::new(net.header, net.flit, largest_data);
        // A slice's reply queue and the network's injection queue behind it, as one.
        let reply_capacity = l2.queue * packets.largest_reply + net.injection_queue;
        MemorySystem {
            map,
            network,
            l2: l2_clock,
            dram,
            line: u64::from(l2.line),
            l2_bytes: u64::from(l2.sets) * u64::from(l2.ways) * u64::from(l2.line) * slices as u64,
            slices_per_channel,
            largest_pieces: (LARGEST_REQUEST / l2.sector.max(1)).max(1) as usize,
            packets,
            requests: Crossbar::new(sms, slices, net.latency, net.injection_queue),
            replies: Crossbar::new(slices, sms, net.latency, reply_capacity),
            inflight: InflightTable::new(l2.sector, net.sectored_replies),
            slices: (0..slices as u32)
                .map(|number| Slice::new(machine, map, number))
                .collect(),
            channels: (0..machine.dram.channels.max(1))
                .map(|_| Channel::new(&machine.dram, dram, slices_per_channel, l2.queue))
                .collect(),
            sms,
            inboxes: Inboxes::new(sms, net.reply_queue.max(1) as usize, network),
            wake: Wake {
                replies: u64::MAX,
                requests: u64::MAX,
                channels: WakeList::new(machine.dram.channels.max(1) as usize),
                slices: WakeList::new(slices),
            },
            now: 0,
            last_active: 0,
            stats: MemoryStats::default(),
        }
    }

    /// Flits free in the SM's injection queue.
    pub fn injection_free(&self, sm: usize) -> u32 {
        self.requests.free(sm)
    }

    /// Flits of a request's packet: writes and atomics carry their data.
    pub fn flits(&self, request: &Request) -> u32 {
        let data = match request.kind {
            RequestKind::Read => 0,
            _ => request.bytes,
        };
        self.packets.flits(data)
    }

    /// Injects a request in core cycle `cycle`, which has not been simulated yet. The SM has
    /// checked that it fits; for each SM, cycles never decrease.
    pub fn push(&mut self, cycle: u64, request: Request) {
        let at = self.map.locate(request.addr);
        let flits = self.flits(&request);
        let index = self.inflight.insert(request, at.local);
        let tick = self.network.first_tick(cycle + INJECTION_CYCLES);
        let (sm, slice) = (usize::from(request.sm), at.slice as usize);
        self.requests.push(sm, tick, slice, flits, index);
        self.wake.requests = self.network.cycle_of(self.requests.next());
    }

    /// Simulates all core cycles before `until`. `perform_atomic(sm, token)` is called for
    /// every atomic that an L2 slice serves, in that order.
    pub fn advance(&mut self, until: u64, perform_atomic: &mut dyn FnMut(u16, u32)) {
        loop {
            let cycle = self.wake.earliest().max(self.now);
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

    fn cycle(&mut self, cycle: u64, perform_atomic: &mut dyn FnMut(u16, u32)) {
        if self.wake.replies <= cycle {
            let ticks = self.network.first_tick(cycle)..self.network.first_tick(cycle + 1);
            for tick in ticks {
                if self.replies.next() <= tick {
                    self.replies.step(tick, &mut self.inboxes);
                }
            }
        }
        self.run_channels(cycle);
        self.run_slices(cycle, perform_atomic);
        self.wake.replies = self.network.cycle_of(self.replies.next());
        if self.wake.requests <= cycle {
            self.run_requests(cycle);
        }
    }

    #[inline(never)]
    fn run_channels(&mut self, cycle: u64) {
        if self.wake.channels.earliest() > cycle {
            return;
        }
        let end = self.dram.first_tick(cycle + 1);
        let (channels, slices) = (&mut self.channels, &mut self.slices);
        let (stats, slice_wakes) = (&mut self.stats.dram, &mut self.wake.slices);
        self.wake.channels.run(cycle, |number| {
            let first = number * self.slices_per_channel;
            let channel = &mut channels[number];
            channel.run(cycle, end, stats, &mut |slice, local| {
                slices[first + slice].fill(local);
                slice_wakes.by(first + slice, cycle);
            });
            channel.next_cycle()
        });
    }

    #[inline(never)]
    fn run_slices(&mut self, cycle: u64, perform_atomic: &mut dyn FnMut(u16, u32)) {
        if self.wake.slices.earliest() > cycle {
            return;
        }
        let ticks = self.l2.first_tick(cycle)..self.l2.first_tick(cycle + 1);
        let next_tick_cycle = self.l2.cycle_of(ticks.end);
        let reply_tick = self.network.first_tick(cycle + REPLY_CYCLES);
        let mut around = Surroundings {
            inflight: &mut self.inflight,
            replies: &mut self.replies,
            reply_tick,
            lockstep: self.network.same_as_core() && self.l2.same_as_core(),
            channels: &mut self.channels,
            channel_wakes: &mut self.wake.channels,
            dram_tick: self.dram.first_tick(cycle + 1),
            dram: self.dram,
            stats: &mut self.stats,
            perform_atomic,
            packets: &self.packets,
        };
        let slices = &mut self.slices;
        self.wake.slices.run(cycle, |number| {
            let mut next = cycle + 1;
            for _ in ticks.clone() {
                next = slices[number].step(cycle, &mut around);
            }
            next.max(next_tick_cycle)
        });
    }

    fn run_requests(&mut self, cycle: u64) {
        let ticks = self.network.first_tick(cycle)..self.network.first_tick(cycle + 1);
        let mut arrivals = Arrivals {
            slices: &mut self.slices,
            wake: &mut self.wake.slices,
            inflight: &self.inflight,
            network: &self.network,
            largest: self.largest_pieces,
            stats: &mut self.stats,
        };
        for tick in ticks {
            if self.requests.next() <= tick {
                self.requests.step(tick, &mut arrivals);
            }
        }
        self.wake.requests = self.network.cycle_of(self.requests.next());
    }

    fn refresh_stats(&mut self) {
        let clocks = self.dram.first_tick(self.now);
        self.stats.dram.total_clocks = clocks * self.channels.len() as u64;
        self.stats.requests.full_stalls = self.requests.blocked();
        self.stats.replies.full_stalls = self.replies.blocked();
        self.stats.replies.packets = self.inboxes.packets;
        self.stats.replies.flits = self.inboxes.flits;
    }

    /// The last core cycle in which anything happened inside.
    pub fn idle_since(&self) -> u64 {
        self.last_active
    }

    /// The SM's next reply, if it has arrived by core cycle `now`.
    pub fn peek_reply(&mut self, sm: usize, now: u64) -> Option<Reply> {
        let front = self.inboxes.of(sm).front();
        front.filter(|&(at, _)| at <= now).map(|(_, reply)| reply)
    }

    /// Takes the SM's next reply, if it has arrived by core cycle `now`. Its place in the
    /// SM's reply queue is free from the next [`MemorySystem::advance`] on.
    pub fn pop_reply(&mut self, sm: usize, now: u64) -> Option<Reply> {
        self.peek_reply(sm, now)?;
        let reply = self.inboxes.of(sm).pop();
        self.inboxes.taken(sm);
        reply
    }

    /// The replies that the SM sees while it runs up to core cycle `end`. Their places are free
    /// from the next [`MemorySystem::advance`] on. To be followed by
    /// [`close_inbox`](MemorySystem::close_inbox).
    #[inline]
    pub fn open_inbox(&mut self, sm: usize, end: u64) -> &mut Inbox {
        let inbox = self.inboxes.of(sm);
        inbox.show(end);
        inbox
    }

    /// The SM has run and taken what it took.
    #[inline]
    pub fn close_inbox(&mut self, sm: usize) {
        self.inboxes.taken(sm);
    }

    /// The core cycle in which the SM's next known reply arrives, `u64::MAX` without one.
    #[inline]
    pub fn reply_at(&self, sm: usize) -> u64 {
        self.inboxes.next(sm)
    }

    /// The core cycle in which the first known reply to any SM arrives, `u64::MAX` without one.
    pub fn first_reply_at(&self) -> u64 {
        self.inboxes.earliest()
    }

    /// The core cycle in which the SM's next known reply arrives. More may be on their way;
    /// see [`MemorySystem::next_event`].
    pub fn next_reply(&self, sm: usize) -> Option<u64> {
        Some(self.reply_at(sm)).filter(|&at| at != u64::MAX)
    }

    /// The earliest core cycle in which anything can happen inside.
    pub fn next_event(&self) -> Option<u64> {
        match self.wake.earliest() {
            u64::MAX => None,
            cycle => Some(cycle.max(self.now)),
        }
    }

    /// Everything has drained, replies and write-backs included.
    pub fn idle(&self) -> bool {
        self.inflight.is_empty()
            && self.inboxes.is_empty()
            && self.requests.is_empty()
            && self.replies.is_empty()
            && self.slices.iter().all(Slice::is_empty)
            && self.channels.iter().all(Channel::is_empty)
    }

    /// A copy from the host leaves its sectors valid in L2, least recently used lines making
    /// room; of a copy larger than the L2 the later bytes remain.
    pub fn warm_l2(&mut self, addr: u64, bytes: u64) {
        let end = addr.saturating_add(bytes);
        // What lies further back than several times the capacity cannot survive.
        let start = addr.max(end.saturating_sub(self.l2_bytes * 4));
        let mut at = start;
        while at < end {
            let next = (at / self.line + 1) * self.line;
            let place = self.map.locate(at);
            self.slices[place.slice as usize].install(place.local, next.min(end) - at);
            at = next;
        }
    }

    /// Forgets all of L2.
    pub fn invalidate_l2(&mut self) {
        self.slices.iter_mut().for_each(Slice::invalidate);
    }

    /// Counters so far.
    pub fn stats(&self) -> &MemoryStats {
        &self.stats
    }

    /// What is waiting where, a line for each part that is not empty.
    pub fn describe_pending(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.inflight.is_empty() {
            lines.push(format!("{} requests not answered", self.inflight.len()));
        }
        for sm in 0..self.sms {
            let (waiting, replies) = (self.requests.queued(sm), self.inboxes.len(sm));
            if waiting + replies > 0 {
                lines.push(format!(
                    "SM {sm}: {waiting} requests to inject, {replies} replies to take"
                ));
            }
        }
        for (number, slice) in self.slices.iter().enumerate() {
            let replies = self.replies.queued(number);
            if !slice.is_empty() || replies > 0 {
                lines.push(format!(
                    "L2 slice {number}: {}, {replies} replies to send",
                    slice.describe()
                ));
            }
        }
        for (number, channel) in self.channels.iter().enumerate() {
            if !channel.is_empty() {
                lines.push(format!("DRAM channel {number}: {}", channel.describe()));
            }
        }
        lines
    }
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "system_properties.rs"]
mod properties;

#[cfg(test)]
#[path = "system_traffic.rs"]
mod traffic;
