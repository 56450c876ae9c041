//! The energy ledger: counted events times the energies of the machine file. Whole picojoules.

use super::decl::{StatInfo, counters};
use super::memory::MemoryCounters;
use super::sm::SmStats;
use crate::lanes::{Side, lane_pipelines, lanes_per_pipeline};
use warpsim_machine::{Machine, Work};

counters! {
    /// Where the energy went.
    pub struct EnergyCounters {
        int_pipes: "pJ", "work of the integer pipelines";
        fp_pipes: "pJ", "work of the floating-point pipelines";
        other_units: "pJ", "work of special functions, division, double precision and addresses";
        int_leakage: "pJ", "leakage of integer pipelines that are on";
        fp_leakage: "pJ", "leakage of floating-point pipelines that are on";
        gating: "pJ", "switching lanes off and on, and the counters that decide it";
        folding: "pJ", "shifting values between lanes";
        registers: "pJ", "register file";
        front_end: "pJ", "fetch, decode and issue";
        sm_memory: "pJ", "shared memory and the SM's data, constant and texture caches";
        network: "pJ", "flits between SMs and partitions";
        l2: "pJ", "L2";
        dram: "pJ", "DRAM";
        background: "pJ", "what SMs and the rest of the chip take whatever runs";
    }
}

impl EnergyCounters {
    /// The energy of so many cycles in which this was counted.
    pub fn of(
        machine: &Machine,
        cycles: u64,
        sm: &SmStats,
        memory: &MemoryCounters,
    ) -> EnergyCounters {
        let e = &machine.energy;
        let mhz = u128::from(machine.gpu.core_mhz.max(1));
        let events = |count: u64, femtojoules: u32| {
            (u128::from(count) * u128::from(femtojoules) / 1000) as u64
        };
        // Microwatts over a cycle of so many megahertz are picojoules.
        let leaks = |cycles: u64, microwatts: u32| {
            (u128::from(cycles) * u128::from(microwatts) / mhz) as u64
        };
        let work = |side: Option<Side>| {
            let those = Work::ALL.iter().filter(|w| Side::of(**w, machine) == side);
            let each = those.map(|w| events(sm.work.lanes(*w), e.work.of(*w)));
            each.sum::<u64>()
        };
        // Where lanes were not watched, every lane was on.
        let lanes = Side::ALL
            .map(|side| lane_pipelines(machine, side) * cycles * u64::from(machine.gpu.sms));
        let pipes = [&sm.int_pipe, &sm.fp_pipe];
        let on =
            |side: usize| lanes[side].saturating_sub(pipes[side].gated + pipes[side].gated_early);
        let counted = pipes.map(|p| p.gatings != 0);
        let counters = |side: usize| match counted[side] {
            true => leaks(lanes[side], e.idle_counter) / 1000,
            false => 0,
        };
        let leakage = [e.int_leakage, e.fp_leakage];
        let background = u128::from(machine.gpu.sms) * u128::from(e.background_sm)
            + u128::from(e.background_chip);
        let c = &sm.counters;
        let units = machine.unit.values();
        let per_shift = units.filter_map(|u| lanes_per_pipeline(u, machine)).max();
        let shifts = (pipes[0].shifts + pipes[1].shifts) * u64::from(per_shift.unwrap_or(0));
        EnergyCounters {
            int_pipes: work(Some(Side::Int)),
            fp_pipes: work(Some(Side::Fp)),
            other_units: work(None),
            int_leakage: leaks(on(0), leakage[0]),
            fp_leakage: leaks(on(1), leakage[1]),
            gating: (0..2)
                .map(|s| leaks(pipes[s].overhead, leakage[s]) + counters(s))
                .sum(),
            folding: leaks(shifts, e.shift),
            registers: events(sm.work.operands, e.operand),
            front_end: events(c.fetches, e.fetch) + events(c.warp_instructions, e.issue),
            sm_memory: events(
                c.shared_bank_cycles * u64::from(machine.shared.banks),
                e.shared_bank,
            ) + events(
                c.l1d_reads + c.l1d_writes + c.l1d_prefetch_lookups + c.texture_accesses,
                e.l1,
            ) + events(c.constant_accesses, e.constant),
            network: events(
                (memory.request_flits + memory.reply_flits) * u64::from(machine.interconnect.flit),
                e.flit_byte,
            ),
            l2: events(memory.l2_accesses, e.l2),
            dram: events(memory.dram_activates, e.dram_activate)
                + events(
                    memory.dram_read_bytes + memory.dram_write_bytes,
                    e.dram_byte,
                ),
            background: (u128::from(cycles) * background * 1000 / mhz) as u64,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        let mut sum = 0;
        super::decl::Visit::visit(self, &mut |_, n| sum += n);
        sum
    }

    /// What the execution units took: work, leakage, gating and folding.
    pub fn execution(&self) -> u64 {
        self.int_pipes
            + self.fp_pipes
            + self.other_units
            + self.int_leakage
            + self.fp_leakage
            + self.gating
            + self.folding
    }
}

/// Work by kind, on all lanes, and the operands that it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkCounters {
    lanes: [u64; Work::ALL.len()],
    /// 32-bit operands read from and written to the register file.
    pub operands: u64,
}

impl Default for WorkCounters {
    fn default() -> WorkCounters {
        WorkCounters {
            lanes: [0; Work::ALL.len()],
            operands: 0,
        }
    }
}

impl WorkCounters {
    /// An instruction with so many operands was executed on so many lanes.
    #[inline(always)]
    pub fn count(&mut self, work: Work, operands: u8, lanes: u64) {
        self.lanes[work as usize] += lanes;
        self.operands += u64::from(operands) * lanes;
    }

    /// The lanes that did work of this kind.
    pub fn lanes(&self, work: Work) -> u64 {
        self.lanes[work as usize]
    }

    /// Adds the counts of another SM or launch.
    pub fn add(&mut self, other: &WorkCounters) {
        for (a, b) in self.lanes.iter_mut().zip(&other.lanes) {
            *a += b;
        }
        self.operands += other.operands;
    }
}

/// What is derived from the ledger.
pub(super) const DERIVED: [StatInfo; 5] = [
    StatInfo {
        name: "total",
        unit: "pJ",
        description: "all of it",
    },
    StatInfo {
        name: "execution",
        unit: "pJ",
        description: "execution units: work, leakage, gating, folding",
    },
    StatInfo {
        name: "average_power",
        unit: "W",
        description: "energy over time",
    },
    StatInfo {
        name: "delay_product",
        unit: "nJ s",
        description: "energy times the time it took",
    },
    StatInfo {
        name: "per_instruction",
        unit: "pJ",
        description: "energy over thread instructions",
    },
];
