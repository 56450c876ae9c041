//! DRAM as a latency and a bandwidth: requests are served in order, a fixed number of bytes per
//! core cycle, and complete a fixed time after their last byte was moved.

use super::{Done, DramRequest};
use crate::ring::Ring;
use crate::stats::DramCounters;
use crate::time::Cycle;

/// The simple model of a channel. Times are core cycles.
#[derive(Clone, Debug)]
pub struct SimpleDram {
    latency: u64,
    bytes_per_cycle: u64,
    /// Bytes that could have been moved by the time the last accepted one will have been: the
    /// time the bus is free again, in units of a cycle over `bytes_per_cycle`.
    bus_free: u64,
    flight: Ring<(Cycle, Done)>,
}

impl SimpleDram {
    /// A channel with this minimum latency and bandwidth.
    pub fn new(latency: u32, bytes_per_cycle: u32) -> SimpleDram {
        SimpleDram {
            latency: u64::from(latency),
            bytes_per_cycle: u64::from(bytes_per_cycle.max(1)),
            bus_free: 0,
            flight: Ring::new(),
        }
    }

    /// Accepts a request in core cycle `cycle`.
    pub fn push(&mut self, cycle: Cycle, request: DramRequest, stats: &mut DramCounters) {
        let now = cycle.get() * self.bytes_per_cycle;
        let bytes = u64::from(request.bytes);
        self.bus_free = self.bus_free.max(now) + bytes;
        // The first cycle's bytes move while the latency runs, as in a pipeline.
        let moved = self.bus_free.div_ceil(self.bytes_per_cycle) - 1;
        if request.write {
            stats.writes += 1;
            stats.write_bytes += bytes;
        } else {
            stats.reads += 1;
            stats.read_bytes += bytes;
        }
        let done = Cycle::new(moved + self.latency);
        self.flight.push_back((done, request.done()));
    }

    /// A request that has completed by core cycle `cycle`, in order.
    pub fn completed(&mut self, cycle: Cycle) -> Option<Done> {
        if self.flight.front()?.0 > cycle {
            return None;
        }
        self.flight.pop_front().map(|(_, done)| done)
    }

    /// The core cycle in which the next request completes.
    pub fn next(&self) -> Cycle {
        self.flight.front().map_or(Cycle::NEVER, |&(done, _)| done)
    }

    /// Requests on their way.
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::mshr::Fetch;

    fn read(bytes: u16) -> DramRequest {
        DramRequest {
            slice: 0,
            bank: 0,
            row: 0,
            write: false,
            bytes,
            fetch: Fetch::default(),
        }
    }

    #[test]
    fn a_lone_request_takes_the_latency() {
        let mut dram = SimpleDram::new(100, 32);
        dram.push(Cycle::new(5), read(32), &mut DramCounters::default());
        assert!(dram.completed(Cycle::new(104)).is_none());
        assert!(dram.completed(Cycle::new(105)).is_some());
        assert_eq!(dram.in_flight(), 0);
    }

    #[test]
    fn bandwidth_spaces_requests() {
        let mut dram = SimpleDram::new(100, 16);
        let mut stats = DramCounters::default();
        for _ in 0..3 {
            dram.push(Cycle::ZERO, read(32), &mut stats);
        }
        // Each takes two cycles of the bus: the last bytes move in cycles 1, 3 and 5.
        for done in [101, 103, 105] {
            assert!(dram.completed(Cycle::new(done - 1)).is_none());
            assert!(dram.completed(Cycle::new(done)).is_some());
        }
        assert_eq!((stats.reads, stats.read_bytes), (3, 96));
    }
}
