//! The options of a gpgpusim.config that have a counterpart here.

/// What an import found.
#[derive(Debug, Default)]
pub struct Imported {
    /// Our key, the value as TOML, and the option it comes from.
    pub settings: Vec<(String, String, String)>,
    /// What has to be said about it.
    pub notes: Vec<String>,
    /// Options without a counterpart, and their values.
    pub unknown: Vec<(String, String)>,
}

/// Options that are one whole number here as there.
const NUMBERS: &[(&str, &str)] = &[
    ("gpgpu_n_mem", "dram.channels"),
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
];

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
pub fn import(text: &str) -> Result<Imported, String> {
    let options = options(text);
    if options.is_empty() {
        return Err("there is no option in it: lines begin with `-gpgpu_...`".into());
    }
    let mut out = Imported::default();
    for (option, value) in &options {
        let used = one(option, value, &options, &mut out)
            .map_err(|why| format!("`-{option} {value}`: {why}"))?;
        if !used {
            out.unknown.push((option.clone(), value.clone()));
        }
    }
    Ok(out)
}

/// Options and their values, in order, the last of several with one name. Comments begin with `#`.
fn options(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let Some(rest) = line.strip_prefix('-') else {
            // A value may go on in the next line.
            if let Some((_, value)) = found.last_mut().filter(|_| !line.is_empty()) {
                value.push_str(line.trim_matches('"'));
            }
            continue;
        };
        let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let value = value.trim().trim_matches('"').trim().to_string();
        found.retain(|(known, _)| known != name);
        found.push((name.to_string(), value));
    }
    found
}

fn whole(text: &str) -> Result<u64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is no whole number"))
}

