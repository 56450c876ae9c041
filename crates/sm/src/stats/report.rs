//! Statistics of a launch and of a whole run, as data and as JSON.

use super::decl::{StatInfo, Visit};
use super::energy::{self, EnergyCounters};
use super::memory::MemoryCounters;
use super::power::PipeCounters;
use super::sm::{SchedulerState, SchedulerStates, SmCounters, SmStats, WarpState, WarpStates};
use serde_json::{Map, Value, json};

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchReport {
    /// Kernel.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Registers a thread that occupancy was computed with.
    pub registers: u32,
    /// Shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Blocks an SM could hold.
    pub blocks_per_sm: u32,
    /// What limits that.
    pub limited_by: String,
    /// Launches that it is about: 1, or all further ones of a kernel.
    pub launches: u64,
    /// Virtual blocks that ran for those of the grid, if they did.
    pub virtual_blocks: Option<u64>,
    /// The counts.
    pub totals: Totals,
}

/// Counts of a launch or a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Core cycles.
    pub cycles: u64,
    /// SMs of the machine.
    pub sms: u64,
    /// Warps an SM can hold.
    pub max_warps: u64,
    /// All SMs together.
    pub sm: SmStats,
    /// Interconnect, L2 and DRAM.
    pub memory: MemoryCounters,
    /// DRAM clocks times channels: what `dram_busy_clocks` is a share of.
    pub dram_clocks: u64,
    /// Most entries of any reconvergence stack.
    pub deepest_stack: u64,
    /// Where the energy went.
    pub energy: EnergyCounters,
    /// Core clock in MHz.
    pub core_mhz: u64,
}

/// How fast the simulation itself ran; apart from everything simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostStats {
    /// Wall-clock seconds spent simulating.
    pub seconds: f64,
}

/// Name, unit and meaning of a derived value, with how to compute it.
type Derived = (StatInfo, fn(&Totals) -> f64);

