//! What an SM counts.

use super::decl::{counters, states};
use super::energy::WorkCounters;
use super::power::PipeCounters;

states! {
    /// What a warp is doing in a cycle: exactly one of these, in every cycle from its block's
    /// arrival to its block's departure.
    pub enum WarpState counted by WarpStates in "warp-cycles" {
        Issued "issued" "issued an instruction";
        Eligible "eligible" "ready, but another warp was chosen";
        Fetch "fetch" "instruction buffer empty: not fetched yet, or instruction-cache miss";
        Control "control" "from a branch's issue to its target's arrival in the buffer; held for siblings by the divergence model";
        DataMemory "data_memory" "waits for a register owed by memory, for an atomic or at a fence";
        DataAlu "data_alu" "waits for a register owed by an ALU or SFU, or sleeps";
        Structural "structural" "its issue slot, collector, unit or load/store queue is busy";
        Barrier "barrier" "waits at a barrier";
        NextBlock "next_block" "waits for its next logical block (virtual blocks)";
        ExitStores "exit_stores" "finished; results or stores not acknowledged, or not noticed by fetch yet";
        ExitSiblings "exit_siblings" "finished, in virtual blocks a second iteration; siblings of its block still run";
    }
}

impl WarpState {
    /// Whether the time in this state belongs to the instruction that the warp issued last: at a barrier, for a branch, after
    /// the end. Otherwise it belongs to the instruction that waits to issue.
    pub fn is_of_last_issue(self) -> bool {
        matches!(
            self,
            WarpState::Issued
                | WarpState::Control
                | WarpState::Barrier
                | WarpState::NextBlock
                | WarpState::ExitStores
                | WarpState::ExitSiblings
        )
    }
}

states! {
    /// What a scheduler is doing in a cycle: issuing, or what blocks the warp it ranks first.
    pub enum SchedulerState counted by SchedulerStates in "scheduler-cycles" {
        Issued "issued" "issued an instruction";
        Fetch "fetch" "the warp ranked first waits for instructions";
        Control "control" "the warp ranked first waits for a branch";
        DataMemory "data_memory" "the warp ranked first waits for memory";
        DataAlu "data_alu" "the warp ranked first waits for an ALU or SFU result";
        Structural "structural" "the warp ranked first waits for a collector, unit or queue";
        Barrier "barrier" "the warp ranked first waits at a barrier";
        Exit "exit" "all its warps have finished, or the one ranked first waits for its next logical block";
        Idle "idle" "has no warps";
    }
}

