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
