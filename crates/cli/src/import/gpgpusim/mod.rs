//! The options of a gpgpusim.config that have a counterpart here, of GPGPU-Sim 2 to 4 and Accel-Sim.

mod cache;
mod timing;

use cache::cache;
use std::ops::Range;
use timing::timing;
use warpsim_present::{Source, SourceError};

/// What an import found.
#[derive(Debug, Default)]
pub struct Imported {
    /// Our key, the value as TOML, and the option it comes from.
    pub settings: Vec<(String, String, String)>,
    /// What has to be said about it.
    pub notes: Vec<String>,
    /// Options without a counterpart, and their values.
    pub unknown: Vec<(String, String)>,
    /// Where each option stands.
    pub places: Vec<(String, Range<usize>)>,
}

/// An option of the file.
struct Given {
    name: String,
    value: String,
    place: Range<usize>,
}

/// All options, the last of several with one name.
struct Options(Vec<Given>);

impl Options {
    fn value(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|o| o.name == name);
        found.map(|o| o.value.as_str())
    }

    /// A whole number, or what it is where the file does not say.
    fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        self.value(name).map_or(Ok(default), whole)
    }
}

/// Options that are one whole number here as there.
const NUMBERS: &[(&str, &str)] = &[
    ("gpgpu_n_mem", "dram.channels"),
    ("gpgpu_n_shader", "gpu.sms"),
    ("dram_latency", "dram.latency"),
    ("icnt_flit_size", "interconnect.flit"),
    ("gpgpu_dram_sched_queue_size", "dram.queue"),
    ("gpu_concentration", "interconnect.sms_per_port"),
    ("gpgpu_n_cores_per_cluster", "interconnect.sms_per_port"),
    ("gpgpu_l2_rop_latency", "l2.latency"),
    ("rop_latency", "l2.latency"),
    (
        "gpgpu_n_sub_partition_per_mchannel",
        "l2.slices_per_channel",
    ),
    ("gpgpu_shader_registers", "sm.registers"),
    ("gpgpu_shader_cta", "sm.max_blocks"),
    ("gpgpu_num_sched_per_core", "sm.schedulers"),
    ("gpgpu_shmem_size", "shared.bytes"),
    ("gpgpu_shmem_num_banks", "shared.banks"),
    ("gpgpu_num_reg_banks", "collector.banks"),
    ("gpgpu_frfcfs_dram_sched_queue_size", "dram.queue"),
    ("gpgpu_l1_latency", "l1d.latency"),
    ("gpgpu_smem_latency", "shared.latency"),
    ("gpgpu_operand_collector_num_units_sp", "unit.sp.collectors"),
    (
        "gpgpu_operand_collector_num_units_sfu",
        "unit.sfu.collectors",
    ),
    (
        "gpgpu_operand_collector_num_units_mem",
        "unit.mem.collectors",
    ),
    ("gpgpu_num_sp_units", "unit.sp.count"),
    ("gpgpu_num_sfu_units", "unit.sfu.count"),
    (
        "gpgpu_n_cluster_ejection_buffer_size",
        "interconnect.reply_queue",
    ),
];

/// Options that are 0 or 1, and what these are here.
const FLAGS: &[(&str, &str, [&str; 2])] = &[
    (
        "gpgpu_perf_sim_memcpy",
        "gpu.copies_warm_l2",
        ["false", "true"],
    ),
    (
        "gpgpu_flush_l1_cache",
        "gpu.flush_l1_when_idle",
        ["false", "true"],
    ),
    (
        "gpgpu_flush_l2_cache",
        "gpu.flush_l2_between_kernels",
        ["false", "true"],
    ),
    (GROUP_BITS, "dram.group_bits", ["\"high\"", "\"low\""]),
];

/// Which bits of a bank's number name its group.
const GROUP_BITS: &str = "dram_bnkgrp_indexing_policy";

/// Caches: our section, and which of our keys it has.
const CACHES: &[(&str, &str, bool)] = &[
    ("gpgpu_cache:dl1", "l1d", true),
    ("gpgpu_cache:il1", "l1i", true),
    ("gpgpu_const_cache:l1", "constant", true),
    ("gpgpu_tex_cache:l1", "texture", true),
    ("gpgpu_cache:dl2", "l2", false),
];

