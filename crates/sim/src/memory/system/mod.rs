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
mod ahead;
mod behind;
mod far_sides;
mod gates;
mod letters;
mod mail;
mod outgoing;
mod partitions;

use crate::config::Machine;
use crate::memory::address_map::AddressMap;
use crate::memory::clock::Clock;
use crate::memory::inflight::Sent;
use crate::memory::l2::Slice;
use crate::memory::network::INJECTION_CYCLES;
use crate::memory::network::crossbar::{Backlog, Crossbar, Shape};
use crate::memory::network::inbox::{Inbox, Inboxes};
use crate::memory::packet::{PacketSize, Reply, Request};
use crate::memory::stats::MemoryStats;
use crate::memory::wake::WakeList;
use crate::replacement::Replacement;
use crate::time::{Cycle, Tick};
use advance::Requests;
use ahead::Front;
pub use ahead::{AheadOfPartitions, AheadOfSms, lead, lookahead, period};
use behind::Behind;
use far_sides::FarSides;
use partitions::{Clocks, Partitions};

/// Interconnect, L2 and DRAM.
pub struct MemorySystem {
    map: AddressMap,
    line: u64,
    l2_bytes: u64,
    sms: usize,
    /// Bytes of an L2 sector, as a power of two.
    sector_shift: u32,
    channels: u64,
    clocks: Clocks,
    packets: PacketSize,
    requests: Requests,
    inboxes: Inboxes,
    /// What lies behind the network, unless another thread runs it.
    behind: Option<Box<Behind>>,
    /// Where the partitions go ahead: what stays with the SMs.
    front: Option<Box<Front>>,
    /// Core cycles before this one have been simulated, partitions that are ahead aside.
    now: Cycle,
    last_active: Cycle,
}

impl MemorySystem {
    /// The memory system of a machine that has been validated, empty.
    pub fn new(machine: &Machine) -> MemorySystem {
        let (gpu, net, l2) = (&machine.gpu, &machine.interconnect, &machine.l2);
        let map = AddressMap::new(machine);
        let (sms, slices) = (gpu.sms as usize, map.slices());
        let [network, l2_clock, dram] =
            [gpu.interconnect_mhz, gpu.l2_mhz, gpu.dram_mhz].map(|m| Clock::new(m, gpu.core_mhz));
        let clocks = Clocks {
            network,
            l2: l2_clock,
            dram: match machine.dram.after_core {
                true => dram.at_the_end_of_cycles(),
                false => dram,
            },
        };
        let far = FarSides::new(machine, clocks.dram);
        let partitions = Partitions::new(machine, map, clocks, &far);
        MemorySystem {
            map,
            line: u64::from(l2.line),
            l2_bytes: u64::from(l2.sets) * u64::from(l2.ways) * u64::from(l2.line) * slices as u64,
            sms,
            sector_shift: l2.sector.max(1).ilog2(),
            channels: partitions.channels.len() as u64,
            clocks,
            packets: partitions.packets,
            requests: Requests::new(Crossbar::new(sms, slices, Shape::from_sms(net))),
            inboxes: Inboxes::new(
                sms,
                net.reply_queue as usize,
                net.output_buffer as usize,
                network,
            ),
            behind: Some(Box::new(Behind {
                partitions,
                letters: far.empty_letters(),
                far: Some(far),
                ahead: None,
            })),
            front: None,
            now: Cycle::ZERO,
            last_active: Cycle::ZERO,
        }
    }

    /// What of the SM's packets is still on the SM's side as it begins to run: within a cycle the
    /// network steps before the SMs do.
    #[inline]
    pub fn injection_backlog(&self, sm: usize) -> Backlog {
        self.requests.network.backlog(sm, self.injection_tick())
    }

    /// Flits free in the SM's injection queue.
    pub fn injection_free(&self, sm: usize) -> u32 {
        self.requests.network.free(sm, self.injection_tick())
    }

    /// Whether the SM's injection queue has room for so many flits, or something in it moves up.
    #[inline]
    pub fn has_room_soon(&self, sm: usize, flits: u32) -> bool {
        self.injection_backlog(sm).moving > 0 || self.injection_free(sm) >= flits
    }

