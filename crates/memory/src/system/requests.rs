//! The request network: from the SMs to the entrances of the L2 slices.

use super::entrances::{AtEntrances, Entrances};
use super::wires::{RoomChange, Wires};
use crate::address_map::AddressMap;
use crate::clock::Clock;
use crate::inflight::Sent;
use crate::network::INJECTION_CYCLES;
use crate::network::crossbar::{Backlog, Crossbar, Shape};
use crate::packet::{PacketSize, Request};
use crate::stats::NetworkCounters;
use crate::time::{Cycle, Tick};
use std::sync::Arc;
use warpsim_engine::{Component, Ran};
use warpsim_machine::Machine;

/// The crossbar, and the entrances behind it.
pub struct RequestNetwork {
    map: AddressMap,
    /// Bytes of an L2 sector, as a power of two.
    sector_shift: u32,
    packets: PacketSize,
    clock: Clock,
    l2: Clock,
    crossbar: Crossbar<Sent>,
    pub(super) entrances: Entrances,
    /// Core cycles before this one have been simulated.
    pub(super) now: Cycle,
    /// The core cycle in which something can happen in the crossbar.
    next: Cycle,
    pub(super) last_active: Cycle,
    counters: NetworkCounters,
    /// Flits received so far, by SM.
    received: Vec<u64>,
    wires: Arc<Wires>,
    /// Requests that have come; emptied whenever the network runs.
    arriving: Vec<(Cycle, Request)>,
    /// SMs have been told that nothing of what they have sent is left.
    said_empty: bool,
    changes: Vec<RoomChange>,
}

impl RequestNetwork {
    pub(super) fn new(
        machine: &Machine,
        map: AddressMap,
        [clock, l2]: [Clock; 2],
        packets: PacketSize,
        wires: &Arc<Wires>,
    ) -> RequestNetwork {
        let (sms, slices) = (machine.gpu.sms as usize, map.slices());
        RequestNetwork {
            map,
            sector_shift: machine.l2.sector.max(1).ilog2(),
            packets,
            clock,
            l2,
            crossbar: Crossbar::new(sms, slices, Shape::from_sms(&machine.interconnect)),
            entrances: Entrances::new(machine, slices, clock, l2),
            now: Cycle::ZERO,
            next: Cycle::NEVER,
            last_active: Cycle::ZERO,
            counters: NetworkCounters::default(),
            received: vec![0; sms],
            wires: wires.clone(),
            arriving: Vec::new(),
            said_empty: false,
            changes: Vec::new(),
        }
    }

    /// The network's tick as SMs begin to run: within a cycle the network steps before the SMs do.
    #[inline]
    fn injection_tick(&self) -> Tick {
        self.clock.first_tick(self.now + INJECTION_CYCLES)
    }

    /// What of an SM's packets is still on the SM's side.
    #[inline]
    pub fn backlog(&self, sm: usize) -> Backlog {
        self.crossbar.backlog(sm, self.injection_tick())
    }

    /// Flits free in an SM's injection queue.
    pub fn free(&self, sm: usize) -> u32 {
        self.crossbar.free(sm, self.injection_tick())
    }

    /// Packets of an SM that have not left.
    pub fn queued(&self, sm: usize) -> usize {
        self.crossbar.queued(sm)
    }

    /// Flits of a request's packet: writes and atomics carry their data.
    pub fn flits(&self, request: &Request) -> u32 {
        let data = match request.kind.carries_data() {
            true => request.bytes,
            false => 0,
        };
        self.packets.flits(data)
    }

    /// A request that its SM sends in core cycle `cycle`, which has not been simulated yet. The SM has checked that it fits; for each SM,
    /// cycles never decrease.
    pub fn push(&mut self, cycle: Cycle, request: &Request) {
        let at = self.map.locate(request.addr);
        let flits = self.flits(request);
        let sent = Sent::new(request, at.local, self.sector_shift);
        let tick = self.clock.first_tick(cycle + INJECTION_CYCLES);
        let (sm, slice) = (usize::from(request.sm), at.slice as usize);
        self.received[sm] += u64::from(flits);
        self.said_empty = false;
        self.crossbar.push(sm, tick, slice, flits, sent);
        self.next = self.clock.cycle_of(self.crossbar.next());
    }

    /// Receives what SMs have sent.
    pub(super) fn receive(&mut self) {
        let mut arriving = std::mem::take(&mut self.arriving);
        for sm in 0..self.received.len() {
            if self.wires.sms[sm].requests.is_empty() {
                continue;
            }
            self.wires.sms[sm].requests.receive(&mut arriving);
            for (cycle, request) in arriving.drain(..) {
                self.push(cycle, &request);
            }
        }
        self.arriving = arriving;
    }

    /// When something can happen here.
    #[inline]
    pub(super) fn next(&self) -> Cycle {
        self.next.min(self.entrances.next())
    }

    /// No request is in the network or waits behind it.
    pub(super) fn is_empty(&self) -> bool {
        self.crossbar.is_empty() && self.entrances.waiting() == 0
    }

    /// Simulates a core cycle for which slices have said when they had room.
    #[inline]
    pub(super) fn cycle(&mut self, cycle: Cycle) {
        if self.entrances.next() <= cycle {
            self.entrances.admit(cycle);
        }
        if self.next <= cycle {
            let mut sink = AtEntrances {
                entrances: &mut self.entrances,
                counters: &mut self.counters,
                end: self.l2.first_tick(cycle + 1),
            };
            for tick in self.clock.ticks_of(cycle) {
                if self.crossbar.next() <= tick {
                    self.crossbar.step(tick, &mut sink);
                }
            }
            self.next = self.clock.cycle_of(self.crossbar.next());
        }
        self.last_active = cycle;
        self.now = cycle + 1;
    }

    /// Tells every SM what of its packets has left, as of the cycle to which the network has come.
    pub(super) fn publish(&mut self) {
        if !(self.crossbar.is_empty() && self.said_empty) {
            let now = self.injection_tick();
            self.said_empty = true;
            for ((sm, wires), received) in self.wires.sms.iter().enumerate().zip(&self.received) {
                let backlog = self.crossbar.backlog(sm, now);
                self.said_empty &= backlog.flits == 0 && backlog.moving == 0;
                wires.publish(*received, backlog);
            }
        }
        self.wires.set_network_clock(self.now);
    }

    /// What has been counted here.
    pub(super) fn counted(&self) -> NetworkCounters {
        NetworkCounters {
            full_stalls: self.crossbar.blocked(),
            ..self.counters
        }
    }

    /// Simulates up to a cycle to which the back end has come.
    pub(super) fn run_to(&mut self, end: Cycle) {
        self.receive();
        self.wires.room.receive(&mut self.changes);
        for change in self.changes.drain(..) {
            self.entrances.hear(change);
        }
        loop {
            let cycle = self.next().max(self.now);
            if cycle >= end {
                break;
            }
            self.cycle(cycle);
        }
        self.now = self.now.max(end);
        self.wires.admitted.send(&mut self.entrances.admitted);
        self.publish();
    }
}

/// The request network beside a back end that is ahead of it.
impl<W: ?Sized> Component<W> for RequestNetwork {
    fn clock(&self) -> u64 {
        self.now.get()
    }

    fn run(&mut self, to: u64, _: &W) -> Ran {
        self.run_to(Cycle::new(to));
        Ran::On
    }
}
