//! The entrances of slices that are ahead, for the network to them, which is run beside or behind them.
//!
//! The network's output buffer before a slice is here, and when the slice had room for requests, as the slice has written that down
//! ([`History`]). What a gate lets in goes by [`Mail`].

use super::behind::Room;
use super::mail::Mail;
use super::partitions::Clocks;
use crate::config::Machine;
use crate::memory::history::History;
use crate::memory::inflight::Sent;
use crate::memory::l2::entrance::{Entrance, Waiting};
use crate::memory::network::crossbar::Sink;
use crate::memory::stats::NetworkCounters;
use crate::memory::wake::WakeList;
use crate::time::{Cycle, Tick};

/// The entrance of one slice.
struct Gate {
    entrance: Entrance<Sent>,
    /// When the slice had room for a request, as far as the slice has come.
    room: History,
}

impl Gate {
    /// The first core cycle from `cycle` on in which the gate lets a waiting request in, as far as is known: never if it is not known.
    fn lets_in_at(&mut self, cycle: Cycle, clocks: &Clocks) -> Cycle {
        let Some(first) = self.entrance.front() else {
            return Cycle::NEVER;
        };
        let tick = clocks.l2.first_tick(cycle.max(first.since));
        clocks.l2.cycle_of(self.room.first_from(tick))
    }
}

/// The entrances of all slices.
pub(super) struct Gates {
    all: Vec<Gate>,
    /// When each gate can let in a request that waits.
    next: WakeList,
    /// Requests that wait.
    waiting: usize,
    /// Core cycles for which a slice does nothing with a request.
    delay: u64,
    clocks: Clocks,
    /// What has been let in.
    pub mail: Mail,
}

impl Gates {
    /// The gates of so many empty slices.
    pub fn new(machine: &Machine, slices: usize, clocks: Clocks) -> Gates {
        let gate = |_| Gate {
            entrance: Entrance::new(machine.interconnect.output_buffer),
            room: History::new(true),
        };
        Gates {
            all: (0..slices).map(gate).collect(),
            next: WakeList::new(slices),
            waiting: 0,
            delay: u64::from(machine.l2.latency),
            clocks,
            mail: Mail::new(),
        }
    }

    /// Requests that wait.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Requests that wait before a slice.
    pub fn waiting_at(&self, slice: usize) -> usize {
        self.all[slice].entrance.len()
    }

    /// No request waits or has not been handed over.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0 && self.mail.is_empty()
    }

    /// Hears when slices that have come further had room.
    pub fn hear(&mut self, room: &mut Room) {
        for (slice, from, is) in room.drain(..) {
            self.all[slice as usize].room.take_over(from, is);
        }
    }

    /// The core cycle in which the first gate lets a waiting request in, as far as is known.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next.next()
    }

    /// Slices may have come further: the gates with waiting requests ask them again in `cycle`.
    pub fn ask_again(&mut self, cycle: Cycle) {
        if self.waiting > 0 {
            for (number, gate) in self.all.iter().enumerate() {
                if !gate.entrance.is_empty() {
                    self.next.lower(number, cycle);
                }
            }
        }
    }

    /// Lets requests in that wait, one per slice and clock, in a cycle for which slices have written down when they had room.
    #[inline(never)]
    pub fn let_in(&mut self, cycle: Cycle) {
        let Gates { all, mail, .. } = self;
        let ticks = self.clocks.l2.ticks_of(cycle);
        self.next.run(cycle, |number| {
            let gate = &mut all[number];
            for tick in ticks.clone() {
                if let Some(&Waiting { since, request, .. }) = gate.entrance.front()
                    && since <= cycle
                    && gate.room.at(tick)
                {
                    gate.entrance.pop();
                    self.waiting -= 1;
                    mail.put(number, cycle + self.delay, request);
                }
            }
            gate.lets_in_at(cycle + 1, &self.clocks)
        });
    }
}

/// Where the network to the slices ends, in a core cycle that ends before L2's tick `end`.
pub(super) struct AtGates<'a> {
    pub gates: &'a mut Gates,
    pub counters: &'a mut NetworkCounters,
    pub end: Tick,
}

impl Sink<Sent> for AtGates<'_> {
    #[inline]
    fn has_room(&self, slice: usize) -> bool {
        self.gates.all[slice].entrance.has_room()
    }

    fn waiting(&self, slice: usize) -> u32 {
        self.gates.all[slice].entrance.flits()
    }

    #[inline(always)]
    fn deliver(&mut self, slice: usize, tick: Tick, flits: u32, request: Sent) {
        self.counters.count_packet(flits);
        let gates = &mut *self.gates;
        let arrived = gates.clocks.network.cycle_of(tick);
        let gate = &mut gates.all[slice];
        if gate.entrance.is_empty() && gate.room.at(self.end) {
            gates.mail.put(slice, arrived + gates.delay, request);
            return;
        }
        gate.entrance.push(arrived, request, flits);
        gates.waiting += 1;
        gates.next.lower(slice, arrived);
    }
}

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
