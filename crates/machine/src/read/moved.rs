//! Settings that have another name now.

/// What to write instead of a key of earlier versions.
pub(super) fn to(key: &str) -> Option<&'static str> {
    Some(match key {
        "sm.scheduler" => {
            "write `[scheduler]` with `name = \"gto\"`, or `--set scheduler=gto`, or `--scheduler gto`"
        }
        "sm.divergence" => {
            "write `[divergence]` with `name = \"pdom\"`, or `--set divergence=pdom`, or \
             `--divergence pdom`"
        }
        "sm.tls_active" => {
            "it is a parameter of the scheduler tls: write `[scheduler]` with `name = \"tls\"` and \
             `active = 6`, or `--set scheduler.tls.active=6`"
        }
        "sm.block_ties" => {
            "it is a parameter of mwf-lrr, mwf-gto and saws: write `[scheduler]` with \
             `name = \"mwf-gto\"` and `ties = \"age\"`, or `--set scheduler.mwf-gto.ties=age`"
        }
        "sm.mwf_counts_exited" => {
            "it is a parameter of mwf-lrr and mwf-gto: write `[scheduler]` with \
             `name = \"mwf-gto\"` and `counts_exited = false`, or \
             `--set scheduler.mwf-gto.counts_exited=false`"
        }
        "sm.tbc_compaction" => {
            "it is a parameter of tbc and tbc-lcp: write `[divergence]` with `name = \"tbc\"` and \
             `compaction = true`, or `--set divergence.tbc.compaction=true`"
        }
        "fetch.cff_waiters" => {
            "it is a parameter of the fetch policy cff: write `[fetch.policy]` with \
             `name = \"cff\"` and `waiters = \"never\"`, or `--set fetch.policy.cff.waiters=never`"
        }
        "sm.sp_units" => "write `[unit.sp]` with `count = 2`, or `--set unit.sp.count=2`",
        "sm.sfu_units" => "write `[unit.sfu]` with `count = 1`, or `--set unit.sfu.count=1`",
        "sm.simd_width" => {
            "lanes belong to units: write `[unit.sp]` with `lanes = 8`, and likewise `[unit.sfu]` \
             and `[unit.mem]`"
        }
        "sm.unified_pipeline" => {
            "one pipeline is one unit that takes everything: write `[unit.sp]` with `takes = [...]` \
             and all classes, and `takes = []` in `[unit.sfu]` and `[unit.mem]`, as \
             configs/fx5800.toml does"
        }
        "sm.fp64_on_sfu" | "latency.rem_on_sfu" | "latency.fp64_fma_on_sfu" => {
            "a unit says which classes of operations it takes: write `[unit.sfu]` with \
             `takes = [\"sfu\", \"int_div\", ...]`, and `[unit.sp]` likewise"
        }
        "collector.sp_units" => "write `[unit.sp]` with `collectors = 6`",
        "collector.sfu_units" => "write `[unit.sfu]` with `collectors = 8`",
        "collector.mem_units" => "write `[unit.mem]` with `collectors = 2`",
        "collector.sp_ports" => "write `[unit.sp]` with `ports = 2`",
        "collector.sfu_ports" => "write `[unit.sfu]` with `ports = 1`",
        "collector.mem_ports" => "write `[unit.mem]` with `ports = 1`",
        "gpu.spread_blocks" => {
            "leave it out: blocks are dealt out evenly, so that it changed nothing"
        }
        "l1i.latency" | "constant.latency" | "texture.latency" => {
            "leave it out: nothing ever read it; `l1d.latency` there is"
        }
        "l1i.global_write"
        | "l1i.local_write"
        | "constant.global_write"
        | "constant.local_write"
        | "texture.global_write"
        | "texture.local_write" => "leave it out: this cache is only read",
        _ => return None,
    })
}
