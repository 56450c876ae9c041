//! The typed machine description, with what each setting may be declared beside it. Every
//! setting is required in the base preset `gtx480`; other presets say what differs. Parameters
//! of mechanisms are not here: each mechanism declares its own, and a [`Choice`] holds them.

pub(crate) mod class;
pub(crate) mod energy;
pub mod rule;
pub mod settings;
pub(crate) mod work;

use crate::exec::iterations::NextTid;
use crate::mechanism::Choice;
use class::OpClass;
use energy::{Energy, WorkEnergy};
use rule::Rule::{Flag, Several, Timing, Words};
use rule::{multiple_of, power_of_two, power_of_two_or_zero, range};
use serde::{Deserialize, Serialize};
use settings::{Setting, settings};
use std::collections::BTreeMap;
use work::Work;

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
    /// Issue policy.
    pub scheduler: Choice,
    /// Divergence model.
    pub divergence: Choice,
    /// When lanes are switched off.
    pub gating: Choice,
    /// When warps are issued as two halves.
    pub folding: Choice,
    /// Instruction fetch.
    pub fetch: Fetch,
    /// Operand collection.
    pub collector: Collector,
    /// Execution units by name.
    pub unit: BTreeMap<String, Unit>,
    /// The two pipelines of each lane.
    pub pipes: Pipes,
    /// Latency and initiation interval by operation class.
    pub latency: Latency,
    /// Shared memory.
    pub shared: Shared,
    /// L1 data cache.
    pub l1d: DataCache,
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
    /// Virtual thread blocks.
    #[serde(rename = "virtual")]
    pub virtual_blocks: Virtual,
    /// What events and leaking circuits cost.
    pub energy: Energy,
}

/// The sections of a machine with their settings.
pub const SECTIONS: &[(&str, &[Setting])] = &[
    ("gpu", Gpu::SETTINGS),
    ("sm", Sm::SETTINGS),
    ("fetch", Fetch::SETTINGS),
    ("collector", Collector::SETTINGS),
    ("unit.sp", Unit::SETTINGS),
    ("unit.sfu", Unit::SETTINGS),
    ("unit.mem", Unit::SETTINGS),
    ("pipes", Pipes::SETTINGS),
    ("latency", Latency::SETTINGS),
    ("shared", Shared::SETTINGS),
    ("l1d", Cache::SETTINGS),
    ("l1d", DataCache::SETTINGS),
    ("l1i", Cache::SETTINGS),
    ("constant", Cache::SETTINGS),
    ("texture", Cache::SETTINGS),
    ("interconnect", Interconnect::SETTINGS),
    ("l2", L2::SETTINGS),
    ("dram", Dram::SETTINGS),
    ("dram.timing", DramTiming::SETTINGS),
    ("virtual", Virtual::SETTINGS),
    ("energy", Energy::SETTINGS),
    ("energy.work", WorkEnergy::SETTINGS),
];

settings! {
    /// Whole-GPU settings.
    pub struct Gpu {
        /// Streaming multiprocessors.
        sms: u32 = range(1, 1024), "";
        /// Core clock.
        core_mhz: u32 = range(1, 100_000), "MHz";
        /// Interconnect clock.
        interconnect_mhz: u32 = range(1, 100_000), "MHz";
        /// L2 clock.
        l2_mhz: u32 = range(1, 100_000), "MHz";
        /// DRAM command clock.
        dram_mhz: u32 = range(1, 100_000), "MHz";
        /// Time that SMs run between exchanges with the memory side and the dispatcher; at
        /// most the shortest latency between them.
        quantum: u32 = range(1, 10_000), "cycles";
        /// How often SMs come to see what the others have stored: after so many cycles, or fewer where
        /// L2 answers sooner (twice that time must be within `l2.latency`), in whole quanta. Atomics
        /// are seen when L2 serves them, or earlier by less than that.
        store_visibility: u32 = range(1, 10_000), "cycles";
        /// Invalidate L1 data caches when an SM has run out of threads.
        flush_l1_when_idle: bool = Flag, "";
        /// Invalidate L2 between kernels.
        flush_l2_between_kernels: bool = Flag, "";
        /// Host-to-device copies to buffers leave their data in L2 as far as it fits; those to
        /// `.global` and `.const` variables do not.
        copies_warm_l2: bool = Flag, "";
        /// Every launch begins with all clocks in phase with the core clock, as the reference's do;
        /// else they run on from launch to launch.
        launches_restart_clocks: bool = Flag, "";
    }
}

