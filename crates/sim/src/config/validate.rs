//! Which values make no sense. Each check names the key it is about, so that the message can
//! point at the line that set it.

use super::model::*;

/// A value that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted key.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

type Check = Result<(), Problem>;

fn problem(key: &str, message: impl Into<String>) -> Check {
    Err(Problem {
        key: key.to_string(),
        message: format!("`{key}` {}", message.into()),
    })
}

fn between(key: &str, value: u32, low: u32, high: u32) -> Check {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        problem(
            key,
            format!("is {value}: it must lie between {low} and {high}"),
        )
    }
}

fn power_of_two(key: &str, value: u32, low: u32, high: u32) -> Check {
    between(key, value, low, high)?;
    if value.is_power_of_two() {
        Ok(())
    } else {
        problem(key, format!("is {value}: it must be a power of two"))
    }
}

fn multiple(key: &str, value: u32, of: u32) -> Check {
    if value.is_multiple_of(of) {
        Ok(())
    } else {
        problem(key, format!("is {value}: it must be a multiple of {of}"))
    }
}

/// Checks every field.
pub fn validate(machine: &Machine) -> Result<(), Problem> {
    if machine.schema != 1 {
        return problem("schema", "must be 1");
    }
    if machine.name.trim().is_empty() {
        return problem("name", "is empty");
    }
    gpu(machine)?;
    sm(&machine.sm)?;
    fetch(&machine.fetch)?;
    collector(&machine.collector)?;
    latency(&machine.latency)?;
    shared(&machine.shared)?;
    cache("l1d", &machine.l1d, machine.l2.line)?;
    for (name, c) in [
        ("l1i", &machine.l1i),
        ("constant", &machine.constant),
        ("texture", &machine.texture),
    ] {
        cache(name, c, machine.l2.line)?;
        for (field, policy) in [
            ("global_write", c.global_write),
            ("local_write", c.local_write),
        ] {
            if policy != WritePolicy::ReadOnly {
                return problem(&format!("{name}.{field}"), "must be \"read-only\"");
            }
        }
    }
    for (field, policy) in [
        ("global_write", machine.l1d.global_write),
        ("local_write", machine.l1d.local_write),
    ] {
        if policy == WritePolicy::ReadOnly {
            return problem(
                &format!("l1d.{field}"),
                "cannot be \"read-only\": stores pass through the L1 data cache",
            );
        }
    }
    interconnect(&machine.interconnect)?;
    l2(&machine.l2)?;
    dram(machine)
}

fn gpu(machine: &Machine) -> Check {
    let g = &machine.gpu;
    between("gpu.sms", g.sms, 1, 1024)?;
    between("gpu.core_mhz", g.core_mhz, 1, 100_000)?;
    between("gpu.interconnect_mhz", g.interconnect_mhz, 1, 100_000)?;
    between("gpu.l2_mhz", g.l2_mhz, 1, 100_000)?;
    between("gpu.dram_mhz", g.dram_mhz, 1, 100_000)?;
    between(
        "interconnect.latency",
        machine.interconnect.latency,
        1,
        10_000,
    )?;
    between("gpu.quantum", g.quantum, 1, 10_000)?;
    // In core cycles: SMs must not run on past a reply that is already under way.
    let steps = u64::from(machine.interconnect.latency);
    let shortest = steps * u64::from(g.core_mhz) / u64::from(g.interconnect_mhz);
    if u64::from(g.quantum) > shortest {
        return problem(
            "gpu.quantum",
            format!(
                "is {}: it must not exceed the interconnect's latency, here {shortest} core cycles",
                g.quantum
            ),
        );
    }
    Ok(())
}

