//! The typed machine description. Every field is required in the base preset `gtx480`;
//! other presets say what differs.

use serde::{Deserialize, Serialize};

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Format version, 1.
    pub schema: u32,
    /// Preset name.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Whole-GPU settings.
    pub gpu: Gpu,
    /// The SM's size and pipeline.
    pub sm: Sm,
    /// Instruction fetch.
    pub fetch: Fetch,
    /// Operand collection.
    pub collector: Collector,
    /// Latency and initiation interval by operation class.
    pub latency: Latency,
    /// Shared memory.
    pub shared: Shared,
    /// L1 data cache.
    pub l1d: Cache,
    /// L1 instruction cache.
    pub l1i: Cache,
    /// Constant cache (also kernel parameters).
    pub constant: Cache,
    /// Texture cache.
    pub texture: Cache,
    /// Interconnect.
    pub interconnect: Interconnect,
    /// L2 cache (one slice).
    pub l2: L2,
    /// DRAM.
    pub dram: Dram,
}

/// Whole-GPU settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Core clock in MHz.
    pub core_mhz: u32,
    /// Interconnect clock in MHz.
    pub interconnect_mhz: u32,
    /// L2 clock in MHz.
    pub l2_mhz: u32,
    /// DRAM command clock in MHz.
    pub dram_mhz: u32,
    /// Cycles that SMs run between exchanges with the memory side and the dispatcher; at
    /// most the shortest latency between them.
    pub quantum: u32,
    /// Invalidate L1 data caches when an SM has run out of threads.
    pub flush_l1_when_idle: bool,
    /// Invalidate L2 between kernels.
    pub flush_l2_between_kernels: bool,
    /// Host-to-device copies leave their data in L2 as far as it fits.
    pub copies_warm_l2: bool,
    /// Blocks an SM may hold are also limited to ceil(grid / SMs).
    pub spread_blocks: bool,
}

/// SM size and issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    /// Resident blocks.
    pub max_blocks: u32,
    /// Resident threads.
    pub max_threads: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Register allocation granularity for each thread.
    pub register_granularity: u32,
    /// Registers a thread can name.
    pub registers_per_thread: u32,
    /// A kernel that needs more registers than it may have keeps the rest in local memory (else
    /// that costs nothing).
    pub spills: bool,
    /// Hardware warp width: 4, 8, 16 or 32. Narrow warps cut the lanes into slices.
    pub warp_width: u32,
    /// Lanes that execute in one cycle; an instruction holds its issue slot
    /// ceil(warp width / SIMD width) cycles.
    pub simd_width: u32,
    /// Warp schedulers; warp w belongs to scheduler w modulo this. With narrow warps each
    /// slice has its own scheduler and this is the number for each slice.
    pub schedulers: u32,
    /// Issue policy name.
    pub scheduler: String,
    /// Active warps of the two-level scheduler, for each scheduler.
    pub tls_active: u32,
    /// Which of two blocks of the same rank a policy that ranks blocks takes first.
    pub block_ties: BlockTies,
    /// Most waiting first: finished warps count as waiting, at their block's end.
    pub mwf_counts_exited: bool,
    /// Divergence model name.
    pub divergence: String,
    /// Thread block compaction forms new warps (else threads stay in their static warps).
    pub tbc_compaction: bool,
    /// Scoreboard: `registers` or `one-in-flight`.
    pub scoreboard: Scoreboard,
    /// SP units.
    pub sp_units: u32,
    /// Special function units.
    pub sfu_units: u32,
    /// Integer, floating-point, special and memory operations share one pipeline.
    pub unified_pipeline: bool,
    /// Double precision runs on the SFU (else on SP).
    pub fp64_on_sfu: bool,
    /// Result buses shared by the ALU pipelines.
    pub result_buses: u32,
    /// An atomic keeps its warp from issuing until it returns.
    pub atomics_block_warp: bool,
    /// The reference's artifact: atomics do not wait for their address register.
    pub atomics_ignore_address_hazard: bool,
}

/// Which of two blocks of the same rank goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockTies {
    /// The one that came to the SM first.
    Age,
    /// The one in the lower block slot.
    Slot,
}

/// Scoreboard settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Scoreboard {
    Registers,
    OneInFlight,
}

/// Instruction supply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// Fetch policy name.
    pub policy: String,
    /// Fetches a cycle.
    pub ports: u32,
    /// Decoded instructions a warp can hold.
    pub buffer: u32,
    /// Instructions a fetch brings.
    pub width: u32,
    /// When a warp may be fetched for: its buffer is empty, or has room for an instruction.
    pub eligible: Eligible,
    /// Whether critical fetch first ever fetches for a warp at a barrier.
    pub cff_waiters: CffWaiters,
    /// Always hits; fetch, decode and issue in one cycle.
    pub ideal: bool,
    /// Fetch waits until a branch has left the pipeline (else the wrong path is flushed).
    pub wait_for_branch: bool,
    /// The reference's artifacts of memory layout: kernels lie back to back in instruction
    /// memory instead of each starting a line, and parameters of every launch at one constant
    /// address instead of each at its own.
    pub kernels_back_to_back: bool,
}

/// When a warp may be fetched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Eligible {
    Empty,
    Room,
}

/// Whether critical fetch first ever fetches for a warp at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CffWaiters {
    /// Only once its barrier has opened.
    Never,
    /// When no other warp wants the port.
    Last,
}

