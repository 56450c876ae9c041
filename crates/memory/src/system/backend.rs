//! The back end: all that lies behind the request network, simulated ahead of it.
//!
//! A slice does nothing with a request for `l2.latency` cycles. So the back end can be ahead of the request network by nearly that long
//! ([`lead`]). What the request network has to know of it, when slices had room, the back end writes down ([`RoomChange`]).
//!
//! Atomics are written down with the cycles in which slices served them. The GPU performs them between periods.

use super::deliveries::Deliveries;
use super::partitions::{Clocks, Partitions};
use super::wires::{Admitted, RoomChange, Wires};
use crate::address_map::AddressMap;
use crate::inflight::MAX_PIECES;
use crate::stats::MemoryStats;
use crate::time::Cycle;
use std::sync::Arc;
use warpsim_engine::{Component, Ran};
use warpsim_machine::Machine;

/// How many quanta the back end of a machine may be ahead of its SMs. What comes to a slice in quantum k must not be looked at in quantum
/// k + lookahead or before, nor, where a slice serves several sectors at once, in the clocks that it foresees then. A network with credits has to
/// know in every cycle what SMs have taken.
pub fn lookahead(machine: &Machine) -> u64 {
    if machine.interconnect.credits {
        return 0;
    }
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let unseen = u64::from(machine.l2.latency).saturating_sub(MAX_PIECES.into());
    (unseen / quantum).saturating_sub(1)
}

/// Quanta per period: those after which SMs see each other's stores, as far as the back end can be a period ahead of them that long.
pub fn period(machine: &Machine) -> u64 {
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let asked = u64::from(machine.gpu.store_visibility) / quantum;
    asked.min(lookahead(machine).div_ceil(2)).max(1)
}

/// Cycles by which the back end may be ahead of the request network.
pub fn lead(machine: &Machine) -> u64 {
    (lookahead(machine) + 1) * u64::from(machine.gpu.quantum.max(1))
}

/// An atomic that a slice has served: in which cycle, the SM, its token.
pub type Atomic = (Cycle, u16, u32);

/// L2, DRAM and the network to the SMs.
pub struct Backend {
    pub(super) partitions: Partitions,
    pub(super) deliveries: Deliveries,
    /// Core cycles before this one have been simulated.
    pub(super) now: Cycle,
    /// The last cycle in which something happened.
    pub(super) last_active: Cycle,
    /// Atomics that have been served and not performed, in order.
    pub(super) atomics: Vec<Atomic>,
    /// What the request network has not heard of.
    pub(super) room: Vec<RoomChange>,
    /// What is counted before this cycle is asked for, and what it was when the back end came there.
    pub(super) count_at: Cycle,
    pub(super) counted: Box<MemoryStats>,
    wires: Arc<Wires>,
    /// Requests that have been admitted; emptied whenever the back end runs.
    arriving: Vec<Admitted>,
}

impl Backend {
    pub(super) fn new(
        machine: &Machine,
        map: AddressMap,
        clocks: Clocks,
        wires: &Arc<Wires>,
    ) -> Backend {
        let net = &machine.interconnect;
        let quantum = u64::from(machine.gpu.quantum.max(1));
        let (own, before) = (net.reply_queue, net.output_buffer);
        Backend {
            partitions: Partitions::new(machine, map, clocks),
            deliveries: Deliveries::new(own, before, quantum, clocks.network, wires),
            now: Cycle::ZERO,
            last_active: Cycle::ZERO,
            atomics: Vec::new(),
            room: Vec::new(),
            count_at: Cycle::NEVER,
            counted: Box::default(),
            wires: wires.clone(),
            arriving: Vec::new(),
        }
    }

    /// When something can happen next.
    #[inline]
    pub(super) fn next(&self) -> Cycle {
        self.partitions.next()
    }

    /// Takes in requests that entrances have admitted.
    pub(super) fn take_in(&mut self, admitted: &mut Vec<Admitted>) {
        for admitted in admitted.drain(..) {
            self.partitions.take_in(&admitted);
        }
    }

    /// Simulates a core cycle.
    #[inline]
    fn cycle(&mut self, cycle: Cycle) {
        self.deliveries.come_to(cycle);
        let atomics = &mut self.atomics;
        self.partitions
            .cycle(cycle, &mut self.deliveries, &mut |sm, token| {
                atomics.push((cycle, sm, token))
            });
        self.last_active = cycle;
        self.now = cycle + 1;
    }

    fn run_until(&mut self, end: Cycle) {
        loop {
            let cycle = self.next().max(self.now);
            if cycle >= end {
                break;
            }
            self.cycle(cycle);
        }
        self.now = self.now.max(end);
    }

    /// What has been counted.
    pub(super) fn count(&self, stats: &mut MemoryStats) {
        self.partitions.count(stats);
        stats.replies.packets = self.deliveries.counters.packets;
        stats.replies.flits = self.deliveries.counters.flits;
    }

    /// Takes in what has been admitted by now.
    pub(super) fn receive(&mut self) {
        let mut arriving = std::mem::take(&mut self.arriving);
        self.wires.admitted.receive(&mut arriving);
        self.take_in(&mut arriving);
        self.arriving = arriving;
    }

    /// Simulates up to a cycle, by itself.
    pub(super) fn run_to(&mut self, end: Cycle) {
        self.receive();
        if self.count_at <= end {
            self.run_until(self.count_at);
            let mut counted = std::mem::take(&mut self.counted);
            self.count(&mut counted);
            (self.count_at, self.counted) = (Cycle::NEVER, counted);
        }
        self.run_until(end);
        self.partitions.take_room_changes(&mut self.room);
        self.wires.room.send(&mut self.room);
        self.deliveries.hand_over();
    }

    /// Nothing has happened since cycle `now`, nor is anything under way: the state is as if no later cycle had been simulated.
    pub(super) fn back_to(&mut self, now: Cycle) {
        self.now = now;
        self.deliveries.back_to(now);
    }
}

/// The back end ahead of the request network.
impl<W: ?Sized> Component<W> for Backend {
    fn clock(&self) -> u64 {
        self.now.get()
    }

    fn run(&mut self, to: u64, _: &W) -> Ran {
        self.run_to(Cycle::new(to));
        Ran::On
    }
}