fn sm(s: &Sm) -> Check {
    between("sm.max_blocks", s.max_blocks, 1, 64)?;
    between("sm.max_threads", s.max_threads, 32, 2048)?;
    multiple("sm.max_threads", s.max_threads, 32)?;
    between("sm.registers", s.registers, 32, 1 << 20)?;
    between("sm.register_granularity", s.register_granularity, 1, 64)?;
    between("sm.registers_per_thread", s.registers_per_thread, 16, 1024)?;
    power_of_two("sm.warp_width", s.warp_width, 4, 32)?;
    power_of_two("sm.simd_width", s.simd_width, 1, 32)?;
    between("sm.schedulers", s.schedulers, 1, 16)?;
    // Warps are kept in bit sets of 64, one for each scheduler of each slice.
    let warps = (s.max_threads / 32).div_ceil(s.schedulers);
    if warps > 64 {
        return problem(
            "sm.schedulers",
            format!(
                "is {}: with {} threads that is {warps} warps a scheduler, and 64 is the most",
                s.schedulers, s.max_threads
            ),
        );
    }
    // And these sets are in turn a bit each of a set.
    let sets = s.schedulers * (32 / s.warp_width);
    if sets > 64 {
        return problem(
            "sm.schedulers",
            format!(
                "is {}: with warps of {} threads that is {sets} groups of warps, and 64 is the most",
                s.schedulers, s.warp_width
            ),
        );
    }
    for (key, name) in [
        ("sm.scheduler", &s.scheduler),
        ("sm.divergence", &s.divergence),
    ] {
        if name.is_empty() {
            return problem(key, "is empty");
        }
    }
    between("sm.tls_active", s.tls_active, 1, 64)?;
    between("sm.sp_units", s.sp_units, 1, 16)?;
    between("sm.sfu_units", s.sfu_units, 1, 16)?;
    between("sm.result_buses", s.result_buses, 1, 64)
}

fn fetch(f: &Fetch) -> Check {
    if f.policy.is_empty() {
        return problem("fetch.policy", "is empty");
    }
    between("fetch.ports", f.ports, 1, 16)?;
    between("fetch.buffer", f.buffer, 1, 8)?;
    between("fetch.width", f.width, 1, 8)?;
    if f.width > f.buffer {
        return problem(
            "fetch.width",
            format!(
                "is {}: a fetch must fit in the buffer of {}",
                f.width, f.buffer
            ),
        );
    }
    if f.policy == "fef" && f.eligible == Eligible::Empty {
        return problem(
            "fetch.eligible",
            "is \"empty\": `fef` chooses by how full buffers are and needs \"room\" \
             (--set fetch.eligible=room)",
        );
    }
    Ok(())
}

fn collector(c: &Collector) -> Check {
    between("collector.sp_units", c.sp_units, 1, 64)?;
    between("collector.sfu_units", c.sfu_units, 1, 64)?;
    between("collector.mem_units", c.mem_units, 1, 64)?;
    between("collector.sp_ports", c.sp_ports, 1, 16)?;
    between("collector.sfu_ports", c.sfu_ports, 1, 16)?;
    between("collector.mem_ports", c.mem_ports, 1, 16)?;
    power_of_two("collector.banks", c.banks, 1, 64)
}

fn latency(l: &Latency) -> Check {
    let classes = [
        ("int_add", l.int_add),
        ("int_minmax", l.int_minmax),
        ("int_mul", l.int_mul),
        ("int_mad", l.int_mad),
        ("int_div", l.int_div),
        ("int_rem", l.int_rem),
        ("fp32_add", l.fp32_add),
        ("fp32_minmax", l.fp32_minmax),
        ("fp32_mul", l.fp32_mul),
        ("fp32_mad", l.fp32_mad),
        ("fp32_fma", l.fp32_fma),
        ("fp32_div", l.fp32_div),
        ("fp64_add", l.fp64_add),
        ("fp64_minmax", l.fp64_minmax),
        ("fp64_mul", l.fp64_mul),
        ("fp64_mad", l.fp64_mad),
        ("fp64_fma", l.fp64_fma),
        ("fp64_div", l.fp64_div),
        ("sfu", l.sfu),
        ("other", l.other),
    ];
    for (class, [latency, initiation]) in classes {
        let key = format!("latency.{class}");
        between(&key, latency, 1, 1000)?;
        if initiation == 0 || initiation > latency {
            return problem(
                &key,
                format!(
                    "is [{latency}, {initiation}]: the initiation interval must lie between 1 and the latency"
                ),
            );
        }
    }
    Ok(())
}

fn shared(s: &Shared) -> Check {
    between("shared.bytes", s.bytes, 0, 1 << 20)?;
    multiple("shared.bytes", s.bytes, 4)?;
    power_of_two("shared.banks", s.banks, 1, 64)?;
    between("shared.latency", s.latency, 1, 1000)
}