    /// The network's tick as SMs begin to run.
    #[inline]
    fn injection_tick(&self) -> Tick {
        let network = &self.clocks.network;
        network.first_tick(self.now + INJECTION_CYCLES)
    }

    /// Flits of a request's packet: writes and atomics carry their data.
    pub fn flits(&self, request: &Request) -> u32 {
        let data = match request.kind.carries_data() {
            true => request.bytes,
            false => 0,
        };
        self.packets.flits(data)
    }

    /// Injects a request in core cycle `cycle`, which has not been simulated yet. The SM has
    /// checked that it fits; for each SM, cycles never decrease.
    pub fn push(&mut self, cycle: Cycle, request: Request) {
        let at = self.map.locate(request.addr);
        let flits = self.flits(&request);
        let sent = Sent::new(&request, at.local, self.sector_shift);
        let clock = &self.clocks.network;
        let tick = clock.first_tick(cycle + INJECTION_CYCLES);
        let (sm, slice) = (usize::from(request.sm), at.slice as usize);
        let requests = &mut self.requests;
        requests.network.push(sm, tick, slice, flits, sent);
        requests.next = clock.cycle_of(requests.network.next());
    }

    /// The periods of the clocks inside, in core cycles: after a multiple of all of them, all are
    /// in phase with the core clock again.
    pub fn clock_periods(&self) -> [u64; 3] {
        let Clocks { network, l2, dram } = self.clocks;
        [network, l2, dram].map(|clock| clock.period())
    }

    /// The last core cycle in which anything happened inside.
    pub fn idle_since(&self) -> Cycle {
        let partitions = self.settled().map(|(_, last_active, ..)| last_active);
        self.last_active.max(partitions.unwrap_or(Cycle::ZERO))
    }

    /// The SM's next reply, if it has arrived by core cycle `now`.
    pub fn peek_reply(&mut self, sm: usize, now: Cycle) -> Option<Reply> {
        let inbox = self.inboxes.of(sm);
        inbox.gather();
        let front = inbox.front();
        front.filter(|&(at, _)| at <= now).map(|(_, reply)| reply)
    }

    /// Takes the SM's next reply, if it has arrived by core cycle `now`. Its place in the
    /// SM's reply queue is free from the next [`MemorySystem::advance`] on.
    pub fn pop_reply(&mut self, sm: usize, now: Cycle) -> Option<Reply> {
        self.peek_reply(sm, now)?;
        let reply = self.inboxes.of(sm).pop();
        self.look_into_inbox(sm);
        reply
    }

    /// The inbox of an SM that is about to run: to be shown before, and followed by
    /// [`close_inbox`](MemorySystem::close_inbox). The places of replies that it is shown are free from
    /// the next [`MemorySystem::advance`] on.
    #[inline]
    pub fn inbox(&mut self, sm: usize) -> &mut Inbox {
        self.inboxes.of(sm)
    }

    /// The SM has run and taken some of its replies: the rest arrives from cycle `next` on.
    #[inline]
    pub fn close_inbox(&mut self, sm: usize, next: Cycle) {
        self.inboxes.taken(sm, next);
    }

    /// Closes the inbox of an SM that has not run, or does not say what is left.
    pub fn look_into_inbox(&mut self, sm: usize) {
        let next = self.inboxes.of(sm).next();
        self.close_inbox(sm, next);
    }

    /// The core cycle in which the SM's next known reply arrives. More may be on their way;
    /// see [`MemorySystem::next`].
    #[inline]
    pub fn next_reply_for(&self, sm: usize) -> Cycle {
        self.inboxes.next_for(sm)
    }

    /// When the next known reply of every SM arrives. Those that are taken from this list are known again with
    /// [`close_inbox`](MemorySystem::close_inbox).
    #[inline]
    pub(crate) fn next_replies(&mut self) -> &mut WakeList {
        self.inboxes.next_for_each()
    }

    /// The core cycle in which the first known reply to any SM arrives.
    pub fn next_reply(&self) -> Cycle {
        self.inboxes.next()
    }

    /// The earliest core cycle in which anything can happen inside.
    pub fn next(&self) -> Cycle {
        let partitions = match self.settled() {
            Some((next, ..)) => next,
            None => self.behind().partitions.next(),
        };
        partitions.min(self.requests.next).max(self.now)
    }

