//! Settings of an SM's size and pipeline, of fetch and of operand collection.

use super::rule::Rule::{Flag, Words};
use super::rule::{multiple_of, power_of_two, range};
use super::settings::settings;
use crate::mechanism::Choice;
use serde::{Deserialize, Serialize};

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
        /// Constants and kernel parameters are operands of the instructions that read them, as in a native instruction
        /// set. A load of one from an address that it names (a name and an offset: the same for all threads) then
        /// takes the fetch and the issue slot that a move takes, where a move has room, and nothing else: it does not go to
        /// the load/store unit, and what reads the value can issue in the next cycle. It is looked up in the
        /// constant cache when it issues; if its line is not there, it waits for that as any load, through the
        /// load/store unit. Loads whose address is in a register stay loads. Otherwise all of them are loads.
        constant_operands: bool = Flag, "";
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
        /// not had its turn, as on the reference; else in the next. Not under a policy that plans what all
        /// schedulers issue together.
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
        /// What becomes of the warp that waited when its line comes. `install`: it takes a port in that cycle,
        /// past the fetch policy. `refetch`: its wait is over, one warp's per cycle; from the next cycle on it may win the fetch
        /// policy again, and miss again (`l1i.ways` must be twice `l1i.mshrs`, or lines could be replaced before they are read).
        refill: Refill = Words(&["install", "refetch"]), "";
        /// Always hits; fetch, decode and issue in one cycle.
        ideal: bool = Flag, "";
        /// Fetch waits until a branch has left the pipeline (else the wrong path is flushed).
        wait_for_branch: bool = Flag, "";
        /// Fetch knows where branches go, as it does where a trace is replayed: what comes behind a taken
        /// branch is fetched as what comes behind any other instruction, and nothing on a wrong path.
        oracle: bool = Flag, "";
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

pub(super) const PER: super::rule::Rule = Words(&["sm", "slice", "scheduler"]);

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

/// What a line of the instruction cache that comes does for the warp that waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Refill {
    Install,
    Refetch,
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
