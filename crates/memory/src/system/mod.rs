//! The memory system as the rest of the GPU sees it: requests in, replies out, time given in
//! core cycles.
//!
//! ```text
//!  SMs ─ requests ─> request network, entrances ─ admitted ─> back end: L2 slices, DRAM, network to the SMs
//!   ^                                           <─ room ────      │
//!   └──────────────────────────── replies ────────────────────────┘
//! ```
//!
//! Every part says in which core cycle it has something to do next, by the
//! [wake contract](crate::time); a cycle in which none has is not looked at. Within a cycle the
//! order is fixed: replies into the network, DRAM, L2 slices, requests through the network.
//! Requests injected in cycle s take part from s + 1 on, and nothing reaches the other side in
//! less than the network's latency, so SMs and memory can take turns in quanta up to that long
//! without seeing a difference.
//!
//! [`RequestNetwork`] and [`Backend`] are components of the engine: the back end runs [ahead](backend) of the request network. Where a machine does not
//! allow that, both together are one component ([`MemorySystem`]), which runs them cycle by cycle. What [`Wires`] hold is the same in both cases.

mod backend;
mod deliveries;
mod entrances;
mod partitions;
mod replies;
mod requests;
mod wires;

use crate::address_map::AddressMap;
use crate::clock::Clock;
use crate::l2::Slice;
use crate::packet::Request;
use crate::replacement::Replacement;
use crate::stats::MemoryStats;
use crate::time::Cycle;
pub use backend::{Atomic, Backend, lead, lookahead, period};
use partitions::Clocks;
pub use replies::Replies;
pub use requests::RequestNetwork;
use std::sync::Arc;
use warpsim_engine::{Component, Ran};
use warpsim_machine::Machine;
pub use wires::{SmWires, Wires};

/// Interconnect, L2 and DRAM.
pub struct MemorySystem {
    map: AddressMap,
    line: u64,
    l2_bytes: u64,
    channels: u64,
    clocks: Clocks,
    requests: RequestNetwork,
    backend: Backend,
    wires: Arc<Wires>,
}

impl MemorySystem {
    /// The memory system of a machine that has been validated, empty.
    pub fn new(machine: &Machine) -> MemorySystem {
        let (gpu, l2) = (&machine.gpu, &machine.l2);
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
        let wires = Arc::new(Wires::new(sms));
        let backend = Backend::new(machine, map, clocks, &wires);
        let partitions = &backend.partitions;
        MemorySystem {
            map,
            line: u64::from(l2.line),
            l2_bytes: u64::from(l2.sets) * u64::from(l2.ways) * u64::from(l2.line) * slices as u64,
            channels: partitions.channels.len() as u64,
            clocks,
            requests: RequestNetwork::new(
                machine,
                map,
                [network, l2_clock],
                partitions.packets,
                &wires,
            ),
            backend,
            wires,
        }
    }

    /// The links to and from the SMs.
    pub fn wires(&self) -> &Arc<Wires> {
        &self.wires
    }

    /// The request network and the back end, to be run apart, where the machine has some [`lookahead`].
    pub fn apart(&mut self) -> (&mut RequestNetwork, &mut Backend) {
        (&mut self.requests, &mut self.backend)
    }

    /// The request network, and what SMs have in it.
    pub fn requests(&self) -> &RequestNetwork {
        &self.requests
    }

    /// What is counted before cycle `end` will be [asked for](MemorySystem::sampled): the back end has not come further.
    pub fn count_at(&mut self, end: Cycle) {
        debug_assert!(self.backend.now <= end);
        self.backend.count_at = end;
    }

    /// Runs the back end by itself up to a cycle, if it has not come there.
    pub fn run_backend_to(&mut self, to: Cycle) {
        if self.backend.now < to {
            self.backend.run_to(to);
        }
    }

    /// Runs the request network by itself up to a cycle to which the back end has come.
    pub fn run_requests_to(&mut self, to: Cycle) {
        self.requests.run_to(to);
    }

    /// Injects a request in core cycle `cycle`, which has not been simulated yet. The SM has
    /// checked that it fits; for each SM, cycles never decrease.
    pub fn push(&mut self, cycle: Cycle, request: Request) {
        self.requests.push(cycle, &request);
    }

    /// Whether an SM's injection queue has room for so many flits, or something in it moves up.
    #[inline]
    pub fn has_room_soon(&self, sm: usize, flits: u32) -> bool {
        self.requests.backlog(sm).moving > 0 || self.requests.free(sm) >= flits
    }

    /// The periods of the clocks inside, in core cycles: after a multiple of all of them, all are
    /// in phase with the core clock again.
    pub fn clock_periods(&self) -> [u64; 3] {
        let Clocks { network, l2, dram } = self.clocks;
        [network, l2, dram].map(|clock| clock.period())
    }

