//! The back end: all that lies behind the request network, simulated ahead of it.
//!
//! A slice does nothing with a request for `l2.latency` cycles. So the back end can be ahead of the request network by nearly that long
//! ([`lead`]). What the request network has to know of it, when slices had room, the back end writes down ([`RoomChange`]).
//!
//! Atomics are written down with the cycles in which slices served them. The GPU performs them between periods.

use super::deliveries::Deliveries;
use super::far_sides::FarSides;
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
    pub(super) far: FarSides,
    pub(super) deliveries: Deliveries,
    /// Core cycles before this one have been simulated.
    pub(super) now: Cycle,
    last_active: Cycle,
    /// Atomics that have been served and not performed, in order.
    pub(super) atomics: Vec<Atomic>,
    /// What the request network has not heard of.
    pub(super) room: Vec<RoomChange>,
    /// The cycle as of which the state is noted next; never if it has been.
    note_at: Cycle,
    noted: Noted,
    wires: Arc<Wires>,
    /// Requests that have been admitted; emptied whenever the back end runs.
    arriving: Vec<Admitted>,
}

/// The back end at some cycle. The back end is ahead of the SMs, and what others ask about the whole memory system is answered as of theirs.
pub(super) struct Noted {
    pub next: Cycle,
    pub last_active: Cycle,
    pub is_idle: bool,
    pub counted: Box<MemoryStats>,
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
        let far = FarSides::new(machine, clocks.dram);
        Backend {
            partitions: Partitions::new(machine, map, clocks),
            far,
            deliveries: Deliveries::new(own, before, quantum, clocks.network, wires),
            now: Cycle::ZERO,
            last_active: Cycle::ZERO,
            atomics: Vec::new(),
            room: Vec::new(),
            note_at: Cycle::NEVER,
            noted: Noted {
                next: Cycle::NEVER,
                last_active: Cycle::ZERO,
                is_idle: true,
                counted: Box::default(),
            },
            wires: wires.clone(),
            arriving: Vec::new(),
        }
    }

    /// The state is to be noted as of cycle `at`, to which the back end has not come, or has just come.
    pub(super) fn note_at(&mut self, at: Cycle) {
        debug_assert!(self.now <= at);
        self.note_at = at;
    }

    /// The state as of the last cycle for which it was asked.
    pub(super) fn noted(&self) -> &Noted {
        &self.noted
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

    /// Simulates a core cycle of a time that ends with cycle `end`.
    #[inline]
    pub(super) fn cycle(&mut self, cycle: Cycle, end: Cycle) {
        self.deliveries.come_to(cycle);
        let atomics = &mut self.atomics;
        self.partitions.cycle(
            cycle,
            end,
            &mut self.far,
            &mut self.deliveries,
            &mut |sm, token| atomics.push((cycle, sm, token)),
        );
        self.last_active = cycle;
        self.now = cycle + 1;
    }

    fn run_until(&mut self, end: Cycle) {
        loop {
            let cycle = self.next().max(self.now);
            if cycle >= end {
                break;
            }
            self.cycle(cycle, end);
        }
        self.now = self.now.max(end);
    }

    /// Notes what the back end is.
    pub(super) fn note(&mut self) {
        let Noted { counted, .. } = &mut self.noted;
        self.partitions.count(counted);
        counted.replies.packets = self.deliveries.counters.packets;
        counted.replies.flits = self.deliveries.counters.flits;
        self.noted.next = self.partitions.next();
        self.noted.last_active = self.last_active;
        self.noted.is_idle = self.partitions.is_idle();
        self.note_at = Cycle::NEVER;
    }

    /// Notes the state as of cycle `at`, or later if the back end has come further, beside what is noted at the end of the window.
    pub(super) fn note_early(&mut self, at: Cycle) {
        let note_at = std::mem::replace(&mut self.note_at, Cycle::NEVER);
        self.run_to(self.now.max(at));
        self.note();
        self.note_at = note_at;
    }

    /// Simulates up to a cycle, by itself.
    pub(super) fn run_to(&mut self, end: Cycle) {
        let mut arriving = std::mem::take(&mut self.arriving);
        self.wires.admitted.receive(&mut arriving);
        self.take_in(&mut arriving);
        self.arriving = arriving;
        if self.note_at <= end {
            self.run_until(self.note_at);
            self.note();
        }
        self.run_until(end);
        self.partitions.take_room_changes(&mut self.room);
        self.wires.room.send(&mut self.room);
        self.deliveries.hand_over();
    }

    /// Nothing has happened since cycle `now`, nor is anything under way: the state is as if no later cycle had been simulated.
    pub(super) fn back_to(&mut self, now: Cycle) {
        self.now = now;
        self.note_at = Cycle::NEVER;
        self.partitions.know_less(now, &mut self.far);
        self.deliveries.back_to(now);
    }
}

/// The back end ahead of the request network.
impl<W: ?Sized> Component<W> for Backend {
    fn run(&mut self, to: u64, _: &W) -> Ran {
        self.run_to(Cycle::new(to));
        Ran::To { at: to }
    }
}