/// Values computed from counters.
const DERIVED: &[Derived] = &[
    (
        stat(
            "ipc",
            "instructions/cycle",
            "thread instructions per cycle, whole GPU",
        ),
        |t| ratio(t.sm.counters.thread_instructions, t.cycles),
    ),
    (
        stat(
            "warp_ipc",
            "instructions/cycle",
            "warp instructions per cycle, whole GPU",
        ),
        |t| ratio(t.sm.counters.warp_instructions, t.cycles),
    ),
    (
        stat(
            "simd_efficiency",
            "fraction",
            "active lanes over 32, on issues, before the guard",
        ),
        |t| {
            ratio(
                t.sm.counters.active_lanes,
                32 * t.sm.counters.warp_instructions,
            )
        },
    ),
    (
        stat(
            "simd_efficiency_guarded",
            "fraction",
            "executing lanes over 32, on issues",
        ),
        |t| {
            ratio(
                t.sm.counters.thread_instructions,
                32 * t.sm.counters.warp_instructions,
            )
        },
    ),
    (
        stat(
            "lanes_per_issue_cycle",
            "lanes",
            "active lanes of all warps that issue in a cycle, over cycles in which any does",
        ),
        |t| ratio(t.sm.counters.active_lanes, t.sm.counters.issue_cycles),
    ),
    (
        stat(
            "fetches_per_cycle",
            "fetches/cycle",
            "instruction fetches per cycle, whole GPU; one for a gang is one",
        ),
        |t| ratio(t.sm.counters.fetches, t.cycles),
    ),
    (
        stat(
            "occupancy",
            "fraction",
            "resident warps over what SMs hold, while they have any",
        ),
        |t| {
            ratio(
                t.sm.counters.warp_cycles,
                t.sm.counters.active_cycles * t.max_warps,
            )
        },
    ),
    (
        stat(
            "stall_cycles",
            "scheduler-cycles",
            "cycles in which a scheduler issued nothing, whatever the reason",
        ),
        |t| {
            let issued = t.sm.schedulers.get(SchedulerState::Issued);
            (t.sm.counters.scheduler_cycles - issued) as f64
        },
    ),
    (
        stat(
            "dwr",
            "fraction",
            "divergent warp region: share of a block's time in which a warp has finished and another not",
        ),
        |t| millionths(t.sm.counters.dwr_sum, t.sm.counters.uneven_blocks),
    ),
    (
        stat(
            "dws",
            "fraction",
            "share of the stalls in a block's time that are in its divergent warp region",
        ),
        |t| millionths(t.sm.counters.dws_sum, t.sm.counters.uneven_blocks),
    ),
    (
        stat(
            "l1d_hit_rate",
            "fraction",
            "L1 data-cache load hits over lookups",
        ),
        |t| ratio(t.sm.counters.l1d_hits, t.sm.counters.l1d_reads),
    ),
    (
        stat("l2_hit_rate", "fraction", "L2 hits over accesses"),
        |t| ratio(t.memory.l2_hits, t.memory.l2_accesses),
    ),
    (
        stat(
            "transactions_per_load",
            "transactions",
            "accesses a global load makes",
        ),
        |t| {
            ratio(
                t.sm.counters.global_load_transactions,
                t.sm.counters.global_loads,
            )
        },
    ),
    (
        stat(
            "transactions_per_store",
            "transactions",
            "accesses a global store makes",
        ),
        |t| {
            ratio(
                t.sm.counters.global_store_transactions,
                t.sm.counters.global_stores,
            )
        },
    ),
    (
        stat(
            "bank_cycles_per_shared",
            "cycles",
            "bank cycles a shared access takes; 1 is no conflict",
        ),
        |t| {
            ratio(
                t.sm.counters.shared_bank_cycles,
                t.sm.counters.shared_requests,
            )
        },
    ),
    (
        stat(
            "dram_row_hit_rate",
            "fraction",
            "DRAM requests that found their row open",
        ),
        |t| {
            ratio(
                t.memory.dram_row_hits,
                t.memory.dram_row_hits + t.memory.dram_row_misses,
            )
        },
    ),
    (
        stat(
            "dram_utilisation",
            "fraction",
            "share of DRAM clocks with data on the bus",
        ),
        |t| ratio(t.memory.dram_busy_clocks, t.dram_clocks),
    ),
    (
        stat("barrier_share", "fraction", "warp-cycles spent at barriers"),
        |t| of_warps(t, &[WarpState::Barrier]),
    ),
    (
        stat(
            "barrier_exit_share",
            "fraction",
            "warp-cycles spent at barriers, or finished and waiting for siblings to finish",
        ),
        |t| of_warps(t, &[WarpState::Barrier, WarpState::ExitSiblings]),
    ),
    (
        stat(
            "fetch_share",
            "fraction",
            "warp-cycles spent waiting for instructions",
        ),
        |t| of_warps(t, &[WarpState::Fetch]),
    ),
    (
        stat(
            "control_share",
            "fraction",
            "warp-cycles spent waiting for branches, or for siblings in a divergence model",
        ),
        |t| of_warps(t, &[WarpState::Control]),
    ),
    (
        stat(
            "data_share",
            "fraction",
            "warp-cycles spent waiting for results of memory or arithmetic",
        ),
        |t| of_warps(t, &[WarpState::DataMemory, WarpState::DataAlu]),
    ),
    (
        stat(
            "structural_share",
            "fraction",
            "warp-cycles spent waiting for an issue slot, a collector, a unit or a queue",
        ),
        |t| of_warps(t, &[WarpState::Structural]),
    ),
    (
        stat(
            "first_barrier_share",
            "fraction",
            "scheduler-cycles without an issue in which the warp ranked first waits at a barrier",
        ),
        |t| of_schedulers(t, &[SchedulerState::Barrier]),
    ),
    (
        stat(
            "first_fetch_share",
            "fraction",
            "scheduler-cycles without an issue in which the warp ranked first waits for instructions",
        ),
        |t| of_schedulers(t, &[SchedulerState::Fetch]),
    ),
    (
        stat(
            "first_control_share",
            "fraction",
            "scheduler-cycles without an issue in which the warp ranked first waits for a branch",
        ),
        |t| of_schedulers(t, &[SchedulerState::Control]),
    ),
    (
        stat(
            "first_data_share",
            "fraction",
            "scheduler-cycles without an issue in which the warp ranked first waits for results of memory or arithmetic",
        ),
        |t| of_schedulers(t, &[SchedulerState::DataMemory, SchedulerState::DataAlu]),
    ),
    (
        stat(
            "first_structural_share",
            "fraction",
            "scheduler-cycles without an issue in which the warp ranked first waits for a collector, a unit or a queue",
        ),
        |t| of_schedulers(t, &[SchedulerState::Structural]),
    ),
    (
        stat(
            "rtru",
            "fraction",
            "time in which warps of a phase wait for its last warp, over the phase's time and warps; mean of all phases",
        ),
        |t| {
            ratio(
                t.sm.counters.phase_imbalance,
                t.sm.counters.phases * 1_000_000,
            )
        },
    ),
];

const fn stat(name: &'static str, unit: &'static str, description: &'static str) -> StatInfo {
    StatInfo {
        name,
        unit,
        description,
    }
}

/// Share of warps' time in these states: it does not depend on how a scheduler ranks its warps.
fn of_warps(t: &Totals, states: &[WarpState]) -> f64 {
    let time = states.iter().map(|state| t.sm.warps.get(*state)).sum();
    ratio(time, t.sm.counters.warp_cycles)
}

/// Share of schedulers' time in these states, which are those of the warps that they rank first.
fn of_schedulers(t: &Totals, states: &[SchedulerState]) -> f64 {
    let time = states.iter().map(|state| t.sm.schedulers.get(*state)).sum();
    ratio(time, t.sm.counters.scheduler_cycles)
}

