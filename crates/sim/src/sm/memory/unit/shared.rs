//! Shared memory: a fixed pipeline behind the cycles that its banks take.

use crate::config::Machine;
use crate::time::Cycle;
use std::collections::VecDeque;

/// Accesses to shared memory under way, in order.
#[derive(Debug)]
pub(super) struct SharedPipe {
    /// When each is through, and its record.
    under_way: VecDeque<(Cycle, u16)>,
    latency: u64,
    pub banks: u32,
}

impl SharedPipe {
    pub fn new(machine: &Machine) -> SharedPipe {
        let latency = machine.shared.latency.max(1) as u64;
        SharedPipe {
            under_way: VecDeque::with_capacity(latency as usize + 1),
            latency,
            banks: machine.shared.banks,
        }
    }

    /// When the first is through.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.under_way.front().map_or(Cycle::NEVER, |&(at, _)| at)
    }

    /// Takes the first, if it is through in cycle `now`.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<u16> {
        if self.next() > now {
            return None;
        }
        self.under_way.pop_front().map(|(_, op)| op)
    }

    /// Takes an access in cycle `now`, if there is room; says whether.
    #[inline]
    pub fn push(&mut self, op: u16, now: Cycle) -> bool {
        let room = (self.under_way.len() as u64) < self.latency;
        if room {
            self.under_way.push_back((now + self.latency, op));
        }
        room
    }
}
