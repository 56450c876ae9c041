//! Settings of memory: an SM's caches, the network, L2, DRAM.

use super::rule::Rule::{Flag, Words};
use super::rule::{multiple_of, power_of_two, power_of_two_or_zero, range};
use super::settings::settings;
use crate::mechanism::Choice;
use serde::{Deserialize, Serialize};

settings! {
    /// Shared memory.
    pub struct Shared {
        /// Size for each SM.
        bytes: u32 = multiple_of(4, 0, 1 << 20), "bytes";
        /// Banks of 4 bytes.
        banks: u32 = power_of_two(1, 64), "";
        /// Pipeline stages of a load.
        latency: u32 = range(1, 1000), "cycles";
    }
}

settings! {
    /// A cache of an SM.
    pub struct Cache {
        /// Sets. 0 leaves a data cache out: everything goes on to L2.
        sets: u32 = power_of_two_or_zero(1 << 16), "";
        /// Line size.
        line: u32 = power_of_two(32, 128), "bytes";
        /// Ways.
        ways: u32 = range(1, 1024), "";
        /// Hashed set index (the GTX 480's L1D).
        hashed_index: bool = Flag, "";
        /// Lines that may be missing at once.
        mshrs: u32 = range(1, 1 << 16), "";
        /// Requests that may wait for each missing line.
        merges: u32 = range(1, 1 << 16), "requests";
        /// Requests waiting to leave.
        miss_queue: u32 = range(1, 1 << 16), "requests";
    } with {
        /// Which line makes room for another.
        replacement: Choice;
    }
}

settings! {
    /// A cache that is written, too, and looked up at the end of a queue.
    pub struct DataCache {
        /// From access to lookup.
        latency: u32 = range(0, 1000), "cycles";
        /// What a global store does on a hit.
        global_write: WritePolicy = Words(WRITE_POLICIES), "";
        /// What a local store does on a hit.
        local_write: WritePolicy = Words(WRITE_POLICIES), "";
        /// Lines that the prefetcher has named and that wait for a cycle without another lookup.
        prefetch_queue: u32 = range(1, 1 << 10), "lines";
    } with {
        /// Which lines are fetched before they are asked for.
        prefetch: Choice;
    } and {
        /// What it has in common with the others.
        cache: Cache;
    }
}

/// Write policy of an L1 data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum WritePolicy {
    WriteEvict,
    WriteThrough,
    WriteBack,
}

const WRITE_POLICIES: &[&str] = &["write-evict", "write-through", "write-back"];

settings! {
    /// Crossbar.
    pub struct Interconnect {
        /// Steps one way for a one-flit packet.
        latency: u32 = range(1, 10_000), "ticks";
        /// Flit size.
        flit: u32 = range(1, 1024), "bytes";
        /// Flits that each injection queue holds.
        injection_queue: u32 = range(1, 1 << 16), "flits";
        /// Flits that the buffer behind each injection queue holds; one per tick moves up to it.
        input_buffer: u32 = range(1, 1 << 16), "flits";
        /// Flits that wait at each output, before the receiver takes them.
        output_buffer: u32 = range(1, 1 << 16), "flits";
        /// Steps of the switch per tick: faster than its ports, it empties the inputs into the
        /// buffers of the outputs. With several, a packet takes one step more than it has flits.
        speedup: u32 = range(1, 8), "steps";
        /// Room in the buffers is counted flit by flit, with credits that take as long as flits do, and
        /// an output is given to a packet before there is room behind it, as on the reference; else a packet
        /// goes whole as soon as there is room for a flit.
        credits: bool = Flag, "";
        /// With credits: flits between an output's buffer and the receiver.
        last_buffer: u32 = range(1, 1 << 16), "flits";
        /// Packets that each SM's reply queue holds.
        reply_queue: u32 = range(1, 1 << 16), "packets";
        /// Header of every packet.
        header: u32 = range(0, 1024), "bytes";
        /// One reply per sector (else one per line).
        sectored_replies: bool = Flag, "";
        /// SMs that share a port: of their buffers one at a time sends a packet into the switch, in turn, and
        /// one flit per tick comes for all of them. Each has queues of its own; while one has no place for a reply, none comes
        /// for any. The last port may have fewer.
        sms_per_port: u32 = range(1, 64), "";
        /// Stores are acknowledged. Without, nothing comes back for them: to its warp a store is done, for fences and
        /// at its exit, when the network has taken it from the SM; a launch still ends when all have come to L2.
        store_replies: bool = Flag, "";
    }
}