settings! {
    /// Virtual thread blocks and warps.
    pub struct Virtual {
        /// Kernels are rewritten so that their blocks run for several blocks of the grid: not at
        /// all, by a stride in software, or as the hardware hands them out.
        mode: VirtualMode = Words(&["off", "software", "hardware"]), "";
        /// Virtual blocks that are launched at most; 0 for as many as the GPU holds.
        blocks: u32 = range(0, 1 << 20), "blocks";
        /// Which thread indices a warp takes with its next block (`hardware`).
        next_tid: NextTid = Words(&["same-lane", "slowest-lane", "low-to-high"]), "";
        /// What depends on no index runs once, before the first block, as far as registers allow.
        hoist: bool = Flag, "";
        /// Least time from a request for a block to its answer; those of a quantum are answered
        /// at its end (`hardware`).
        latency: u32 = range(0, 10_000), "cycles";
    }
}

/// Whether blocks are virtual ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum VirtualMode {
    Off,
    Software,
    Hardware,
}

settings! {
    /// SM size and issue.
    pub struct Sm {
        /// Resident blocks.
        max_blocks: u32 = range(1, 64), "blocks";
        /// Resident threads.
        max_threads: u32 = multiple_of(32, 32, 2048), "threads";
        /// 32-bit registers.
        registers: u32 = range(32, 1 << 20), "";
        /// Register allocation granularity for each thread.
        register_granularity: u32 = range(1, 64), "registers";
        /// Registers a thread can name.
        registers_per_thread: u32 = range(16, 1024), "registers";
        /// A kernel that needs more registers than it may have keeps the rest in local memory
        /// (otherwise that costs nothing).
        spills: bool = Flag, "";
        /// Hardware warp width. Narrow warps cut the lanes into slices.
        warp_width: u32 = power_of_two(4, 32), "threads";
        /// Warp schedulers; warp w belongs to scheduler w modulo this. With narrow warps each
        /// slice has its own scheduler and this is the number for each slice.
        schedulers: u32 = range(1, 16), "";
        /// What keeps an instruction from issuing before its operands are there: a scoreboard
        /// of registers, or one instruction of each warp in flight.
        scoreboard: Scoreboard = Words(&["registers", "one-in-flight"]), "";
        /// Results that the pipelines of the SM may write back per cycle; those of a slice or
        /// scheduler that has its own pipelines have as many of their own.
        result_buses: u32 = range(1, 64), "";
        /// The load/store unit takes one access of all lanes per cycle: memory instructions of one
        /// kind that warps on different lanes issue in a cycle are one to it, others wait, and
        /// none issues while it has transactions left to send.
        gather_memory: bool = Flag, "";
        /// An atomic keeps its warp from issuing until it returns.
        atomics_block_warp: bool = Flag, "";
        /// A fence waits until the stores of its warp are acknowledged. The reference's artifact
        /// (false): until the registers owed to the warp are written; then the SM's data cache
        /// forgets its lines.
        fences_wait_for_stores: bool = Flag, "";
        /// The reference's artifact: atomics do not wait for their address register.
        atomics_ignore_address_hazard: bool = Flag, "";
        /// Which scheduler goes first passes on only in cycles in which the SM holds a block, as
        /// on the reference; else in every cycle.
        turns_rest: bool = Flag, "";
        /// A warp that another scheduler lets go at a barrier may issue in the same cycle if its own has
        /// not had its turn, as on the reference; else in the next.
        barriers_open_at_once: bool = Flag, "";
        /// Fences issue to the load/store unit and pass through it, as on the reference; else they go
        /// where all else goes that does not compute.
        fences_take_memory_unit: bool = Flag, "";
    }
}

/// Scoreboard settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Scoreboard {
    Registers,
    OneInFlight,
}