/// Operand collectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collector {
    /// Operands are there at once; no structural hazards.
    pub ideal: bool,
    /// Collector units of SP, SFU and memory.
    pub sp_units: u32,
    #[allow(missing_docs)]
    pub sfu_units: u32,
    #[allow(missing_docs)]
    pub mem_units: u32,
    /// Instructions that enter and leave the SP collectors a cycle.
    pub sp_ports: u32,
    #[allow(missing_docs)]
    pub sfu_ports: u32,
    #[allow(missing_docs)]
    pub mem_ports: u32,
    /// Register-file banks.
    pub banks: u32,
}

/// Latency `[L, II]` by operation class, in core cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Latency {
    pub int_add: [u32; 2],
    pub int_minmax: [u32; 2],
    pub int_mul: [u32; 2],
    pub int_mad: [u32; 2],
    pub int_div: [u32; 2],
    pub int_rem: [u32; 2],
    pub fp32_add: [u32; 2],
    pub fp32_minmax: [u32; 2],
    pub fp32_mul: [u32; 2],
    pub fp32_mad: [u32; 2],
    pub fp32_fma: [u32; 2],
    pub fp32_div: [u32; 2],
    pub fp64_add: [u32; 2],
    pub fp64_minmax: [u32; 2],
    pub fp64_mul: [u32; 2],
    pub fp64_mad: [u32; 2],
    pub fp64_fma: [u32; 2],
    pub fp64_div: [u32; 2],
    pub sfu: [u32; 2],
    pub other: [u32; 2],
    /// Whether remainder runs on the SFU with division (else on SP, the artifact).
    pub rem_on_sfu: bool,
    /// Whether double-precision fma runs where other double precision does (else on SP, the
    /// artifact).
    pub fp64_fma_on_sfu: bool,
}

/// Shared memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Bytes an SM.
    pub bytes: u32,
    /// Banks of 4 bytes.
    pub banks: u32,
    /// Pipeline stages of a load.
    pub latency: u32,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// 0 switches the cache off: everything goes on to L2.
    pub sets: u32,
    /// Bytes a line.
    pub line: u32,
    /// Ways.
    pub ways: u32,
    /// Hashed set index (the GTX 480's L1D).
    pub hashed_index: bool,
    /// Misses outstanding, and requests merged in each.
    pub mshrs: u32,
    #[allow(missing_docs)]
    pub merges: u32,
    /// Requests waiting to leave.
    pub miss_queue: u32,
    /// Cycles from access to lookup.
    pub latency: u32,
    /// What a global store does on a hit.
    pub global_write: WritePolicy,
    /// What a local store does.
    pub local_write: WritePolicy,
}

/// Write policy of an L1 data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum WritePolicy {
    WriteEvict,
    WriteThrough,
    WriteBack,
    ReadOnly,
}

/// Crossbar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    /// Steps one way for a one-flit packet.
    pub latency: u32,
    /// Bytes a flit.
    pub flit: u32,
    /// Flits an injection queue holds.
    pub injection_queue: u32,
    /// Packets an SM's reply queue holds.
    pub reply_queue: u32,
    /// Header bytes of every packet.
    pub header: u32,
    /// Replies come a sector each (else a line each).
    pub sectored_replies: bool,
}

/// L2, for each slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Slices for each memory channel.
    pub slices_per_channel: u32,
    /// Sets of a slice.
    pub sets: u32,
    /// Bytes a line.
    pub line: u32,
    /// Bytes a sector.
    pub sector: u32,
    /// Ways.
    pub ways: u32,
    /// Misses outstanding, and requests merged in each.
    pub mshrs: u32,
    #[allow(missing_docs)]
    pub merges: u32,
    /// Requests waiting for DRAM.
    pub miss_queue: u32,
    /// Entries of the queues between network, L2 and DRAM.
    pub queue: u32,
    /// Cycles a request waits at the partition before the L2 sees it.
    pub latency: u32,
}

/// DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Channels.
    pub channels: u32,
    /// `gddr` models banks and rows; `simple` a latency and a bandwidth.
    pub model: DramModel,
    /// Cycles before a request reaches the DRAM's queue.
    pub latency: u32,
    /// Entries of a channel's queue.
    pub queue: u32,
    /// Banks of a channel, in groups.
    pub banks: u32,
    #[allow(missing_docs)]
    pub bank_groups: u32,
    /// Bytes a burst moves.
    pub burst_bytes: u32,
    /// DRAM clocks a burst takes on the bus.
    pub burst_clocks: u32,
    /// Bytes of a row.
    pub row_bytes: u32,
    /// Interleaving of channels in bytes.
    pub interleave: u32,
    /// Bytes a core cycle of the simple model.
    pub simple_bytes_per_cycle: u32,
    /// Timing in DRAM clocks.
    pub timing: DramTiming,
}

/// DRAM models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum DramModel {
    Gddr,
    Simple,
}

/// DRAM timing in DRAM clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct DramTiming {
    pub ccd: u32,
    pub ccdl: u32,
    pub rrd: u32,
    pub rcd: u32,
    pub ras: u32,
    pub rp: u32,
    pub rc: u32,
    pub cl: u32,
    pub wl: u32,
    pub cdlr: u32,
    pub wr: u32,
    pub rtpl: u32,
}

impl Machine {
    /// Cycles an instruction holds its issue slot: how often the lanes are used for one warp.
    pub fn passes(&self) -> u32 {
        self.sm
            .warp_width
            .div_ceil(self.sm.simd_width.max(1))
            .max(1)
    }
}
