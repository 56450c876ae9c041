use super::*;
use warpsim_present::Source;
use warpsim_sim::config::{Machine, ReadMachine};

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
-gpgpu_perf_sim_memcpy 1 -gpgpu_flush_l1_cache 0 -dram_bnkgrp_indexing_policy 1
-gpgpu_n_cluster_ejection_buffer_size 8
";

#[test]
fn options_become_settings() {
    let imported = import(&Source::new("c", CONFIG)).expect("a configuration");
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
        ("dram.group_bits", "\"low\""),
        ("gpu.copies_warm_l2", "true"),
        ("gpu.flush_l1_when_idle", "false"),
        ("interconnect.reply_queue", "8"),
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
    let import = |text: &str| import(&Source::new("g.config", text)).map(|_| ());
    let error = import("-gpgpu_perf_sim_memcpy 2\n").expect_err("no flag");
    assert_eq!(
        error.message,
        "`-gpgpu_perf_sim_memcpy 2`: 0 or 1 is expected"
    );
    let error = import("# old\n-gpgpu_n_mem six\n").expect_err("no number");
    assert_eq!(
        error.message,
        "`-gpgpu_n_mem six`: `six` is no whole number"
    );
    assert!(error.to_string().contains("g.config:2:1"), "{error}");
    assert!(import("nothing here").is_err());
}

#[test]
fn older_files_are_read() {
    let old = "-gpgpu_n_shader 30 -gpgpu_n_mem 8 -gpgpu_clock_domains 325.0:650.0:650.0:800.0\n\
        -gpgpu_shader_core_pipeline 1024:32:32\n\
        -gpgpu_tex_cache:l1 64:64:2:L -gpgpu_const_cache:l1 64:32:4:L:R:f,A:2:16,4\n\
        -gpgpu_cache:dl1 32:128:4,L:L:m:N,A:48:8,8\n-gpgpu_cache:il1 4:256:4\n\
        -gpgpu_dram_timing_opt 8:2:8:12:25:10:35:10:7:6\n\
        -gpgpu_n_mem_per_ctrlr 2\n-gpgpu_dram_buswidth 4\n-gpgpu_dram_burst_length 8\n\
        -dram_data_command_freq_ratio 4\n-dram_latency 90\n-icnt_flit_size 32\n\
        -ptx_opcode_latency_sfu 21\n-ptx_opcode_initiation_sfu 8\n";
    let imported = import(&Source::new("old", old)).expect("a configuration");
    assert_eq!(imported.unknown, []);
    for (key, value) in [
        ("gpu.sms", "30"),
        ("dram.channels", "8"),
        ("gpu.dram_mhz", "800"),
        ("sm.max_threads", "1024"),
        ("texture.ways", "2"),
        ("constant.ways", "4"),
        ("constant.mshrs", "2"),
        ("constant.merges", "16"),
        ("l1d.sets", "32"),
        ("l1d.mshrs", "48"),
        ("l1d.miss_queue", "8"),
        ("l1i.line", "128"),
        ("l1i.sets", "8"),
        ("dram.banks", "8"),
        ("dram.timing.cdlr", "6"),
        ("dram.burst_bytes", "64"),
        ("dram.burst_clocks", "2"),
        ("dram.latency", "90"),
        ("interconnect.flit", "32"),
        ("latency.sfu", "[21, 8]"),
    ] {
        let found = imported.settings.iter().find(|(k, ..)| k == key);
        assert_eq!(found.map(|(_, v, _)| v.as_str()), Some(value), "{key}");
    }
}