fn cache(name: &str, c: &Cache, l2_line: u32) -> Check {
    let key = |field: &str| format!("{name}.{field}");
    power_of_two(&key("line"), c.line, 32, 128)?;
    if c.sets != 0 {
        power_of_two(&key("sets"), c.sets, 1, 1 << 16)?;
    }
    if c.line > l2_line {
        return problem(
            &key("line"),
            format!("is {}: an L2 line is only {l2_line} bytes", c.line),
        );
    }
    between(&key("ways"), c.ways, 1, 1024)?;
    between(&key("mshrs"), c.mshrs, 1, 1 << 16)?;
    between(&key("merges"), c.merges, 1, 1 << 16)?;
    between(&key("miss_queue"), c.miss_queue, 1, 1 << 16)?;
    between(&key("latency"), c.latency, 0, 1000)
}

fn interconnect(i: &Interconnect) -> Check {
    between("interconnect.flit", i.flit, 1, 1024)?;
    between("interconnect.header", i.header, 0, 1024)?;
    between(
        "interconnect.injection_queue",
        i.injection_queue,
        1,
        1 << 16,
    )?;
    let largest = (i.header + 128).div_ceil(i.flit);
    if i.injection_queue < largest {
        return problem(
            "interconnect.injection_queue",
            format!(
                "is {}: the largest packet has {largest} flits and would never fit",
                i.injection_queue
            ),
        );
    }
    between("interconnect.reply_queue", i.reply_queue, 1, 1 << 16)
}

fn l2(l: &L2) -> Check {
    power_of_two("l2.slices_per_channel", l.slices_per_channel, 1, 16)?;
    power_of_two("l2.sets", l.sets, 1, 1 << 16)?;
    power_of_two("l2.line", l.line, 32, 128)?;
    power_of_two("l2.sector", l.sector, 32, 128)?;
    if l.sector > l.line {
        return problem(
            "l2.sector",
            format!("is {}: a line is only {} bytes", l.sector, l.line),
        );
    }
    between("l2.ways", l.ways, 1, 1024)?;
    between("l2.mshrs", l.mshrs, 1, 1 << 16)?;
    between("l2.merges", l.merges, 1, 1 << 16)?;
    between("l2.miss_queue", l.miss_queue, 1, 1 << 16)?;
    between("l2.queue", l.queue, 1, 1 << 16)?;
    between("l2.latency", l.latency, 0, 10_000)
}

fn dram(machine: &Machine) -> Check {
    let d = &machine.dram;
    between("dram.channels", d.channels, 1, 64)?;
    between("dram.latency", d.latency, 0, 10_000)?;
    between("dram.queue", d.queue, 1, 1 << 16)?;
    power_of_two("dram.banks", d.banks, 1, 256)?;
    power_of_two("dram.bank_groups", d.bank_groups, 1, 256)?;
    if d.bank_groups > d.banks {
        return problem(
            "dram.bank_groups",
            format!("is {}: there are only {} banks", d.bank_groups, d.banks),
        );
    }
    power_of_two("dram.burst_bytes", d.burst_bytes, 8, 1024)?;
    between("dram.burst_clocks", d.burst_clocks, 1, 1000)?;
    power_of_two("dram.row_bytes", d.row_bytes, d.burst_bytes, 1 << 20)?;
    power_of_two("dram.interleave", d.interleave, machine.l2.line, 1 << 20)?;
    if d.model == DramModel::Simple {
        let key = "dram.simple_bytes_per_cycle";
        between(key, d.simple_bytes_per_cycle, 1, 1 << 16)?;
    }
    let t = &d.timing;
    for (name, clocks) in [
        ("ccd", t.ccd),
        ("ccdl", t.ccdl),
        ("rrd", t.rrd),
        ("rcd", t.rcd),
        ("ras", t.ras),
        ("rp", t.rp),
        ("rc", t.rc),
        ("cl", t.cl),
        ("wl", t.wl),
        ("cdlr", t.cdlr),
        ("wr", t.wr),
        ("rtpl", t.rtpl),
    ] {
        between(&format!("dram.timing.{name}"), clocks, 0, 1000)?;
    }
    if t.rc < t.ras {
        return problem(
            "dram.timing.rc",
            format!("is {}: shorter than ras, {}", t.rc, t.ras),
        );
    }
    Ok(())
}