settings! {
    /// Instruction supply.
    pub struct Fetch {
        /// One fetch unit for the whole SM, or for each slice or scheduler.
        per: Per = PER, "";
        /// Fetches of each unit per cycle.
        ports: u32 = range(1, 16), "";
        /// Lookups in the instruction cache per cycle, which the fetch units share.
        cache_ports: u32 = range(1, 64), "";
        /// Each fetch unit's own cache, in lines of 64 bytes; 0 for none.
        l0_bytes: u32 = multiple_of(64, 0, 4096), "bytes";
        /// Decoded instructions that each warp can hold.
        buffer: u32 = range(1, 8), "instructions";
        /// Instructions that a fetch brings.
        width: u32 = range(1, 8), "instructions";
        /// When a warp may be fetched for: its buffer is empty, or has room for an instruction.
        eligible: Eligible = Words(&["empty", "room"]), "";
        /// Always hits; fetch, decode and issue in one cycle.
        ideal: bool = Flag, "";
        /// Fetch waits until a branch has left the pipeline (else the wrong path is flushed).
        wait_for_branch: bool = Flag, "";
        /// The reference's artifacts of memory layout: kernels lie back to back in instruction
        /// memory instead of each starting a line, and parameters of every launch at one
        /// constant address instead of each at its own.
        kernels_back_to_back: bool = Flag, "";
        /// The `lrr` policy of an SM that has not fetched yet begins behind its first warp slot,
        /// as on the reference; else with it.
        starts_behind_first: bool = Flag, "";
    } with {
        /// Fetch policy.
        policy: Choice;
    }
}

const PER: rule::Rule = Words(&["sm", "slice", "scheduler"]);

/// What there is one of something for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// The whole SM.
    Sm,
    /// Each slice: the lanes of a hardware warp.
    Slice,
    /// Each scheduler of each slice.
    Scheduler,
}

/// When a warp may be fetched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Eligible {
    Empty,
    Room,
}

settings! {
    /// Operand collectors.
    pub struct Collector {
        /// Operands are there at once; no structural hazards.
        ideal: bool = Flag, "";
        /// Register-file banks.
        banks: u32 = power_of_two(1, 64), "";
        /// Of collectors that are complete at the same time, those of an SM that has not run yet leave
        /// beginning behind the first, as on the reference; else with it.
        starts_behind_first: bool = Flag, "";
    }
}

settings! {
    /// Execution units of one kind, with the operand collectors before them. A class of
    /// operations is taken by one kind; a kind that takes none is not there.
    pub struct Unit {
        /// The classes of operations it takes.
        takes: Vec<OpClass> = Several(OpClass::WORDS), "";
        /// One set of these units for the whole SM, or for each slice or scheduler.
        per: Per = PER, "";
        /// Pipelines in each set.
        count: u32 = range(1, 16), "";
        /// Lanes of each pipeline: an instruction for more threads takes several passes, for which
        /// it holds its issue slot. Slices that have their own units share the lanes out.
        lanes: u32 = power_of_two(1, 32), "lanes";
        /// Operand collectors of each set.
        collectors: u32 = range(1, 64), "";
        /// Instructions that enter and leave the collectors of each set per cycle.
        ports: u32 = range(1, 16), "";
    }
}

settings! {
    /// The pipelines that each lane of a unit has: one for integers, one for floating point. What
    /// is in neither table (special functions, division, double precision, addresses) uses other
    /// circuits.
    pub struct Pipes {
        /// The work that the integer pipeline does.
        int: Vec<Work> = Several(Work::WORDS), "";
        /// The work that the floating-point pipeline does.
        fp: Vec<Work> = Several(Work::WORDS), "";
        /// Neighbouring lanes that values can be shifted between.
        cluster: u32 = power_of_two(2, 32), "lanes";
    }
}