/// Latencies and initiation intervals: option stem, and our keys in the order of its list.
const LATENCIES: &[(&str, [&str; 5])] = &[
    (
        "int",
        ["int_add", "int_minmax", "int_mul", "int_mad", "int_div"],
    ),
    (
        "fp",
        [
            "fp32_add",
            "fp32_minmax",
            "fp32_mul",
            "fp32_mad",
            "fp32_div",
        ],
    ),
    (
        "dp",
        [
            "fp64_add",
            "fp64_minmax",
            "fp64_mul",
            "fp64_mad",
            "fp64_div",
        ],
    ),
];

/// Reads a configuration.
pub fn import(source: &Source) -> Result<Imported, SourceError> {
    let options = options(&source.text);
    if options.0.is_empty() {
        let message = "there is no option in it: lines begin with `-gpgpu_...`";
        return Err(source.error_without_place(message));
    }
    let mut out = Imported::default();
    for option in &options.0 {
        let (name, value) = (&option.name, &option.value);
        let used = one(name, value, &options, &mut out).map_err(|why| {
            source.error(option.place.clone(), format!("`-{name} {value}`: {why}"))
        })?;
        if !used {
            out.unknown.push((name.clone(), value.clone()));
        }
        out.places.push((name.clone(), option.place.clone()));
    }
    Ok(out)
}

/// Options and their values, in order, the last of several with one name. Comments begin with `#`.
fn options(text: &str) -> Options {
    let mut found: Vec<Given> = Vec::new();
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.split('#').next().unwrap_or_default();
        let begins = beginnings(line);
        // A value may go on in the next line.
        let before = &line[..begins.first().copied().unwrap_or(line.len())];
        if let Some(last) = found.last_mut().filter(|_| !before.trim().is_empty()) {
            last.value.push_str(before.trim().trim_matches('"'));
        }
        let ends = begins.iter().skip(1).copied().chain([line.len()]);
        for (from, to) in begins.iter().copied().zip(ends) {
            let part = line[from + 1..to].trim_end();
            let (name, value) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            found.retain(|known| known.name != name);
            found.push(Given {
                name: name.to_string(),
                value: value.trim().trim_matches('"').trim().to_string(),
                place: start + from..start + from + 1 + part.len(),
            });
        }
        start += whole.len();
    }
    Options(found)
}

/// Where options begin in a line: at a `-` before a letter, at the line's begin or after a space.
fn beginnings(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let begins = |at: &usize| {
        let letter = bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
        bytes[*at] == b'-' && letter && (*at == 0 || bytes[at - 1].is_ascii_whitespace())
    };
    (0..bytes.len()).filter(begins).collect()
}

/// A product that a machine file can hold.
fn product(numbers: &[u64]) -> Result<u64, String> {
    let product = numbers.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
    product.ok_or(format!("the product of {numbers:?} is too large"))
}

/// A whole number.
fn whole(text: &str) -> Result<u64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is no whole number"))
}