/// Takes one option; `false` when it has no counterpart.
fn one(
    option: &str,
    value: &str,
    all: &[(String, String)],
    out: &mut Imported,
) -> Result<bool, String> {
    let mut set = |key: &str, value: String| {
        out.settings
            .push((key.to_string(), value, option.to_string()));
    };
    if let Some((_, key)) = NUMBERS.iter().find(|(name, _)| *name == option) {
        set(key, whole(value)?.to_string());
        return Ok(true);
    }
    if let Some((_, section, indexed)) = CACHES.iter().find(|(name, ..)| *name == option) {
        for (key, value) in cache(value, *indexed)? {
            set(&format!("{section}.{key}"), value);
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
            return Ok(LATENCIES.iter().any(|(s, _)| *s == stem));
        }
        "gpgpu_n_clusters" => {
            let per = all.iter().find(|(n, _)| n == "gpgpu_n_cores_per_cluster");
            let per = per.map_or(Ok(1), |(_, v)| whole(v))?;
            set("gpu.sms", (whole(value)? * per).to_string());
        }
        "gpgpu_n_cores_per_cluster" => {}
        "gpgpu_shader_core_pipeline" => {
            let (threads, width) = value.split_once(':').ok_or("THREADS:WARP is expected")?;
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
                let mhz: f64 = clock
                    .trim()
                    .parse()
                    .map_err(|_| format!("`{clock}` is no clock"))?;
                set(key, format!("{}", mhz.round() as u64));
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
        "gpgpu_dram_timing_opt" => return timing(value, option, out),
        _ => return Ok(false),
    }
    Ok(true)
}

fn latencies(
    stem: &str,
    value: &str,
    all: &[(String, String)],
    option: &str,
    out: &mut Imported,
) -> Result<bool, String> {
    let Some((_, keys)) = LATENCIES.iter().find(|(s, _)| *s == stem) else {
        return Ok(false);
    };
    let numbers = |text: &str| text.split(',').map(whole).collect::<Result<Vec<u64>, _>>();
    let latency = numbers(value)?;
    let intervals = all
        .iter()
        .find(|(n, _)| *n == format!("ptx_opcode_initiation_{stem}"));
    let intervals = intervals.map(|(_, v)| numbers(v)).transpose()?;
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

/// `N:SETS:LINE:WAYS,REPLACEMENT:WRITE:ALLOCATE:…:INDEX,MSHR:ENTRIES:MERGES,QUEUE…`
fn cache(value: &str, indexed: bool) -> Result<Vec<(&'static str, String)>, String> {
    let parts: Vec<&str> = value.split(',').collect();
    let shape: Vec<&str> = parts[0].split(':').collect();
    let [_, sets, line, ways] = shape[..] else {
        return Err("a cache begins with N:SETS:LINE:WAYS".into());
    };
    let mut found = vec![
        ("sets", whole(sets)?.to_string()),
        ("line", whole(line)?.to_string()),
        ("ways", whole(ways)?.to_string()),
    ];
    if let Some(index) = parts
        .get(1)
        .and_then(|p| p.split(':').nth(4))
        .filter(|_| indexed)
    {
        found.push(("hashed_index", (index == "H").to_string()));
    }
    if let Some(mshr) = parts.get(2) {
        let mshr: Vec<&str> = mshr.split(':').collect();
        if let [_, entries, merges, ..] = mshr[..] {
            found.push(("mshrs", whole(entries)?.to_string()));
            found.push(("merges", whole(merges)?.to_string()));
        }
    }
    if let Some(queue) = parts
        .get(3)
        .and_then(|p| p.split(':').next())
        .filter(|q| !q.is_empty())
    {
        found.push(("miss_queue", whole(queue)?.to_string()));
    }
    Ok(found)
}

/// `nbk=16:CCD=2:RRD=6:…`, or the same as a bare list in old files.
fn timing(value: &str, option: &str, out: &mut Imported) -> Result<bool, String> {
    const NAMED: &[(&str, &str)] = &[
        ("nbk", "dram.banks"),
        ("nbkgrp", "dram.bank_groups"),
        ("CCD", "dram.timing.ccd"),
        ("CCDL", "dram.timing.ccdl"),
        ("RRD", "dram.timing.rrd"),
        ("RCD", "dram.timing.rcd"),
        ("RAS", "dram.timing.ras"),
        ("RP", "dram.timing.rp"),
        ("RC", "dram.timing.rc"),
        ("CL", "dram.timing.cl"),
        ("WL", "dram.timing.wl"),
        ("CDLR", "dram.timing.cdlr"),
        ("WR", "dram.timing.wr"),
        ("RTPL", "dram.timing.rtpl"),
    ];
    if !value.contains('=') {
        return Ok(false);
    }
    for part in value.split(':').map(str::trim).filter(|p| !p.is_empty()) {
        let (name, number) = part
            .split_once('=')
            .ok_or(format!("`{part}` is no NAME=NUMBER"))?;
        match NAMED.iter().find(|(known, _)| *known == name.trim()) {
            Some((_, key)) => {
                let number = whole(number)?.to_string();
                out.settings
                    .push((key.to_string(), number, option.to_string()));
            }
            None => out
                .notes
                .push(format!("DRAM timing {part} has no counterpart")),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "# a comment
-gpgpu_n_clusters 8
-gpgpu_n_cores_per_cluster 2  # two each
-gpgpu_shader_core_pipeline 1024:32
-gpgpu_clock_domains 1000.0:1000.0:1000.0:1500.0
-gpgpu_cache:dl1  N:16:128:8,L:L:m:N:L,A:40:6,9
-gpgpu_scheduler two_level_active:6:0:1
-ptx_opcode_latency_fp 4,13,4,5,39
-ptx_opcode_initiation_fp 1,2,1,1,4
-gpgpu_dram_timing_opt \"nbk=8:CCD=2:RRD=5:RCD=11:
                        RAS=27:XYZ=3\"
-gpgpu_ptx_sim_mode 0
";

    #[test]
    fn options_become_settings() {
        let imported = import(CONFIG).expect("a configuration");
        let get = |key: &str| {
            let found = imported.settings.iter().find(|(k, ..)| k == key);
            found.map(|(_, value, _)| value.as_str())
        };
        for (key, value) in [
            ("gpu.sms", "16"),
            ("sm.max_threads", "1024"),
            ("gpu.dram_mhz", "1500"),
            ("l1d.sets", "16"),
            ("l1d.hashed_index", "false"),
            ("l1d.mshrs", "40"),
            ("l1d.miss_queue", "9"),
            ("scheduler.name", "\"tls\""),
            ("scheduler.active", "6"),
            ("latency.fp32_div", "[39, 4]"),
            ("dram.banks", "8"),
            ("dram.timing.ras", "27"),
        ] {
            assert_eq!(get(key), Some(value), "{key}");
        }
        assert_eq!(
            imported.unknown,
            [("gpgpu_ptx_sim_mode".to_string(), "0".to_string())]
        );
        assert_eq!(imported.notes, ["DRAM timing XYZ=3 has no counterpart"]);
    }

    #[test]
    fn mistakes_name_the_option() {
        let error = import("-gpgpu_n_mem six\n").expect_err("no number");
        assert_eq!(error, "`-gpgpu_n_mem six`: `six` is no whole number");
        assert!(import("nothing here").is_err());
    }
}