settings! {
    /// L2, for each slice.
    pub struct L2 {
        /// Slices for each memory channel.
        slices_per_channel: u32 = power_of_two(1, 16), "";
        /// Sets of a slice.
        sets: u32 = power_of_two(1, 1 << 16), "";
        /// Line size.
        line: u32 = power_of_two(32, 256), "bytes";
        /// Sector size: what is fetched and written back at once. As large as a line for none.
        sector: u32 = power_of_two(32, 256), "bytes";
        /// Ways.
        ways: u32 = range(1, 1024), "";
        /// Sectors that may be missing at once.
        mshrs: u32 = range(1, 1 << 16), "";
        /// Requests that may wait for each missing sector.
        merges: u32 = range(1, 1 << 16), "requests";
        /// Requests waiting for DRAM.
        miss_queue: u32 = range(1, 1 << 16), "requests";
        /// Entries of the queues between network, L2 and DRAM.
        queue: u32 = range(1, 1 << 16), "requests";
        /// Partial stores to a sector add up: once all its bytes are written it can be read. The
        /// reference's artifact (false): a store makes a sector readable only by itself.
        partial_stores_add_up: bool = Flag, "";
        /// The reference's artifact: a store of 64 bytes to the upper half of a line says of no
        /// byte that it writes it.
        upper_half_stores_lose_mask: bool = Flag, "";
        /// Time that a request waits at the partition before the L2 sees it.
        latency: u32 = range(0, 10_000), "cycles";
    } with {
        /// Which line of a slice makes room for another.
        replacement: Choice;
    }
}

settings! {
    /// DRAM.
    pub struct Dram {
        /// Channels.
        channels: u32 = range(1, 64), "";
        /// `gddr` models banks and rows; `simple` a latency and a bandwidth.
        model: DramModel = Words(&["gddr", "simple"]), "";
        /// Time before a request reaches the DRAM's queue.
        latency: u32 = range(0, 10_000), "cycles";
        /// Entries of a channel's queue.
        queue: u32 = range(1, 1 << 16), "requests";
        /// Banks of a channel.
        banks: u32 = power_of_two(1, 64), "";
        /// Groups that they form.
        bank_groups: u32 = power_of_two(1, 64), "";
        /// Bits of a bank's number that name its group.
        group_bits: GroupBits = Words(GROUP_BITS), "";
        /// Size of a burst.
        burst_bytes: u32 = power_of_two(8, 1024), "bytes";
        /// Time that a burst takes on the bus.
        burst_clocks: u32 = range(1, 1000), "DRAM clocks";
        /// Size of a row.
        row_bytes: u32 = power_of_two(8, 1 << 20), "bytes";
        /// Interleaving of channels.
        interleave: u32 = power_of_two(128, 1 << 20), "bytes";
        /// DRAM clocks that fall within a core cycle come after what the rest of the GPU does in
        /// it, as on the reference; else before.
        after_core: bool = Flag, "";
        /// A sector is back at its slice a clock after its burst begins, as on the reference; else
        /// when the burst has ended.
        returns_early: bool = Flag, "";
        /// An activate or a precharge of a bank does not keep those behind it from a column command
        /// in the same clock, and only such commands pass the banks' round on, as on the
        /// reference; else one command goes out per clock, columns first, and each passes it on.
        row_beside_column: bool = Flag, "";
        /// Bandwidth of the simple model per core cycle.
        simple_bytes_per_cycle: u32 = range(0, 1 << 16), "bytes";
    } with {
        /// Timing in DRAM clocks.
        timing: DramTiming;
    }
}

/// DRAM models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum DramModel {
    Gddr,
    Simple,
}

/// Which bits of a bank's number name its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupBits {
    /// The lowest: neighbours are in different groups.
    Low,
    /// The highest: neighbours are in one group.
    High,
}

const GROUP_BITS: &[&str] = &["low", "high"];

settings! {
    /// DRAM timing.
    pub struct DramTiming {
        /// Between column commands to different bank groups.
        ccd: u32 = range(0, 1000), "DRAM clocks";
        /// Between column commands to the same bank group.
        ccdl: u32 = range(0, 1000), "DRAM clocks";
        /// Between activations of different banks.
        rrd: u32 = range(0, 1000), "DRAM clocks";
        /// From an activation to the first column command.
        rcd: u32 = range(0, 1000), "DRAM clocks";
        /// From an activation to the precharge.
        ras: u32 = range(0, 1000), "DRAM clocks";
        /// From a precharge to the next activation.
        rp: u32 = range(0, 1000), "DRAM clocks";
        /// Between activations of the same bank.
        rc: u32 = range(0, 1000), "DRAM clocks";
        /// From a read to its data.
        cl: u32 = range(0, 1000), "DRAM clocks";
        /// From a write to its data.
        wl: u32 = range(0, 1000), "DRAM clocks";
        /// From the end of a write's data to a read.
        cdlr: u32 = range(0, 1000), "DRAM clocks";
        /// From the end of a write's data to the precharge.
        wr: u32 = range(0, 1000), "DRAM clocks";
        /// From a read to a precharge in the same bank group.
        rtpl: u32 = range(0, 1000), "DRAM clocks";
    }
}
