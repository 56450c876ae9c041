//! What the memory system counts.

use super::packet::{RequestKind, Traffic};

/// What L2 slices did for one class of requests. The unit is the access: one sector, or one
/// atomic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Counters {
    /// Accesses served: hits, misses and merges together.
    pub accesses: u64,
    /// The sector was there.
    pub hits: u64,
    /// The sector was not there: a read went to DRAM, a write took the sector without fetch.
    pub misses: u64,
    /// The sector was already on its way from DRAM.
    pub merges: u64,
    /// Core cycles that an access waited at the head of a slice for an MSHR, a place in the
    /// miss queue or a way without a fill under way.
    pub stall_cycles: u64,
}

/// Counters of DRAM, summed over channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramCounters {
    /// Read requests, of one sector each.
    pub reads: u64,
    /// Write requests: evicted lines.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Rows opened.
    pub activates: u64,
    /// Rows closed.
    pub precharges: u64,
    /// Requests that found their row open.
    pub row_hits: u64,
    /// Requests that did not.
    pub row_misses: u64,
    /// DRAM clocks in which the data bus was used.
    pub busy_clocks: u64,
    /// DRAM clocks that passed.
    pub total_clocks: u64,
}

/// Counters of the interconnect, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Packets.
    pub packets: u64,
    /// Flits.
    pub flits: u64,
    /// Interconnect clocks that a packet at the head of an input waited because its
    /// destination's queue was full.
    pub full_stalls: u64,
}

impl NetworkCounters {
    /// A packet of so many flits has come out.
    #[inline]
    pub fn count_packet(&mut self, flits: u32) {
        self.packets += 1;
        self.flits += u64::from(flits);
    }
}

/// Everything the memory system counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// L2 by traffic class (as [`Traffic`] orders them) and request kind (as [`RequestKind`]).
    pub l2: [[L2Counters; RequestKind::COUNT]; 5],
    /// Sectors that were to be prefetched and were not: there was no MSHR, way or room in the miss queue.
    pub l2_prefetches_dropped: u64,
    /// L2 lines with dirty sectors that were replaced.
    pub l2_write_backs: u64,
    /// DRAM.
    pub dram: DramCounters,
    /// SMs to partitions.
    pub requests: NetworkCounters,
    /// Partitions to SMs.
    pub replies: NetworkCounters,
    /// Atomics performed.
    pub atomics: u64,
}

impl MemoryStats {
    /// L2 counters of a class.
    pub fn l2(&self, traffic: Traffic, kind: RequestKind) -> &L2Counters {
        &self.l2[traffic as usize][kind as usize]
    }

    pub(super) fn l2_mut(&mut self, traffic: Traffic, kind: RequestKind) -> &mut L2Counters {
        &mut self.l2[traffic as usize][kind as usize]
    }

    /// L2 counters of all classes together.
    pub fn l2_total(&self) -> L2Counters {
        let mut sum = L2Counters::default();
        for class in self.l2.iter().flatten() {
            sum.accesses += class.accesses;
            sum.hits += class.hits;
            sum.misses += class.misses;
            sum.merges += class.merges;
            sum.stall_cycles += class.stall_cycles;
        }
        sum
    }
}