/// Takes one option; `false` when it has no counterpart.
fn one(option: &str, value: &str, all: &Options, out: &mut Imported) -> Result<bool, String> {
    let mut set = |key: &str, value: String| {
        out.settings
            .push((key.to_string(), value, option.to_string()));
    };
    if let Some((_, key)) = NUMBERS.iter().find(|(name, _)| *name == option) {
        set(key, whole(value)?.to_string());
        return Ok(true);
    }
    if let Some((_, key, words)) = FLAGS.iter().find(|(name, ..)| *name == option) {
        let at = whole(value)? as usize;
        let word = words.get(at).ok_or("0 or 1 is expected")?;
        set(key, word.to_string());
        return Ok(true);
    }
    if let Some((_, section, indexed)) = CACHES.iter().find(|(name, ..)| *name == option) {
        let longest = cache::longest_line(section);
        let (settings, long) = cache(value, *indexed, longest)?;
        for (key, value) in settings {
            set(&format!("{section}.{key}"), value);
        }
        if *section == "l2" {
            let (sector, sectored) = cache::sectors(value)?;
            set("l2.sector", sector.to_string());
            set("interconnect.sectored_replies", sectored.to_string());
        }
        if long {
            out.notes.push(format!(
                "-{option} {value}: lines of {longest} bytes are the longest here; there are more of them"
            ));
        }
        return Ok(true);
    }
    if let Some(stem) = option.strip_prefix("ptx_opcode_latency_") {
        return latencies(stem, value, all, option, out);
    }
    match option {
        // Taken together with its latencies.
        _ if option.starts_with("ptx_opcode_initiation_") => {
            let stem = option.trim_start_matches("ptx_opcode_initiation_");
            return Ok(stem == "sfu" || LATENCIES.iter().any(|(s, _)| *s == stem));
        }
        "gpgpu_n_clusters" => {
            let per = all.number("gpgpu_n_cores_per_cluster", 1)?;
            set("gpu.sms", product(&[whole(value)?, per])?.to_string());
        }
        "gpgpu_shader_core_pipeline" => {
            // Old files have the lanes behind the warp's width.
            let mut parts = value.split(':');
            let (threads, width) = parts
                .next()
                .zip(parts.next())
                .ok_or("THREADS:WARP is expected")?;
            set("sm.max_threads", whole(threads)?.to_string());
            if whole(width)? != 32 {
                set("sm.warp_width", whole(width)?.to_string());
            }
        }
        "gpgpu_clock_domains" => {
            let clocks: Vec<&str> = value.split(':').collect();
            let [core, network, l2, dram] = clocks[..] else {
                return Err("four clocks are expected: CORE:INTERCONNECT:L2:DRAM".into());
            };
            for (key, clock) in [
                ("gpu.core_mhz", core),
                ("gpu.interconnect_mhz", network),
                ("gpu.l2_mhz", l2),
                ("gpu.dram_mhz", dram),
            ] {
                let clock: f64 = clock
                    .trim()
                    .parse()
                    .map_err(|_| format!("`{clock}` is no clock"))?;
                set(key, format!("{}", clock.round() as u64));
            }
        }
        "gpgpu_scheduler" => match value {
            "gto" | "lrr" => set("scheduler.name", format!("\"{value}\"")),
            _ if value.starts_with("two_level_active:") => {
                set("scheduler.name", "\"tls\"".into());
                let active = value.split(':').nth(1).unwrap_or_default();
                set("scheduler.active", whole(active)?.to_string());
            }
            _ => return Ok(false),
        },
        "gpgpu_dram_buswidth" => {
            // Bytes of a chip, of which several make a channel; a burst has so many of them.
            let chips = all.number("gpgpu_n_mem_per_ctrlr", 1)?;
            let burst = all.number("gpgpu_dram_burst_length", 4)?;
            let rate = all.number("dram_data_command_freq_ratio", 2)?.max(1);
            let bytes = product(&[whole(value)?, chips, burst])?;
            set("dram.burst_bytes", bytes.to_string());
            set("dram.burst_clocks", burst.div_ceil(rate).to_string());
        }
        // Taken together with the width of the bus.
        "gpgpu_n_mem_per_ctrlr" | "gpgpu_dram_burst_length" | "dram_data_command_freq_ratio" => {
            return Ok(all.value("gpgpu_dram_buswidth").is_some());
        }
        "gpgpu_dram_timing_opt" => {
            if value.contains("nbkgrp") && all.value(GROUP_BITS).is_none() {
                set("dram.group_bits", "\"high\"".into());
            }
            return timing(value, option, out);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn latencies(
    stem: &str,
    value: &str,
    all: &Options,
    option: &str,
    out: &mut Imported,
) -> Result<bool, String> {
    if stem == "sfu" {
        let interval = all.number("ptx_opcode_initiation_sfu", 1)?;
        let value = format!("[{}, {interval}]", whole(value)?);
        out.settings
            .push(("latency.sfu".to_string(), value, option.to_string()));
        return Ok(true);
    }
    let Some((_, keys)) = LATENCIES.iter().find(|(s, _)| *s == stem) else {
        return Ok(false);
    };
    let numbers = |text: &str| text.split(',').map(whole).collect::<Result<Vec<u64>, _>>();
    let latency = numbers(value)?;
    let intervals = all.value(&format!("ptx_opcode_initiation_{stem}"));
    let intervals = intervals.map(numbers).transpose()?;
    for (index, key) in keys.iter().enumerate() {
        let Some(latency) = latency.get(index) else {
            return Err("ADD,MAX,MUL,MAD,DIV is expected".into());
        };
        let interval = intervals
            .as_ref()
            .and_then(|i| i.get(index))
            .copied()
            .unwrap_or(1);
        let value = format!("[{latency}, {interval}]");
        out.settings
            .push((format!("latency.{key}"), value, option.to_string()));
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
