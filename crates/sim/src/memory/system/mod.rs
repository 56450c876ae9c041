//! The memory system as the rest of the GPU sees it: requests in, replies out, time given in
//! core cycles.
//!
//! Every part says in which core cycle it has something to do next, by the
//! [wake contract](crate::time); a cycle in which none has is not looked at. Within a cycle the
//! order is fixed: replies into the network, DRAM, L2 slices, requests through the network.
//! Requests injected in cycle s take part from s + 1 on, and nothing reaches the other side in
//! less than the network's latency, so SMs and memory can take turns in quanta up to that long
//! without seeing a difference.

mod advance;

use crate::config::Machine;
use crate::memory::address_map::AddressMap;
use crate::memory::clock::Clock;
use crate::memory::dram::channel::Channel;
use crate::memory::inflight::InflightTable;
use crate::memory::l2::Slice;
use crate::memory::network::INJECTION_CYCLES;
use crate::memory::network::crossbar::{Backlog, Crossbar, Shape};
use crate::memory::network::inbox::{Inbox, Inboxes};
use crate::memory::packet::{LARGEST_REQUEST, PacketSize, Reply, Request, RequestKind};
use crate::memory::stats::MemoryStats;
use crate::memory::wake::WakeList;
use crate::time::Cycle;

/// Interconnect, L2 and DRAM.
pub struct MemorySystem {
    map: AddressMap,
    network: Clock,
    l2: Clock,
    dram: Clock,
    line: u64,
    l2_bytes: u64,
    slices_per_channel: usize,
    packets: PacketSize,
    requests: Crossbar<u32>,
    replies: Crossbar<Reply>,
    inflight: InflightTable,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    sms: usize,
    inboxes: Inboxes,
    next: Next,
    /// Core cycles before this one have been simulated.
    now: Cycle,
    last_active: Cycle,
    stats: MemoryStats,
}

/// The core cycle in which each part has something to do next.
struct Next {
    replies: Cycle,
    requests: Cycle,
    channels: WakeList,
    slices: WakeList,
}

impl Next {
    fn smallest(&self) -> Cycle {
        let network = self.replies.min(self.requests);
        network.min(self.channels.next()).min(self.slices.next())
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
        let dram = match machine.dram.after_core {
            true => dram.at_the_end_of_cycles(),
            false => dram,
        };
        let largest_data = if net.sectored_replies {
            l2.sector.max(32)
        } else {
            LARGEST_REQUEST
        };
        let packets = PacketSize::new(net.header, net.flit, largest_data);
        let shape = Shape {
            latency: net.latency,
            injection_queue: net.injection_queue,
            input_buffer: net.input_buffer,
            output_buffer: net.output_buffer,
            speedup: net.speedup,
        };
        // A slice's reply queue and the network's injection queue behind it, as one.
        let replies = Shape {
            injection_queue: l2.queue * packets.largest_reply + net.injection_queue,
            ..shape
        };
        MemorySystem {
            map,
            network,
            l2: l2_clock,
            dram,
            line: u64::from(l2.line),
            l2_bytes: u64::from(l2.sets) * u64::from(l2.ways) * u64::from(l2.line) * slices as u64,
            slices_per_channel,
            packets,
            requests: Crossbar::new(sms, slices, shape),
            replies: Crossbar::new(slices, sms, replies),
            inflight: InflightTable::new(l2.sector, net.sectored_replies),
            slices: (0..slices as u32)
                .map(|number| Slice::new(machine, map, number))
                .collect(),
            channels: (0..machine.dram.channels.max(1))
                .map(|_| Channel::new(&machine.dram, dram, slices_per_channel, l2.queue))
                .collect(),
            sms,
            inboxes: Inboxes::new(sms, (net.reply_queue + net.output_buffer) as usize, network),
            next: Next {
                replies: Cycle::NEVER,
                requests: Cycle::NEVER,
                channels: WakeList::new(machine.dram.channels.max(1) as usize),
                slices: WakeList::new(slices),
            },
            now: Cycle::ZERO,
            last_active: Cycle::ZERO,
            stats: MemoryStats::default(),
        }
    }