    /// Everything has drained, replies and write-backs included.
    pub fn idle(&self) -> bool {
        let is_idle = |behind: &Behind| {
            let ahead = behind.ahead.as_ref();
            behind.partitions.is_idle() && ahead.is_none_or(|ahead| ahead.outgoing.is_empty())
        };
        self.requests.network.is_empty()
            && self.inboxes.is_empty()
            && self.settled().is_none_or(|(_, _, idle, _)| idle)
            && self.behind.as_deref().is_none_or(is_idle)
    }

    /// What lies behind the network, which no other thread runs.
    fn behind(&self) -> &Behind {
        let behind = self.behind.as_deref();
        behind.expect("partitions that were set off are taken back before they are asked for")
    }

    fn behind_mut(&mut self) -> &mut Behind {
        let behind = self.behind.as_deref_mut();
        behind.expect("partitions that were set off are taken back before they are changed")
    }

    /// Nothing happens before cycle `now`.
    pub fn skip_to(&mut self, now: Cycle) {
        debug_assert!(self.next() >= now);
        self.now = self.now.max(now);
    }

    /// Nothing has happened since cycle `end`, nor is anything under way: the state is as if no later cycle had been
    /// simulated.
    pub fn back_to(&mut self, end: Cycle) {
        debug_assert!(self.idle() && self.idle_since() < end);
        self.now = end;
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
            let slice = &mut self.behind_mut().partitions.slices[place.slice as usize];
            slice.install(place.local, next.min(end) - at);
            at = next;
        }
    }

    /// Puts a replacement policy in place of the configured one in all slices of L2, before anything is in them.
    pub fn replace_policy(&mut self, make: &dyn Fn(usize, usize) -> Box<dyn Replacement>) {
        let slices = &mut self.behind_mut().partitions.slices;
        slices
            .iter_mut()
            .for_each(|slice| slice.replace_policy(make));
    }

    /// Forgets all of L2.
    pub fn invalidate_l2(&mut self) {
        let slices = &mut self.behind_mut().partitions.slices;
        slices.iter_mut().for_each(Slice::invalidate);
    }

    /// Counters so far.
    pub fn stats(&self) -> MemoryStats {
        let mut stats = match self.settled() {
            Some((.., counted)) => counted.clone(),
            None => {
                let mut stats = MemoryStats::default();
                self.behind().partitions.count(self.now, &mut stats);
                stats.replies.packets = self.inboxes.packets;
                stats.replies.flits = self.inboxes.flits;
                stats
            }
        };
        let clocks = self.clocks.dram.first_tick(self.now).get();
        stats.dram.total_clocks = clocks * self.channels;
        stats.requests = self.requests.counted();
        stats
    }

    /// What is waiting where, one line for each part that is not empty.
    pub fn describe_pending(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let Behind {
            partitions, far, ..
        } = self.behind();
        let gates = self.front.as_deref().map(|front| &front.gates);
        let sent: usize = (0..self.sms)
            .map(|sm| self.requests.network.queued(sm))
            .sum();
        let arrived = gates.map_or(0, |gates| gates.waiting() + gates.mail.len());
        let left = sent + arrived + partitions.inflight.len();
        if left > 0 {
            lines.push(format!("{left} requests not answered"));
        }
        for sm in 0..self.sms {
            let waiting = self.requests.network.queued(sm);
            let replies = self.inboxes.len(sm);
            if waiting + replies > 0 {
                lines.push(format!(
                    "SM {sm}: {waiting} requests to inject, {replies} replies to take"
                ));
            }
        }
        for (number, slice) in partitions.slices.iter().enumerate() {
            let replies = partitions.replies.queued(number);
            let outside = gates.map_or(0, |gates| gates.waiting_at(number));
            if !slice.is_empty() || replies + outside > 0 {
                lines.push(format!(
                    "L2 slice {number}: {}, {replies} replies to send",
                    slice.describe(outside)
                ));
            }
        }
        for (number, channel) in partitions.channels.iter().enumerate() {
            if !channel.is_empty() {
                let far = far.as_ref().and_then(|far| far.describe(number));
                let parts: Vec<String> = [Some(channel.describe()), far]
                    .into_iter()
                    .flatten()
                    .collect();
                lines.push(format!("DRAM channel {number}: {}", parts.join(", ")));
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