/// What the files of three releases say of their machines: of each preset that claims to be one, the options that have a
/// counterpart here.
const RELEASES: &[(&str, &str)] = &[
    (
        "gtx480-v3",
        "-gpgpu_n_clusters 15
-gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 6
-gpgpu_n_sub_partition_per_mchannel 2
-gpgpu_clock_domains 700.0:700.0:700.0:924.0
-gpgpu_shader_registers 32768
-gpgpu_shader_core_pipeline 1536:32
-gpgpu_shader_cta 8
-gpgpu_num_sp_units 2
-gpgpu_num_sfu_units 1
-ptx_opcode_latency_int 4,13,4,5,145
-ptx_opcode_initiation_int 1,2,2,1,8
-ptx_opcode_latency_fp 4,13,4,5,39
-ptx_opcode_initiation_fp 1,2,1,1,4
-ptx_opcode_latency_dp 8,19,8,8,330
-ptx_opcode_initiation_dp 8,16,8,8,130
-gpgpu_cache:dl1  32:128:4,L:L:m:N,A:32:8,8
-gpgpu_shmem_size 49152
-gpgpu_cache:dl2 64:128:8,L:B:m:W,A:32:4,4:0,32
-gpgpu_cache:il1 4:128:4,L:R:f:N,A:2:32,4
-gpgpu_tex_cache:l1 4:128:24,L:R:m:N,F:128:4,128:2
-gpgpu_const_cache:l1 64:64:2,L:R:f:N,A:2:32,4
-gpgpu_operand_collector_num_units_sp 6
-gpgpu_operand_collector_num_units_sfu 8
-gpgpu_num_reg_banks 16
-gpgpu_shmem_num_banks 32
-rop_latency 120
-dram_latency 100
-gpgpu_frfcfs_dram_sched_queue_size 16
-gpgpu_dram_timing_opt nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40:CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2
-gpgpu_num_sched_per_core 2
-gpgpu_scheduler gto",
    ),
    (
        "gtx480-v302",
        "-gpgpu_n_clusters 15
-gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 6
-gpgpu_clock_domains 700.0:1400.0:700.0:1848.0
-gpgpu_shader_registers 32768
-gpgpu_shader_core_pipeline 1536:32
-gpgpu_shader_cta 8
-gpgpu_cache:dl1  32:128:4:L:R:f,A:32:8,8
-gpgpu_shmem_size 49152
-gpgpu_cache:dl2 64:256:8:L:R:m,A:32:4,4
-gpgpu_cache:il1 4:128:4:L:R:f,A:2:32,4
-gpgpu_tex_cache:l1 4:128:24:L:R:m,F:128:4,128:2
-gpgpu_const_cache:l1 64:64:2:L:R:f,A:2:32,4
-gpgpu_num_reg_banks 16
-rop_latency 120
-dram_latency 100
-gpgpu_dram_sched_queue_size 16
-gpgpu_dram_timing_opt 16:2:5:12:28:12:35:10:7:6:12
-gpgpu_num_sched_per_core 2
-gpgpu_operand_collector_num_units_sp 6
-gpgpu_operand_collector_num_units_sfu 8",
    ),
    (
        "fx5800-211b",
        "-gpgpu_n_shader 30 -gpgpu_n_mem 8
-gpgpu_shader_registers 16384
-gpgpu_shader_core_pipeline 1024:32:32
-gpgpu_shader_cta 8
-gpgpu_const_cache:l1 64:64:2:L
-gpu_concentration 3
-gpgpu_dram_sched_queue_size 32
-gpgpu_dram_timing_opt 8:2:8:12:25:10:35:10:7:6",
    ),
];

/// Where a preset is not what its release's file says, with why.
const DIFFERENT: &[(&str, &str)] = &[
    // Its addresses have three bits for banks.
    ("gtx480-v302", "dram.banks"),
];

#[test]
fn presets_are_what_their_releases_files_say() {
    for (preset, text) in RELEASES {
        let machine = Machine::preset(preset).expect("a preset");
        let table = toml::Table::try_from(&machine).expect("a table");
        let imported = import(&Source::new(preset, text)).expect("a configuration");
        assert_eq!(imported.unknown, [], "{preset}");
        for (key, value, option) in imported.settings {
            let mut at = toml::Value::Table(table.clone());
            for part in key.split('.') {
                at = at.get(part).unwrap_or_else(|| panic!("no {key}")).clone();
            }
            let is = at.to_string() == value;
            let may_differ = DIFFERENT.contains(&(preset, key.as_str()));
            assert_ne!(
                is, may_differ,
                "{preset}: {key} is {at}, -{option} says {value}"
            );
        }
    }
}

#[test]
fn caches_of_three_generations_are_read_alike() {
    let shape = |value| cache(value, true, 128).expect("a cache").0;
    let latest = shape("N:32:128:4,L:L:m:N:H,S:64:8,8");
    let before = shape("32:128:4,L:L:m:N,A:64:8,8");
    let first = shape("32:128:4:L:R:f,A:64:8,8");
    assert_eq!(before, first);
    let same = |(a, b): (&(&str, String), &(&str, String))| a == b || a.0 == "hashed_index";
    assert!(latest.iter().zip(&before).all(same));
    assert!(latest.contains(&("hashed_index", "true".into())));
    assert_eq!(
        cache::sectors("S:64:128:8,L:B:m:L:L,A:256:4,4:0,32"),
        Ok((32, true))
    );
    assert_eq!(cache::sectors("64:256:8:L:R:m,A:32:4,4"), Ok((256, false)));
    assert!(cache("32:128", true, 128).is_err());
}
