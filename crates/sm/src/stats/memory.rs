//! The memory system's counters as they are reported.

use super::decl::counters;
use crate::memory::packet::{RequestKind, Traffic};
use crate::memory::stats::MemoryStats;

counters! {
    /// Counters of interconnect, L2 and DRAM.
    pub struct MemoryCounters {
        l2_accesses: "sectors", "L2 accesses: a sector or an atomic each";
        l2_hits: "sectors", "L2 accesses that found their sector";
        l2_misses: "sectors", "L2 accesses that did not: reads went to DRAM, writes took the sector";
        l2_merges: "sectors", "L2 accesses whose sector was on its way";
        l2_reads: "sectors", "L2 accesses that were reads of data";
        l2_writes: "sectors", "L2 accesses that were writes";
        l2_instruction_reads: "sectors", "L2 accesses by instruction caches";
        l2_constant_reads: "sectors", "L2 accesses by constant caches";
        l2_texture_reads: "sectors", "L2 accesses by texture caches";
        l2_atomics: "accesses", "atomics performed in L2";
        l2_prefetches: "sectors", "L2 accesses by prefetch instructions, past the L1";
        l2_prefetches_dropped: "sectors", "of those that missed: given up, as no MSHR, way or room in the miss queue was free";
        l2_stall_cycles: "cycles", "cycles an access waited for an MSHR, a way or the miss queue";
        l2_write_backs: "lines", "dirty lines written back to DRAM";
        dram_reads: "requests", "DRAM reads";
        dram_writes: "requests", "DRAM writes";
        dram_read_bytes: "bytes", "bytes read from DRAM";
        dram_write_bytes: "bytes", "bytes written to DRAM";
        dram_activates: "commands", "rows opened";
        dram_row_hits: "requests", "requests that found their row open";
        dram_row_misses: "requests", "requests that did not";
        dram_busy_clocks: "DRAM clocks", "clocks the data buses were used, all channels";
        request_packets: "packets", "packets from SMs to partitions";
        request_flits: "flits", "flits from SMs to partitions";
        reply_packets: "packets", "packets from partitions to SMs";
        reply_flits: "flits", "flits from partitions to SMs";
        network_stalls: "cycles", "cycles a packet waited because its destination was full";
    }
}

impl MemoryCounters {
    /// Takes the counts of the memory system.
    pub fn of(stats: &MemoryStats) -> MemoryCounters {
        let total = stats.l2_total();
        let reads = |t: Traffic| stats.l2(t, RequestKind::Read).accesses;
        let writes = |t: Traffic| stats.l2(t, RequestKind::Write).accesses;
        let prefetches = |t: Traffic| stats.l2(t, RequestKind::Prefetch).accesses;
        MemoryCounters {
            l2_accesses: total.accesses,
            l2_hits: total.hits,
            l2_misses: total.misses,
            l2_merges: total.merges,
            l2_reads: reads(Traffic::Global) + reads(Traffic::Local),
            l2_writes: writes(Traffic::Global) + writes(Traffic::Local),
            l2_instruction_reads: reads(Traffic::Instruction),
            l2_constant_reads: reads(Traffic::Constant),
            l2_texture_reads: reads(Traffic::Texture),
            l2_atomics: stats.atomics,
            l2_prefetches: prefetches(Traffic::Global) + prefetches(Traffic::Local),
            l2_prefetches_dropped: stats.l2_prefetches_dropped,
            l2_stall_cycles: total.stall_cycles,
            l2_write_backs: stats.l2_write_backs,
            dram_reads: stats.dram.reads,
            dram_writes: stats.dram.writes,
            dram_read_bytes: stats.dram.read_bytes,
            dram_write_bytes: stats.dram.write_bytes,
            dram_activates: stats.dram.activates,
            dram_row_hits: stats.dram.row_hits,
            dram_row_misses: stats.dram.row_misses,
            dram_busy_clocks: stats.dram.busy_clocks,
            request_packets: stats.requests.packets,
            request_flits: stats.requests.flits,
            reply_packets: stats.replies.packets,
            reply_flits: stats.replies.flits,
            network_stalls: stats.requests.full_stalls + stats.replies.full_stalls,
        }
    }
}
