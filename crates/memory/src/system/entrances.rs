//! The entrances of the L2 slices: the network's output buffer before each, and when the slice had room for requests.
//!
//! Slices are simulated ahead of the network. A slice does nothing with a request until its delay is over, so a slice that has come to a cycle
//! can say when it had room before, and the entrance admits requests in the cycles in which it had.

use super::wires::{Admitted, RoomChange};
use crate::clock::Clock;
use crate::history::History;
use crate::inflight::Sent;
use crate::l2::entrance::{Entrance, Waiting};
use crate::network::crossbar::Sink;
use crate::stats::NetworkCounters;
use crate::time::{Cycle, Tick};
use crate::wake::WakeList;
use warpsim_machine::Machine;

/// The entrance of one slice.
struct Gate {
    entrance: Entrance<Sent>,
    /// When the slice had room for a request, as far as the slice has come.
    room: History,
}

impl Gate {
    /// The first core cycle from `cycle` on in which the entrance admits a waiting request: never if that is not known.
    fn admits_at(&mut self, cycle: Cycle, l2: &Clock) -> Cycle {
        let Some(first) = self.entrance.front() else {
            return Cycle::NEVER;
        };
        let tick = l2.first_tick(cycle.max(first.since));
        l2.cycle_of(self.room.first_from(tick))
    }
}

/// The entrances of all slices.
pub(super) struct Entrances {
    gates: Vec<Gate>,
    /// When each entrance can admit a request that waits.
    next: WakeList,
    /// Requests that wait.
    waiting: usize,
    /// Core cycles for which a slice does nothing with a request.
    delay: u64,
    l2: Clock,
    network: Clock,
    /// Requests that have been admitted and not been handed to the back end.
    pub admitted: Vec<Admitted>,
}

impl Entrances {
    /// The entrances of so many empty slices.
    pub fn new(machine: &Machine, slices: usize, network: Clock, l2: Clock) -> Entrances {
        let gate = |_| Gate {
            entrance: Entrance::new(machine.interconnect.output_buffer),
            room: History::new(true),
        };
        Entrances {
            gates: (0..slices).map(gate).collect(),
            next: WakeList::new(slices),
            waiting: 0,
            delay: u64::from(machine.l2.latency),
            l2,
            network,
            admitted: Vec::new(),
        }
    }

    /// Requests that wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Requests that wait before a slice.
    pub fn waiting_at(&self, slice: usize) -> usize {
        self.gates[slice].entrance.len()
    }

    /// A slice has said when it had room.
    #[inline]
    pub fn hear(&mut self, change: RoomChange) {
        let number = change.slice as usize;
        let gate = &mut self.gates[number];
        gate.room.take_over(change.from, change.has_room);
        if !gate.entrance.is_empty() {
            self.next.lower(number, Cycle::ZERO); // it may be admitted now
        }
    }

    /// The core cycle in which the first waiting request is admitted, as far as is known.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next.next()
    }

    /// Admits requests that wait, one per slice and clock, in a cycle for which slices have said when they had room.
    #[inline(never)]
    pub fn admit(&mut self, cycle: Cycle) {
        let Entrances {
            gates, admitted, ..
        } = self;
        let ticks = self.l2.ticks_of(cycle);
        self.next.run(cycle, |number| {
            let gate = &mut gates[number];
            for tick in ticks.clone() {
                if let Some(&Waiting { since, request, .. }) = gate.entrance.front()
                    && since <= cycle
                    && gate.room.at(tick)
                {
                    gate.entrance.pop();
                    self.waiting -= 1;
                    admitted.push(Admitted {
                        ready: cycle + self.delay,
                        slice: number as u32,
                        request,
                    });
                }
            }
            gate.admits_at(cycle + 1, &self.l2)
        });
    }
}

/// Where the network to the slices ends, in a core cycle that ends before L2's tick `end`.
pub(super) struct AtEntrances<'a> {
    pub entrances: &'a mut Entrances,
    pub counters: &'a mut NetworkCounters,
    pub end: Tick,
}

impl Sink<Sent> for AtEntrances<'_> {
    #[inline]
    fn has_room(&self, slice: usize) -> bool {
        self.entrances.gates[slice].entrance.has_room()
    }

    fn waiting(&self, slice: usize) -> u32 {
        self.entrances.gates[slice].entrance.flits()
    }

    #[inline(always)]
    fn deliver(&mut self, slice: usize, tick: Tick, flits: u32, request: Sent) {
        self.counters.count_packet(flits);
        let entrances = &mut *self.entrances;
        let arrived = entrances.network.cycle_of(tick);
        let gate = &mut entrances.gates[slice];
        if gate.entrance.is_empty() && gate.room.at(self.end) {
            entrances.admitted.push(Admitted {
                ready: arrived + entrances.delay,
                slice: slice as u32,
                request,
            });
            return;
        }
        gate.entrance.push(arrived, request, flits);
        entrances.waiting += 1;
        entrances.next.lower(slice, arrived);
    }
}

#[cfg(test)]
#[path = "entrances_tests.rs"]
mod tests;
