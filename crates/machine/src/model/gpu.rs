//! Settings of the whole GPU, and of virtual thread blocks.

use super::rule::Rule::{Flag, Words};
use super::rule::range;
use super::settings::settings;
use serde::{Deserialize, Serialize};

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
        /// are seen when L2 serves them, or earlier by less than that. Launches whose arrays are either read
        /// or written, so that no SM looks for stores, show them 64 times less often.
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

/// Which thread indices a warp takes in its next iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextTid {
    /// Those it has.
    SameLane,
    /// Those of the warp that is as slow as it was quick.
    SlowestLane,
    /// The lowest that are left.
    LowToHigh,
}