    /// What of the SM's packets is still on the SM's side as it begins to run: within a cycle the
    /// network steps before the SMs do.
    #[inline]
    pub fn injection_backlog(&self, sm: usize) -> Backlog {
        let now = self.network.first_tick(self.now + INJECTION_CYCLES);
        self.requests.backlog(sm, now)
    }

    /// Flits free in the SM's injection queue.
    pub fn injection_free(&self, sm: usize) -> u32 {
        let now = self.network.first_tick(self.now + INJECTION_CYCLES);
        self.requests.free(sm, now)
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
    pub fn push(&mut self, cycle: Cycle, request: Request) {
        let at = self.map.locate(request.addr);
        let flits = self.flits(&request);
        let index = self.inflight.insert(request, at.local);
        let tick = self.network.first_tick(cycle + INJECTION_CYCLES);
        let (sm, slice) = (usize::from(request.sm), at.slice as usize);
        self.requests.push(sm, tick, slice, flits, index);
        self.next.requests = self.network.cycle_of(self.requests.next());
    }

    /// The periods of the clocks inside, in core cycles: after a multiple of all of them, all are
    /// in phase with the core clock again.
    pub fn clock_periods(&self) -> [u64; 3] {
        [self.network, self.l2, self.dram].map(|clock| clock.period())
    }

    /// The last core cycle in which anything happened inside.
    pub fn idle_since(&self) -> Cycle {
        self.last_active
    }

    /// The SM's next reply, if it has arrived by core cycle `now`.
    pub fn peek_reply(&mut self, sm: usize, now: Cycle) -> Option<Reply> {
        let front = self.inboxes.of(sm).front();
        front.filter(|&(at, _)| at <= now).map(|(_, reply)| reply)
    }

    /// Takes the SM's next reply, if it has arrived by core cycle `now`. Its place in the
    /// SM's reply queue is free from the next [`MemorySystem::advance`] on.
    pub fn pop_reply(&mut self, sm: usize, now: Cycle) -> Option<Reply> {
        self.peek_reply(sm, now)?;
        let reply = self.inboxes.of(sm).pop();
        self.inboxes.taken(sm);
        reply
    }

    /// The replies that the SM sees while it runs up to core cycle `end`. Their places are free
    /// from the next [`MemorySystem::advance`] on. To be followed by
    /// [`close_inbox`](MemorySystem::close_inbox).
    #[inline]
    pub fn open_inbox(&mut self, sm: usize, end: Cycle) -> &mut Inbox {
        let inbox = self.inboxes.of(sm);
        inbox.show(end);
        inbox
    }

    /// The same for all SMs, in their order; each that runs is to be followed by
    /// [`close_inbox`](MemorySystem::close_inbox).
    pub fn open_inboxes(&mut self, end: Cycle) -> impl Iterator<Item = &mut Inbox> {
        self.inboxes.all_showing(end)
    }

    /// The SM has run and taken what it took.
    #[inline]
    pub fn close_inbox(&mut self, sm: usize) {
        self.inboxes.taken(sm);
    }

    /// The core cycle in which the SM's next known reply arrives. More may be on their way;
    /// see [`MemorySystem::next`].
    #[inline]
    pub fn next_reply_for(&self, sm: usize) -> Cycle {
        self.inboxes.next_for(sm)
    }

    /// The same for every SM.
    #[inline]
    pub fn next_replies(&self) -> &[Cycle] {
        self.inboxes.next_for_each()
    }

    /// The core cycle in which the first known reply to any SM arrives.
    pub fn next_reply(&self) -> Cycle {
        self.inboxes.next()
    }

    /// The earliest core cycle in which anything can happen inside.
    pub fn next(&self) -> Cycle {
        self.next.smallest().max(self.now)
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

    /// What is waiting where, one line for each part that is not empty.
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
#[path = "system_property_tests.rs"]
mod property_tests;

#[cfg(test)]
#[path = "system_traffic_tests.rs"]
mod traffic_tests;
