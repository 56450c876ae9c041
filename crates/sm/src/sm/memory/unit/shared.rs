//! Shared memory: a fixed pipeline behind the cycles that its banks take.

use crate::config::Machine;
use crate::memory::ring::Ring;
use crate::time::Cycle;

/// Accesses to shared memory under way, in order.
#[derive(Debug)]
pub(super) struct SharedPipe {
    /// When each is through, and its record.
    under_way: Ring<(Cycle, u16)>,
    /// When the first is.
    next: Cycle,
    latency: u64,
    pub banks: u32,
}

impl SharedPipe {
    pub fn new(machine: &Machine) -> SharedPipe {
        let latency = machine.shared.latency.max(1) as u64;
        SharedPipe {
            under_way: Ring::new(),
            next: Cycle::NEVER,
            latency,
            banks: machine.shared.banks,
        }
    }

    /// When the first is through.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Takes the first, if it is through in cycle `now`.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<u16> {
        if self.next > now {
            return None;
        }
        let first = self.under_way.pop_front().map(|(_, op)| op);
        self.next = self.under_way.front().map_or(Cycle::NEVER, |&(at, _)| at);
        first
    }

    /// Takes an access in cycle `now`, if there is room; says whether.
    #[inline]
    pub fn push(&mut self, op: u16, now: Cycle) -> bool {
        let room = (self.under_way.len() as u64) < self.latency;
        if room {
            let at = now + self.latency;
            self.next = self.next.min(at);
            self.under_way.push_back((at, op));
        }
        room
    }
}
