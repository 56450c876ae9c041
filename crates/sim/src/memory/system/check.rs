//! Which machines this model can build.

use super::MemorySystem;
use crate::config::Machine;
use crate::memory::clock::Clock;
use crate::memory::inflight::MAX_PIECES;
use crate::memory::packet::LARGEST_REQUEST;
use crate::time::Tick;

impl MemorySystem {
    /// Says what in the machine's description this model cannot build.
    pub fn check(machine: &Machine) -> Result<(), String> {
        let (l2, dram, net) = (&machine.l2, &machine.dram, &machine.interconnect);
        let rule = |good: bool, what: &str| if good { Ok(()) } else { Err(what.to_string()) };
        let sizes = [l2.line, l2.sector];
        rule(
            sizes.iter().all(|s| s.is_power_of_two()),
            "l2.line and l2.sector must be powers of two",
        )?;
        rule(
            l2.sector >= LARGEST_REQUEST / MAX_PIECES && l2.sector <= l2.line && l2.line <= 128,
            "l2.sector must be between 16 and l2.line, and l2.line at most 128",
        )?;
        rule(
            dram.interleave >= LARGEST_REQUEST && dram.interleave.is_multiple_of(LARGEST_REQUEST),
            "dram.interleave must be a multiple of 128",
        )?;
        let nonzero = [
            (machine.gpu.sms, "gpu.sms"),
            (machine.gpu.core_mhz, "gpu.core_mhz"),
            (machine.gpu.interconnect_mhz, "gpu.interconnect_mhz"),
            (machine.gpu.l2_mhz, "gpu.l2_mhz"),
            (machine.gpu.dram_mhz, "gpu.dram_mhz"),
            (l2.slices_per_channel, "l2.slices_per_channel"),
            (l2.sets, "l2.sets"),
            (l2.ways, "l2.ways"),
            (l2.mshrs, "l2.mshrs"),
            (l2.merges, "l2.merges"),
            (l2.miss_queue, "l2.miss_queue"),
            (dram.channels, "dram.channels"),
            (dram.queue, "dram.queue"),
            (net.flit, "interconnect.flit"),
            (net.reply_queue, "interconnect.reply_queue"),
        ];
        for (value, name) in nonzero {
            rule(value > 0, &format!("{name} must be above zero"))?;
        }
        rule(
            l2.queue >= LARGEST_REQUEST / l2.sector,
            "l2.queue must hold the sectors of a 128-byte request",
        )?;
        rule(
            (1..=64).contains(&dram.banks) && dram.banks.is_multiple_of(l2.slices_per_channel),
            "dram.banks must be at most 64 and a multiple of l2.slices_per_channel",
        )?;
        let network = Clock::new(machine.gpu.interconnect_mhz, machine.gpu.core_mhz);
        let latency = network.cycle_of(Tick::new(u64::from(net.latency)));
        rule(
            u64::from(machine.gpu.quantum) <= latency.get(),
            "gpu.quantum must not be longer than the interconnect's latency",
        )?;
        let largest = (net.header + LARGEST_REQUEST).div_ceil(net.flit);
        rule(
            net.injection_queue >= largest,
            "interconnect.injection_queue must hold a write of 128 bytes",
        )
    }
}
