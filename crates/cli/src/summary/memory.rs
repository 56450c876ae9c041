//! Caches, coalescing, banks, DRAM and the network.

use super::style::{Style, bytes, count, percent, share};
use std::fmt::{self, Write};
use warpsim_sim::stats::Totals;

/// The part of the page about memory.
pub fn write(out: &mut String, style: Style, totals: &Totals) -> fmt::Result {
    caches(out, style, totals)?;
    requests(out, style, totals)?;
    beyond(out, totals)
}

/// A line of the cache table; caches without an access are left out.
struct Cache {
    name: &'static str,
    accesses: u64,
    hits: u64,
    merges: Option<u64>,
}

fn caches(out: &mut String, style: Style, totals: &Totals) -> fmt::Result {
    let (c, m) = (&totals.sm.counters, &totals.memory);
    // Caches that count a merge as a miss have no column for it.
    let read_only = |name, accesses: u64, misses: u64| Cache {
        name,
        accesses,
        hits: accesses.saturating_sub(misses),
        merges: None,
    };
    let table = [
        Cache {
            name: "L1D loads",
            accesses: c.l1d_reads,
            hits: c.l1d_hits,
            merges: Some(c.l1d_merges),
        },
        Cache {
            name: "L1D stores",
            accesses: c.l1d_writes,
            hits: c.l1d_write_hits,
            merges: None,
        },
        read_only("constant", c.constant_accesses, c.constant_misses),
        read_only("texture", c.texture_accesses, c.texture_misses),
        read_only("instruction", c.l1i_accesses, c.l1i_misses),
        Cache {
            name: "L2",
            accesses: m.l2_accesses,
            hits: m.l2_hits,
            merges: Some(m.l2_merges),
        },
    ];
    let heading = format!(
        "{:<18}{:>14}{:>10}{:>10}",
        "caches", "accesses", "hit", "merged"
    );
    writeln!(out, "\n{}", style.strong(&heading))?;
    for cache in table.iter().filter(|cache| cache.accesses > 0) {
        let merges = cache
            .merges
            .map_or_else(|| "-".to_string(), |merges| share(merges, cache.accesses));
        writeln!(
            out,
            "  {:<16}{:>14}{:>10}{merges:>10}",
            cache.name,
            count(cache.accesses),
            share(cache.hits, cache.accesses),
        )?;
    }
    if c.l1d_prefetches > 0 {
        writeln!(
            out,
            "  {:<16}{:>14}   lines; {} were used, {} of these were late; {} more dropped",
            "prefetched",
            count(c.l1d_prefetches),
            share(c.l1d_prefetches_useful, c.l1d_prefetches),
            share(c.l1d_prefetches_late, c.l1d_prefetches_useful),
            count(c.l1d_prefetches_dropped),
        )?;
    }
    Ok(())
}

fn requests(out: &mut String, style: Style, totals: &Totals) -> fmt::Result {
    let c = &totals.sm.counters;
    let table = [
        ("global loads", c.global_loads, c.global_load_transactions),
        (
            "global stores",
            c.global_stores,
            c.global_store_transactions,
        ),
        ("local", c.local_requests, c.local_transactions),
        ("atomics", c.atomics, c.atomic_transactions),
        (
            "prefetches",
            c.prefetch_instructions,
            c.prefetch_transactions,
        ),
    ];
    writeln!(out, "\n{}", style.strong("memory"))?;
    let each = |n: u64, of: u64| n as f64 / of.max(1) as f64;
    for (name, instructions, transactions) in table.into_iter().filter(|(_, n, _)| *n > 0) {
        writeln!(
            out,
            "  {name:<16}{:>14}   {:.2} transactions each",
            count(instructions),
            each(transactions, instructions)
        )?;
    }
    if c.shared_requests > 0 {
        writeln!(
            out,
            "  {:<16}{:>14}   {:.2} bank cycles each (1 is no conflict)",
            "shared",
            count(c.shared_requests),
            each(c.shared_bank_cycles, c.shared_requests)
        )?;
    }
    Ok(())
}

fn beyond(out: &mut String, totals: &Totals) -> fmt::Result {
    let m = &totals.memory;
    let derived = |name: &str| totals.derived(name).unwrap_or(0.0);
    writeln!(
        out,
        "  {:<16}{:>14}   packets to memory in {} flits; {} back in {}",
        "network",
        count(m.request_packets),
        count(m.request_flits),
        count(m.reply_packets),
        count(m.reply_flits)
    )?;
    writeln!(
        out,
        "  {:<16}{:>14}   read, {} written; {} row hits, {} of the bus used",
        "DRAM",
        bytes(m.dram_read_bytes),
        bytes(m.dram_write_bytes),
        percent(derived("dram_row_hit_rate")),
        percent(derived("dram_utilisation"))
    )
}