fn millionths(sum: u64, count: u64) -> f64 {
    ratio(sum, count * 1_000_000)
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// Derived values are written with six decimals, everywhere.
fn rounded(value: f64) -> Value {
    json!((value * 1e6).round() / 1e6)
}

impl Totals {
    /// Adds the counts of another launch.
    pub fn add(&mut self, other: &Totals) {
        self.cycles += other.cycles;
        self.sms = other.sms;
        self.max_warps = other.max_warps;
        self.sm.add(&other.sm);
        self.memory.add(&other.memory);
        self.dram_clocks += other.dram_clocks;
        self.deepest_stack = self.deepest_stack.max(other.deepest_stack);
        self.energy.add(&other.energy);
        self.core_mhz = other.core_mhz;
    }

    /// Seconds that it took, on the machine.
    pub fn seconds(&self) -> f64 {
        self.cycles as f64 / (self.core_mhz.max(1) as f64 * 1e6)
    }

    /// Average power in watts.
    pub fn average_power(&self) -> f64 {
        match self.cycles {
            0 => 0.0,
            _ => self.energy.total() as f64 * 1e-12 / self.seconds(),
        }
    }

    /// The energy ledger as JSON, with what is derived from it.
    fn energy_json(&self) -> Value {
        let Value::Object(mut map) = table(&self.energy) else {
            return Value::Null;
        };
        let total = self.energy.total();
        let derived = [
            json!(total),
            json!(self.energy.execution()),
            rounded(self.average_power()),
            rounded(total as f64 * 1e-3 * self.seconds()),
            rounded(ratio(total, self.sm.counters.thread_instructions)),
        ];
        for (info, value) in energy::DERIVED.iter().zip(derived) {
            map.insert(info.name.into(), value);
        }
        Value::Object(map)
    }

    /// A derived value by name.
    pub fn derived(&self, name: &str) -> Option<f64> {
        DERIVED
            .iter()
            .find(|(info, _)| info.name == name)
            .map(|(_, f)| f(self))
    }

    /// Everything as JSON: plain counters, derived values, and the two state tables.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("cycles".into(), json!(self.cycles));
        self.sm.counters.visit(&mut |info, n| {
            map.insert(info.name.into(), json!(n));
        });
        self.memory.visit(&mut |info, n| {
            map.insert(info.name.into(), json!(n));
        });
        map.insert("deepest_stack".into(), json!(self.deepest_stack));
        for (info, f) in DERIVED {
            map.insert(info.name.into(), rounded(f(self)));
        }
        map.insert("warp_states".into(), table(&self.sm.warps));
        map.insert("scheduler_states".into(), table(&self.sm.schedulers));
        map.insert("int_pipe".into(), table(&self.sm.int_pipe));
        map.insert("fp_pipe".into(), table(&self.sm.fp_pipe));
        map.insert("energy".into(), self.energy_json());
        Value::Object(map)
    }
}

fn table(states: &impl Visit) -> Value {
    let mut map = Map::new();
    states.visit(&mut |info, n| {
        map.insert(info.name.into(), json!(n));
    });
    Value::Object(map)
}

impl LaunchReport {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let mut all = json!({
            "kernel": self.kernel,
            "grid": self.grid,
            "block": self.block,
            "registers": self.registers,
            "shared_bytes": self.shared_bytes,
            "blocks_per_sm": self.blocks_per_sm,
            "limited_by": self.limited_by,
            "stats": self.totals.to_json(),
        });
        if self.launches > 1 {
            all["launches"] = json!(self.launches);
        }
        if let Some(blocks) = self.virtual_blocks {
            all["virtual_blocks"] = json!(blocks);
        }
        all
    }
}

impl SmStats {
    /// Adds the counts of another SM or launch.
    pub fn add(&mut self, other: &SmStats) {
        self.counters.add(&other.counters);
        self.warps.add(&other.warps);
        self.schedulers.add(&other.schedulers);
        self.int_pipe.add(&other.int_pipe);
        self.fp_pipe.add(&other.fp_pipe);
        self.work.add(&other.work);
    }
}

/// Every statistic there is: group and declaration, for `warpsim list stats`.
pub fn all_statistics() -> Vec<(&'static str, StatInfo)> {
    let mut all = vec![
        (
            "totals",
            stat(
                "cycles",
                "cycles",
                "core cycles from launch to the last store's arrival",
            ),
        ),
        (
            "totals",
            stat(
                "deepest_stack",
                "entries",
                "most entries of any reconvergence stack, the running one included",
            ),
        ),
    ];
    fn group(all: &mut Vec<(&'static str, StatInfo)>, name: &'static str, of: &impl Visit) {
        of.visit(&mut |info, _| all.push((name, info)));
    }
    group(&mut all, "totals", &SmCounters::default());
    group(&mut all, "totals", &MemoryCounters::default());
    all.extend(DERIVED.iter().map(|(info, _)| ("totals", *info)));
    group(&mut all, "totals.warp_states", &WarpStates::default());
    group(
        &mut all,
        "totals.scheduler_states",
        &SchedulerStates::default(),
    );
    group(&mut all, "totals.int_pipe", &PipeCounters::default());
    group(&mut all, "totals.fp_pipe", &PipeCounters::default());
    group(&mut all, "totals.energy", &EnergyCounters::default());
    all.extend(energy::DERIVED.iter().map(|info| ("totals.energy", *info)));
    all
}
