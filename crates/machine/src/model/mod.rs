//! The typed machine description, with what each setting may be declared beside it. Every
//! setting is required in the base preset `gtx480`; other presets say what differs. Parameters
//! of mechanisms are not here: each mechanism declares its own, and a [`Choice`] holds them.

pub(crate) mod class;
pub(crate) mod energy;
mod gpu;
mod memory;
pub mod rule;
pub mod settings;
mod sm;
mod units;
pub(crate) mod work;

use crate::mechanism::Choice;
use class::OpClass;
use energy::{Energy, WorkEnergy};
pub use gpu::{Gpu, NextTid, Virtual, VirtualMode};
pub use memory::{
    Cache, DataCache, Dram, DramModel, DramTiming, GroupBits, Interconnect, L2, Shared, WritePolicy,
};
use serde::{Deserialize, Serialize};
use settings::Setting;
pub use sm::{Collector, Eligible, Fetch, Per, Refill, Scoreboard, Sm};
use std::collections::BTreeMap;
pub use units::{Entrances, Latency, Pipes, Unit};

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
    pub fn own_unit_of(&self, class: OpClass) -> Option<&Unit> {
        self.unit.values().find(|u| u.takes.contains(&class))
    }
}