settings! {
    /// Latency `[L, II]` by operation class.
    pub struct Latency {
        /// Integer addition and subtraction.
        int_add: [u32; 2] = Timing, "cycles";
        /// Integer minimum and maximum.
        int_minmax: [u32; 2] = Timing, "cycles";
        /// Integer multiplication.
        int_mul: [u32; 2] = Timing, "cycles";
        /// Integer multiplication with addition.
        int_mad: [u32; 2] = Timing, "cycles";
        /// Integer division.
        int_div: [u32; 2] = Timing, "cycles";
        /// Integer remainder.
        int_rem: [u32; 2] = Timing, "cycles";
        /// Single-precision addition and subtraction.
        fp32_add: [u32; 2] = Timing, "cycles";
        /// Single-precision minimum and maximum.
        fp32_minmax: [u32; 2] = Timing, "cycles";
        /// Single-precision multiplication.
        fp32_mul: [u32; 2] = Timing, "cycles";
        /// Single-precision multiplication with addition.
        fp32_mad: [u32; 2] = Timing, "cycles";
        /// Single-precision fused multiplication with addition.
        fp32_fma: [u32; 2] = Timing, "cycles";
        /// Single-precision division.
        fp32_div: [u32; 2] = Timing, "cycles";
        /// Double-precision addition and subtraction.
        fp64_add: [u32; 2] = Timing, "cycles";
        /// Double-precision minimum and maximum.
        fp64_minmax: [u32; 2] = Timing, "cycles";
        /// Double-precision multiplication.
        fp64_mul: [u32; 2] = Timing, "cycles";
        /// Double-precision multiplication with addition.
        fp64_mad: [u32; 2] = Timing, "cycles";
        /// Double-precision fused multiplication with addition.
        fp64_fma: [u32; 2] = Timing, "cycles";
        /// Double-precision division.
        fp64_div: [u32; 2] = Timing, "cycles";
        /// Special functions.
        sfu: [u32; 2] = Timing, "cycles";
        /// Everything else that computes, and control.
        other: [u32; 2] = Timing, "cycles";
        /// Products of matrices (`mma`, `wmma.mma`).
        tensor: [u32; 2] = Timing, "cycles";
    }
}

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
        /// Flits that wait at each output, before whoever takes them.
        output_buffer: u32 = range(1, 1 << 16), "flits";
        /// Steps of the switch per tick: faster than its ports, it empties the inputs into the
        /// buffers of the outputs. With several, a packet takes one step more than it has flits.
        speedup: u32 = range(1, 8), "steps";
        /// Room in the buffers is counted flit by flit, with credits that take as long as flits do, and
        /// an output is given to a packet before there is room behind it, as on the reference; else a packet
        /// goes whole as soon as there is room for a flit.
        credits: bool = Flag, "";
        /// With credits: flits between an output's buffer and whoever takes them.
        last_buffer: u32 = range(1, 1 << 16), "flits";
        /// Packets that each SM's reply queue holds.
        reply_queue: u32 = range(1, 1 << 16), "packets";
        /// Header of every packet.
        header: u32 = range(0, 1024), "bytes";
        /// One reply per sector (else one per line).
        sectored_replies: bool = Flag, "";
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
        line: u32 = power_of_two(32, 128), "bytes";
        /// Sector size.
        sector: u32 = power_of_two(32, 128), "bytes";
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

impl Machine {
    /// How often the lanes of its units are used for an instruction of this class.
    pub fn passes(&self, class: OpClass) -> u32 {
        // What is gathered from all slices is an access of up to 32 lanes.
        let gathered = self.sm.gather_memory && class == OpClass::Memory;
        let width = if gathered { 32 } else { self.sm.warp_width };
        self.unit_of(class).map_or(1, |unit| unit.passes(width))
    }

    /// The units that a class of operations goes to.
    pub fn unit_of(&self, class: OpClass) -> Option<&Unit> {
        let own = self.own_unit_of(class);
        match class {
            OpClass::Tensor => own.or_else(|| self.own_unit_of(OpClass::Fp32Fma)),
            _ => own,
        }
    }

    /// The units that say that they take a class.
    pub(crate) fn own_unit_of(&self, class: OpClass) -> Option<&Unit> {
        self.unit.values().find(|u| u.takes.contains(&class))
    }
}

impl Unit {
    /// How often its lanes are used for an instruction of a warp of `width` threads.
    fn passes(&self, width: u32) -> u32 {
        match self.per {
            Per::Slice => 32u32.div_ceil(self.lanes),
            Per::Sm | Per::Scheduler => width.div_ceil(self.lanes),
        }
    }
}