counters! {
    /// Counters of an SM.
    pub struct SmCounters {
        warp_instructions: "instructions", "warp instructions issued";
        thread_instructions: "instructions", "thread instructions: lanes whose guard was true";
        active_lanes: "lanes", "active lanes of issued instructions, before the guard";
        issue_cycles: "cycles", "SM-cycles in which a warp issued";
        lanes_1_4: "instructions", "issued with 1 to 4 active lanes";
        lanes_5_8: "instructions", "issued with 5 to 8 active lanes";
        lanes_9_12: "instructions", "issued with 9 to 12 active lanes";
        lanes_13_16: "instructions", "issued with 13 to 16 active lanes";
        lanes_17_20: "instructions", "issued with 17 to 20 active lanes";
        lanes_21_24: "instructions", "issued with 21 to 24 active lanes";
        lanes_25_28: "instructions", "issued with 25 to 28 active lanes";
        lanes_29_32: "instructions", "issued with 29 to 32 active lanes";
        mix_int: "instructions", "warp instructions of the integer pipe";
        mix_fp: "instructions", "warp instructions of the floating-point pipe";
        mix_sfu: "instructions", "warp instructions of the special-function pipe";
        mix_memory: "instructions", "warp instructions of the memory pipe";
        mix_control: "instructions", "warp instructions of the control pipe";
        branches: "instructions", "conditional and unconditional branches issued";
        divergent_branches: "instructions", "branches whose lanes went both ways";
        barriers: "arrivals", "warps arriving at barriers";
        phases: "phases", "phases of blocks: from one barrier to the next, or to the block's end";
        phase_imbalance: "millionths", "sum over phases of the share of their warps' time that went unused (RTRU)";
        blocks: "blocks", "thread blocks completed";
        next_blocks: "blocks", "logical blocks that virtual blocks went on to, beyond those they began with";
        next_tb_wait: "warp-cycles", "warps waited in vtw.next_tb, for their next block or for siblings";
        uneven_instructions_50: "blocks", "blocks whose warps differ by more than 50% of the least in instructions";
        uneven_instructions_25: "blocks", "the same by more than 25%";
        uneven_instructions_10: "blocks", "the same by more than 10%";
        uneven_instructions_5: "blocks", "the same by more than 5%";
        uneven_cycles_50: "blocks", "blocks whose warps differ by more than 50% of the least in cycles";
        uneven_cycles_25: "blocks", "the same by more than 25%";
        uneven_cycles_10: "blocks", "the same by more than 10%";
        uneven_cycles_5: "blocks", "the same by more than 5%";
        uneven_blocks: "blocks", "blocks that dwr and dws are averaged over: those that ended while others waited for a place";
        dwr_sum: "millionths", "sum over those of the share of their time in which a warp had finished and another not";
        dws_sum: "millionths", "sum over those of the share of their stalls in that time";
        warp_cycles: "warp-cycles", "cycles that warps were resident";
        active_cycles: "cycles", "SM-cycles with at least one resident warp";
        scheduler_cycles: "scheduler-cycles", "schedulers times cycles";
        gang_issues: "instructions", "issued by gangs of two or more warps, each counted once";
        gang_splits: "splits", "gangs that fell apart because their warps went different ways";
        gang_memory_splits: "splits", "gangs that fell apart because memory answered some of their warps first";
        gang_merges: "merges", "gangs or warps that joined others of their original gang";
        gang_warps_8: "warp-cycles", "running warps in gangs of 8";
        gang_warps_5_7: "warp-cycles", "running warps in gangs of 5 to 7";
        gang_warps_4: "warp-cycles", "running warps in gangs of 4";
        gang_warps_2_3: "warp-cycles", "running warps in gangs of 2 or 3";
        gang_warps_1: "warp-cycles", "running warps in no gang, where there are gangs";
        fetches: "fetches", "instruction fetches that hit; one for a gang is one";
        l1i_accesses: "accesses", "instruction-cache lookups";
        l1i_misses: "accesses", "instruction-cache lookups that missed or merged";
        l1d_reads: "accesses", "L1 data-cache load lookups";
        l1d_hits: "accesses", "L1 data-cache load hits";
        l1d_misses: "accesses", "L1 data-cache load misses that went to L2";
        l1d_merges: "accesses", "L1 data-cache loads merged with an outstanding miss";
        l1d_writes: "accesses", "stores looked up in L1";
        l1d_write_hits: "accesses", "stores that hit (and evict or dirty the line)";
        l1d_prefetch_lookups: "accesses", "L1D lookups of lines that no warp waits for: by prefetch instructions and by the prefetcher";
        l1d_prefetches: "lines", "lines that were prefetched: lookups that asked memory for one";
        l1d_prefetches_dropped: "lines", "lines that were not: no MSHR, way or room in the miss queue or the prefetch queue";
        l1d_prefetches_useful: "lines", "prefetched lines that were used, by a load or a store that left its data there; counted with the first use";
        l1d_prefetches_late: "lines", "of those: still on their way then";
        l1d_prefetches_unused: "lines", "prefetched lines that left before they were used";
        l1d_stalls: "cycles", "cycles the L1 queue stood still: no MSHR, merge, way or queue room";
        constant_accesses: "accesses", "constant-cache lookups (constants and parameters)";
        constant_misses: "accesses", "constant-cache lookups that missed or merged";
        texture_accesses: "accesses", "texture-cache lookups";
        texture_misses: "accesses", "texture-cache lookups that missed or merged";
        global_loads: "instructions", "global and generic loads";
        global_load_transactions: "transactions", "accesses they were coalesced into";
        global_stores: "instructions", "global and generic stores";
        global_store_transactions: "transactions", "accesses they were coalesced into";
        local_requests: "instructions", "local loads and stores";
        local_transactions: "transactions", "accesses they were coalesced into";
        prefetch_instructions: "instructions", "prefetches by instructions";
        prefetch_transactions: "transactions", "lines that they ask for";
        atomics: "instructions", "global atomics and reductions";
        atomic_transactions: "transactions", "accesses they were split into";
        shared_requests: "instructions", "shared-memory loads, stores and atomics";
        shared_bank_cycles: "cycles", "cycles they kept the banks busy; above one each is conflicts";
        memory_stalls: "cycles", "cycles the load/store unit could not finish its instruction";
        memory_stalls_banks: "cycles", "of those: bank conflicts of shared memory, or different constants";
        memory_stalls_accesses: "cycles", "of those: its lanes' addresses take further accesses, one per cycle";
        memory_stalls_cache: "cycles", "of those: the L1, constant or texture cache took none (queue, MSHR, merge or way)";
        memory_stalls_network: "cycles", "of those: no room at the network for an access past the L1";
        issue_held: "scheduler-cycles", "the last instruction still goes through the lanes, a part of its warp per cycle";
        issue_stalled: "scheduler-cycles", "warps are ready, but collectors, units or queues take none";
        w0_memory: "scheduler-cycles", "no warp is ready, and some wait for memory";
        w0_idle: "scheduler-cycles", "no warp is ready, and none waits for memory";
        read_bytes: "bytes", "data that SMs asked memory for, past their caches";
        written_bytes: "bytes", "data that SMs sent to memory, atomics included";
    }
}

/// Everything an SM counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmStats {
    /// Plain counters.
    pub counters: SmCounters,
    /// Warp-cycles by state; they add up to `counters.warp_cycles`.
    pub warps: WarpStates,
    /// Scheduler-cycles by state; they add up to `counters.scheduler_cycles`.
    pub schedulers: SchedulerStates,
    /// The lanes' integer pipelines, where power is looked at.
    pub int_pipe: PipeCounters,
    /// The floating-point ones.
    pub fp_pipe: PipeCounters,
    /// Work on the lanes, for the energy ledger.
    pub work: WorkCounters,
}

impl SmCounters {
    /// Counts an issued instruction by its active lanes.
    #[inline]
    pub fn count_lanes(&mut self, lanes: u32) {
        let bin = match (lanes.max(1) - 1) / 4 {
            0 => &mut self.lanes_1_4,
            1 => &mut self.lanes_5_8,
            2 => &mut self.lanes_9_12,
            3 => &mut self.lanes_13_16,
            4 => &mut self.lanes_17_20,
            5 => &mut self.lanes_21_24,
            6 => &mut self.lanes_25_28,
            _ => &mut self.lanes_29_32,
        };
        *bin += 1;
    }
}