    /// Takes the atomics that have been served before cycle `end`, in order.
    pub fn take_atomics(&mut self, end: Cycle) -> impl Iterator<Item = Atomic> + '_ {
        let atomics = &mut self.backend.atomics;
        let served = atomics.partition_point(|(cycle, ..)| *cycle < end);
        atomics.drain(..served)
    }

    /// The last core cycle in which anything happened inside: of the back end, which may be ahead, perhaps one to come.
    pub fn idle_since(&self) -> Cycle {
        self.requests.last_active.max(self.backend.last_active)
    }

    /// The earliest core cycle that has not been simulated in which anything can happen inside. What is on the links counts: where a launch begins
    /// before the cycle to which the request network has come, SMs may have sent requests that it has not received.
    pub fn next_event(&mut self) -> Cycle {
        if self.requests.entrances.waiting() > 0 {
            return self.requests.now;
        }
        self.requests.receive();
        self.backend.receive();
        let next = self.backend.next().min(self.requests.next());
        next.max(self.requests.now)
    }

    /// Everything has drained, write-backs included. Replies may be on their way to SMs.
    pub fn idle(&self) -> bool {
        let admitted = &self.wires.admitted;
        self.requests.is_empty() && admitted.is_empty() && self.backend.partitions.is_idle()
    }

    /// Nothing happens before cycle `now`.
    pub fn skip_to(&mut self, now: Cycle) {
        debug_assert!(self.requests.next().max(self.requests.now) >= now);
        self.requests.now = self.requests.now.max(now);
        self.requests.publish();
    }

    /// Nothing has happened since cycle `end`, nor is anything under way: the state is as if no later cycle had been
    /// simulated.
    pub fn back_to(&mut self, end: Cycle) {
        debug_assert!(self.idle() && self.idle_since() < end);
        self.requests.now = end;
        self.requests.publish();
        self.backend.back_to(end);
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
            let slice = &mut self.backend.partitions.slices[place.slice as usize];
            slice.install(place.local, next.min(end) - at);
            at = next;
        }
    }

    /// Puts a replacement policy in place of the configured one in all slices of L2, before anything is in them.
    pub fn replace_policy(&mut self, make: &dyn Fn(usize, usize) -> Box<dyn Replacement>) {
        let slices = &mut self.backend.partitions.slices;
        slices
            .iter_mut()
            .for_each(|slice| slice.replace_policy(make));
    }

    /// Forgets all of L2.
    pub fn invalidate_l2(&mut self) {
        let slices = &mut self.backend.partitions.slices;
        slices.iter_mut().for_each(Slice::invalidate);
    }

    /// Counters so far, of the back end as far as it has come.
    pub fn stats(&self) -> MemoryStats {
        let mut stats = MemoryStats::default();
        self.backend.count(&mut stats);
        self.with_requests(stats)
    }

    /// Counters up to the cycle for which they were [asked](MemorySystem::count_at) last.
    pub fn sampled(&self) -> MemoryStats {
        self.with_requests(MemoryStats::clone(&self.backend.counted))
    }

    fn with_requests(&self, mut stats: MemoryStats) -> MemoryStats {
        let clocks = self.clocks.dram.first_tick(self.requests.now).get();
        stats.dram.total_clocks = clocks * self.channels;
        stats.requests = self.requests.counted();
        stats
    }

    /// What is waiting where, one line for each part that is not empty.
    pub fn describe_pending(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let partitions = &self.backend.partitions;
        let entrances = &self.requests.entrances;
        let sms = 0..self.wires.sms.len();
        let sent: usize = sms.clone().map(|sm| self.requests.queued(sm)).sum();
        let left = sent + entrances.waiting() + partitions.inflight.len();
        if left > 0 {
            lines.push(format!("{left} requests not answered"));
        }
        for sm in sms {
            let waiting = self.requests.queued(sm);
            if waiting > 0 {
                lines.push(format!("SM {sm}: {waiting} requests to inject"));
            }
        }
        for (number, slice) in partitions.slices.iter().enumerate() {
            let replies = partitions.replies.queued(number);
            let outside = entrances.waiting_at(number);
            if !slice.is_empty() || replies + outside > 0 {
                lines.push(format!(
                    "L2 slice {number}: {}, {replies} replies to send",
                    slice.describe(outside)
                ));
            }
        }
        for (number, channel) in partitions.channels.iter().enumerate() {
            if !channel.is_empty() {
                lines.push(format!("DRAM channel {number}: {}", channel.describe()));
            }
        }
        lines
    }

    /// Simulates all core cycles before `until`, all parts in step.
    pub fn advance(&mut self, until: Cycle) {
        loop {
            self.backend.receive();
            let next = self.backend.next().min(self.requests.next());
            let to = until.min(next.max(self.requests.now).saturating_add(1));
            self.backend.run_to(to);
            self.requests.run_to(to);
            if to == until {
                break;
            }
        }
    }
}

/// All parts in step, behind the SMs, where the back end may not be ahead.
impl<W: ?Sized> Component<W> for MemorySystem {
    fn clock(&self) -> u64 {
        self.requests.now.get()
    }

    fn run(&mut self, to: u64, _: &W) -> Ran {
        self.requests.receive();
        self.advance(Cycle::new(to));
        Ran::On
    }
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "system_property_tests.rs"]
mod property_tests;

#[cfg(test)]
#[path = "apart_tests.rs"]
mod apart_tests;

#[cfg(test)]
#[path = "system_traffic_tests.rs"]
mod traffic_tests;
